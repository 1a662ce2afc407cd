#pragma once

#include "base/error.h"
#include "base/files.h"
#include "harness/serve/judge_routes.h"
#include "harness/serve/testing/evaluations_fake.h"
#include "harness/serve/testing/exchange_fake.h"
#include "store/testing/new_store.h"
#include "tasks/catalogue.h"
#include "tasks/task/task.h"

#include <deque>
#include <functional>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness::test {

/// A service whose evaluations the test answers. `restart()` stands for a new process.
struct JudgeFixture : ::testing::Test {
  TemporaryDirectory directory{"serve-test"};
  std::unique_ptr<store::RunStore> store;
  std::unique_ptr<JudgeService> service;
  std::unique_ptr<JudgeRoutes> routes;
  HeldEvaluations* evaluations = nullptr;
  static constexpr const char* kReader = "reader"; ///< sees all
  std::uint64_t owner_bytes = std::uint64_t{1} << 30U;
  std::size_t queue = 100, in_flight = 100, owners = 1;
  Rewards rewards;
  bool seed_from_batch = false, has_board = false;
  JudgeRoutes::Setup routes_setup;
  int renderings = 0; ///< of results of correct kernels
  /// After take_turns_later(): the pieces of work that wait for a turn of their owner.
  std::deque<std::pair<std::string, std::function<void()>>> turns;
  std::shared_ptr<const tasks::Task> task =
      std::make_shared<const tasks::Task>(tasks::find_task(tasks::find_catalogue(), "axpy"));

  void SetUp() override { restart(); }
  void restart() {
    routes.reset();
    service.reset();
    store.reset();
    store::testing::put_new_store(directory.path() / "s.db");
    store = std::make_unique<store::RunStore>(directory.path() / "s.db",
                                              store::RunStore::Mode::ReadWrite);
    const auto known = store->find_run("serve");
    JudgeServiceSetup setup{
        *store, known ? known->id
                      : store->create_run("serve", {{"kind", "server"}}, nlohmann::json::object())};
    setup.find_task = [this](const std::string& name) {
      if (name != "axpy") {
        throw UsageError("there is no task '" + name + "'");
      }
      return task;
    };
    setup.evaluations = [this](evaluators::TakeResult done) {
      auto held = std::make_unique<HeldEvaluations>(std::move(done));
      evaluations = held.get();
      return held;
    };
    setup.device_kind = "cpu";
    setup.device_name = "fake device";
    setup.queue = queue;
    setup.in_flight = in_flight;
    setup.owners = owners;
    setup.has_board = has_board;
    setup.owner_bytes = owner_bytes;
    setup.rewards = rewards;
    setup.seed_from_batch = seed_from_batch;
    setup.light = [this](const tasks::Task&, const tasks::Evaluation& evaluation) {
      ++renderings;
      return LightShares{evaluation.speedup / 10, {{"n=1", 0.5}}};
    };
    setup.post = [](const std::function<void()>& work) { work(); };
    service = std::make_unique<JudgeService>(std::move(setup));
    routes = std::make_unique<JudgeRoutes>(*service, routes_setup);
    service->start();
  }

  /// Each turn is so short that it has room for one item or waiter.
  void take_turns_later() {
    routes_setup.turn = std::chrono::milliseconds(0);
    routes_setup.in_turn = [this](const std::string& owner, std::function<void()> work, Turn) {
      turns.emplace_back(owner, std::move(work));
    };
    restart();
  }
  void take_turn() {
    const auto work = std::move(turns.at(0).second);
    turns.pop_front();
    work();
  }
  std::shared_ptr<ExchangeFake> send(const std::string& method, const std::string& target,
                                     const nlohmann::json& body = nullptr,
                                     const std::string& owner = "ann") const {
    auto exchange = std::make_shared<ExchangeFake>(method, target, body.dump());
    try {
      routes->answer(exchange, parse_target(target).value(), {owner, owner == kReader});
    } catch (const UsageError&) { // as ServerApplication does
      exchange->reply({422, "{}"});
    }
    return exchange;
  }
  static nlohmann::json body_of(const std::shared_ptr<ExchangeFake>& exchange) {
    return exchange->answer() ? nlohmann::json::parse(exchange->answer()->body)
                              : nlohmann::json("no answer yet");
  }
  static int status_of(const std::shared_ptr<ExchangeFake>& exchange) {
    return exchange->answer() ? exchange->answer()->status : 0;
  }
  static nlohmann::json item(const std::string& id, const std::string& kernel) {
    return {{"id", id}, {"task", "axpy"}, {"kernel", kernel}};
  }
  nlohmann::json judge(const std::vector<nlohmann::json>& items,
                       const std::string& owner = "ann") const {
    return body_of(send("POST", "/v1/judge", {{"items", items}}, owner));
  }
};

} // namespace winnow::harness::test
