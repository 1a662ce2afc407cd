// The judge server as `winnow serve --judge` has it, but with a fake device that answers as the
// kernel's text says (evaluations_fake.h). Tests kill it; benchmarks measure it.
#include "base/error.h"
#include "harness/serve/board_pages.h"
#include "harness/serve/http/http_server.h"
#include "harness/serve/judge_routes.h"
#include "harness/serve/served_tasks.h"
#include "harness/serve/server_application.h"
#include "harness/serve/testing/evaluations_fake.h"
#include "tasks/catalogue.h"

#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

using namespace winnow;
using namespace winnow::harness;

namespace {

struct Options {
  std::string store, bind = "127.0.0.1:0";
  test::DelayedEvaluations::Setup device;
  int delay_ms = 0, begin_after_ms = 0;
  std::size_t queue = 4096;
};

void serve(const Options& options) {
  store::RunStore store(options.store, store::RunStore::Mode::ReadWrite);
  const auto known = store.find_run("serve");
  HttpServer* server = nullptr;
  const auto post = [&](std::function<void()> work) { server->post(std::move(work)); };
  ServedTasks tasks(tasks::find_catalogue(), {});
  JudgeServiceSetup setup{
      store, known ? known->id
                   : store.create_run("serve", {{"kind", "server"}}, nlohmann::json::object())};
  setup.find_task = [&](const std::string& name) { return tasks.find(name); };
  setup.evaluations = [&](evaluators::TakeResult done) {
    auto device = options.device;
    device.delay = std::chrono::milliseconds(options.delay_ms);
    device.begin_after = std::chrono::milliseconds(options.begin_after_ms);
    return std::make_unique<test::DelayedEvaluations>(device, std::move(done));
  };
  setup.device_kind = "cpu";
  setup.device_name = "fake device";
  setup.queue = options.queue;
  setup.in_flight = std::size_t{8} * options.device.lanes;
  setup.post = post;
  JudgeService service(std::move(setup));
  JudgeRoutes::Setup routes_setup{"fake", [] { return nlohmann::json(); },
                                  [](const std::string&) { return nlohmann::json(); }};
  routes_setup.in_turn = [&](const std::string& owner, std::function<void()> work, Turn turn) {
    server->post(owner, std::move(work), turn);
  };
  JudgeRoutes routes(service, std::move(routes_setup));
  BoardPages board(options.store, {}, post);
  const Access access;
  ServerApplication application(access, true, board, &routes);
  HttpServer http({parse_bind_address(options.bind)}, application);
  server = &http;
  service.start();
  std::cout << "serves at http://127.0.0.1:" << http.port() << "/" << std::endl;
  http.run();
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("winnow serve --judge with a fake device");
  app.add_option("STORE", options.store)->required();
  app.add_option("--bind", options.bind);
  app.add_option("--lanes", options.device.lanes);
  app.add_option("--delay-ms", options.delay_ms);
  app.add_option("--begin-after-ms", options.begin_after_ms);
  app.add_option("--fault-every", options.device.fault_every);
  app.add_option("--queue", options.queue);
  CLI11_PARSE(app, argc, argv);
  try {
    serve(options);
  } catch (const Error& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
