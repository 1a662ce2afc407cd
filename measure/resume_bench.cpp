// Time and memory of resuming a run with many candidates, from opening the store to the first new
// call. A double answers the calls and judges the kernels. Usage: resume_bench [CANDIDATES]
#include "base/files.h"
#include "harness/run/run_loop.h"
#include "harness/run/testing/loop_fake.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace winnow;
using Clock = std::chrono::steady_clock;

/// Every fifth kernel is wrong; the others become slowly faster.
agents::ModelReply answer(const agents::ModelRequest& request) {
  static int number = 0;
  ++number;
  agents::ModelReply reply = harness::test::ok_reply(harness::test::reply_text(
      number % 5 == 0 ? "wrong" : "correct", 1 + 0.001 * number, 1 + 0.001 * number));
  reply.text = request.key + "\n" + reply.text;
  return reply;
}

agents::ModelReply put_off(const agents::ModelRequest& /*request*/) {
  agents::ModelReply reply;
  reply.status = agents::ModelReply::Status::Deferred;
  return reply;
}

/// One session of the run. Returns the seconds from opening the store to the first call.
double session(const std::string& path, std::int64_t proposals,
               harness::test::ScriptedModel::Answer answer) {
  harness::RunConfig config;
  config.strategy = "archive";
  config.proposals = proposals;
  const auto start = Clock::now();
  auto first_call = Clock::time_point::max();
  harness::test::ScriptedModel model(std::move(answer));
  model.on_ask = [&](const std::string& /*key*/) {
    first_call = std::min(first_call, Clock::now());
  };
  store::RunStore store(path, store::RunStore::Mode::ReadWrite);
  if (!store.find_run("run")) {
    store.create_run("run", nlohmann::json::object(), nlohmann::json::object());
  }
  const store::RunRow run = *store.find_run("run");
  harness::Journal journal(store, run.id);
  std::ostringstream said;
  harness::Progress progress(said, false, 80);
  harness::RunLoop loop({.config = config,
                         .tasks = {harness::test::small_task("a")},
                         .facts = {},
                         .device_kind = "cpu",
                         .device_name = "double",
                         .journal = journal,
                         .models = {{"", config.endpoint, model, {}}},
                         .prompts =
                             [](const auto& /*context*/) {
                               return std::vector<agents::Message>{{"user", "go on"}};
                             },
                         .evaluations = harness::test::on_lane(
                             [] { return std::make_unique<harness::test::FakeLane>(); }),
                         .progress = progress,
                         .is_finished = false,
                         .elapsed_before = {}});
  const harness::RunOutcome outcome = loop.run();
  fmt::print(stderr, "{} calls; {}\n", outcome.spend.calls, outcome.message);
  return std::chrono::duration<double>(first_call - start).count();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

} // namespace

int main(int count, char** arguments) {
  const std::int64_t candidates = count > 1 ? std::atoll(arguments[1]) : 10'000;
  const TemporaryDirectory directory("resume-bench");
  const std::string store = directory.path() / "store.db";
  if (const pid_t child = fork(); child == 0) { // so that its memory does not count
    session(store, candidates, answer);
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  const double seconds = session(store, candidates + 1, put_off);
  fmt::print("a run of {} candidates, {:.0f} MB on the disk: {:.2f} s to the first new call, peak "
             "memory {:.0f} MB\n",
             candidates, static_cast<double>(std::filesystem::file_size(store)) / 1e6, seconds,
             peak_megabytes());
}
