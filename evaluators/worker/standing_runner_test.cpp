// Tests the standing runner on the CPU device. Its processes are as real as on a GPU.
#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cpu/runtime/testing/test_modules.h"
#include "evaluators/host/context_probe.h"
#include "evaluators/host/device_host.h"
#include "evaluators/worker/runner.h"

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

constexpr std::uint64_t kArenaBytes = 1U << 20U;
constexpr std::int64_t kLength = 64;

class StandingRunnerTest : public CpuDeviceTest {
protected:
  std::unique_ptr<Runner>
  runner(const std::filesystem::path& modules,
         std::chrono::milliseconds deadline = std::chrono::milliseconds(500)) {
    WorkerDevice device;
    device.deadline = deadline;
    return make_standing_runner(sandbox_, arena_, device, modules);
  }

  static RunRequest request(const std::filesystem::path& module) {
    tasks::Buffer y;
    y.name = "y";
    y.kind = tasks::Buffer::Kind::Output;
    y.count = kLength;
    tasks::ResolvedPlan plan;
    plan.buffers = {y};
    plan.steps = on_y(1, kLength);
    RunCase run_case;
    run_case.plan = plan;
    run_case.outputs = {{"y", 0, kLength * sizeof(float)}};
    RunRequest request;
    request.module = module;
    request.cases = {run_case};
    return request;
  }

  static std::filesystem::path module_of(const std::string& body) {
    return build_module("extern \"C\" __global__ void k(float* y) { " + body + " }", {"k"});
  }

  static StageOutcome run(Runner& runner, const std::filesystem::path& module) {
    return runner.run(request(module), {}, [] { return false; });
  }

  float first_output() {
    float value = 0;
    EXPECT_EQ(pread(arena_.fd(), &value, sizeof value, 0), static_cast<ssize_t>(sizeof value));
    return value;
  }

  process::Sandbox sandbox_ = process::Sandbox::best();
  Arena arena_{kArenaBytes};
};

TEST_F(StandingRunnerTest, OneWorkerServesManyRequests) {
  const auto three = module_of("y[threadIdx.x] = 3;");
  const auto four = module_of("y[threadIdx.x] = 4;");
  const auto standing = runner(three.parent_path());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(run(*standing, three).fault.has_value());
    EXPECT_EQ(first_output(), 3);
    EXPECT_FALSE(run(*standing, four).fault.has_value());
    EXPECT_EQ(first_output(), 4);
  }
  EXPECT_EQ(standing->statistics().restarts, 0);
}

TEST_F(StandingRunnerTest, ABrokenKernelCostsOnlyItsOwnResult) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  const auto wild = module_of("y[64 + threadIdx.x] = 1;");
  const auto endless = module_of("while (true) { *(volatile float*)y = 1; }");
  const auto standing = runner(good.parent_path());
  EXPECT_FALSE(run(*standing, good).fault.has_value());
  const StageOutcome fault = run(*standing, wild);
  ASSERT_TRUE(fault.fault.has_value());
  EXPECT_EQ(fault.fault->verdict, Verdict::OutOfBounds) << fault.fault->detail;
  EXPECT_FALSE(run(*standing, good).fault.has_value());
  const StageOutcome hung = run(*standing, endless);
  ASSERT_TRUE(hung.fault.has_value());
  EXPECT_EQ(hung.fault->verdict, Verdict::Timeout) << hung.fault->detail;
  EXPECT_FALSE(run(*standing, good).fault.has_value());
  EXPECT_EQ(first_output(), 1);
  EXPECT_EQ(standing->statistics().restarts, 2);
}

TEST_F(StandingRunnerTest, TheSpareTakesOverAtOnceAfterAFault) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  const auto wild = module_of("y[64 + threadIdx.x] = 1;");
  const auto standing = runner(good.parent_path());
  RunRequest quiet = request(good);
  quiet.cases[0].sampling.emplace(); // before a timing the spare must be ready
  EXPECT_FALSE(standing->run(quiet, {}, [] { return false; }).fault.has_value());
  EXPECT_EQ(standing->statistics().recoveries, 0);
  EXPECT_TRUE(run(*standing, wild).fault.has_value());
  EXPECT_EQ(standing->statistics().recoveries, 0) << "nobody has asked yet";
  EXPECT_FALSE(run(*standing, good).fault.has_value());
  EXPECT_FALSE(run(*standing, good).fault.has_value());
  const RunnerStatistics statistics = standing->statistics();
  EXPECT_EQ(statistics.restarts, 1);
  EXPECT_EQ(statistics.recoveries, 1);
  EXPECT_EQ(statistics.recovery_time, statistics.longest_recovery);
  EXPECT_GT(statistics.recovery_time.count(), 0);
  // Starting a new worker would take longer than writing to a waiting one.
  EXPECT_LT(statistics.recovery_time, std::chrono::milliseconds(100));
  EXPECT_EQ(standing->quarantine(), "");
}

TEST_F(StandingRunnerTest, ARepetitionOnTheSameInputIsCompared) {
  const auto stable = module_of("y[threadIdx.x] = 1;");
  const auto unwritten = module_of("if (threadIdx.x != 3) y[threadIdx.x] = 1;");
  const auto standing = runner(stable.parent_path());
  const auto differing = [&](const std::filesystem::path& module) {
    RunRequest twice = request(module);
    twice.cases[0].repeat = true;
    const StageOutcome outcome = standing->run(twice, {}, [] { return false; });
    EXPECT_FALSE(outcome.fault.has_value());
    return outcome.report.cases.at(0).differing;
  };
  EXPECT_EQ(differing(stable), "");
  EXPECT_EQ(differing(unwritten), "y");
}

TEST_F(StandingRunnerTest, ReportsACaseWhileTheNextOneRuns) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  const auto standing = runner(good.parent_path());
  RunRequest two = request(good);
  two.cases.push_back(two.cases[0]);
  std::vector<std::size_t> reported;
  const StageOutcome outcome = standing->run(
      two, {}, [] { return false; },
      [&](const RunReport& report) {
        reported.push_back(report.cases.size());
        EXPECT_FALSE(report.complete);
      });
  EXPECT_EQ(reported, (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(outcome.report.complete);
}

TEST_F(StandingRunnerTest, AnErrorBetweenTwoCasesDoesNotReachTheNextRequest) {
  const auto one = module_of("y[threadIdx.x] = 1;");
  const auto two = module_of("y[threadIdx.x] = 2;");
  const auto standing = runner(one.parent_path());
  const StageOutcome failed = standing->run(
      request(one), {}, [] { return false; },
      [](const RunReport& /*report*/) { throw Error("no plan"); });
  ASSERT_TRUE(failed.fault.has_value());
  EXPECT_EQ(failed.fault->verdict, Verdict::Infrastructure);
  EXPECT_THAT(failed.fault->detail, testing::HasSubstr("no plan"));
  EXPECT_FALSE(run(*standing, two).fault.has_value());
  EXPECT_EQ(first_output(), 2);
}

TEST_F(StandingRunnerTest, CancellingEndsTheWorkerAndTheNextTakesOver) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  const auto endless = module_of("while (true) { *(volatile float*)y = 1; }");
  const auto standing = runner(good.parent_path());
  const StageOutcome cancelled = standing->run(request(endless), {}, [] { return true; });
  EXPECT_TRUE(cancelled.cancelled);
  EXPECT_FALSE(run(*standing, good).fault.has_value());
}

TEST_F(StandingRunnerTest, ADeviceThatGivesNoContextIsQuarantinedForTheReasonThatItGave) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  WorkerDevice device;
  device.device = "cuda:4096"; // no machine has this device
  for (const process::Isolation level :
       {process::Isolation::Rlimits, process::Isolation::LandlockSeccomp,
        process::Isolation::Bubblewrap}) {
    if (!process::probe_isolation().at(level).ok) {
      continue;
    }
    const process::Sandbox sandbox(level, executable_path());
    // Repeat: a runner that kills the worker too early fails only sometimes.
    for (int i = 0; i < 5; ++i) {
      const auto standing = make_standing_runner(sandbox, arena_, device, good.parent_path());
      const StageOutcome first = run(*standing, good);
      ASSERT_TRUE(first.fault.has_value());
      EXPECT_EQ(first.fault->verdict, Verdict::Infrastructure);
      EXPECT_THAT(first.fault->detail,
                  testing::StartsWith("cuda:4096 is quarantined: the worker exited with 1: "
                                      "winnow _run: "));
      EXPECT_THAT(run(*standing, good).fault->detail, testing::HasSubstr("quarantined"));
      EXPECT_NE(standing->quarantine(), "");
    }
  }
}

/// The oldest child of this process: the worker. The spare is younger.
pid_t oldest_child() {
  std::map<std::uint64_t, pid_t> by_start;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (!std::isdigit(entry.path().filename().native().front())) {
      continue;
    }
    // /proc/PID/stat: PID (name) state parent, and the start in the 20th field behind the name.
    std::ifstream file(entry.path() / "stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::vector<std::string> values{std::istream_iterator<std::string>(fields), {}};
    if (values.size() > 19 && values[0] != "Z" && values[1] == std::to_string(getpid())) {
      by_start.emplace(std::stoull(values[19]), std::stoi(entry.path().filename()));
    }
  }
  return by_start.empty() ? -1 : by_start.begin()->second;
}

TEST_F(StandingRunnerTest, AKilledWorkerIsNoVerdictAndADeviceWhoseWorkersAreKilledIsQuarantined) {
  const auto good = module_of("y[threadIdx.x] = 1;");
  const auto endless = module_of("while (true) { *(volatile float*)y = 1; }");
  const auto standing = runner(good.parent_path(), std::chrono::seconds(30));
  const auto run_and_kill = [&] {
    bool killed = false;
    return standing->run(request(endless), {}, [&] {
      if (!std::exchange(killed, true)) {
        const pid_t worker = oldest_child();
        EXPECT_TRUE(worker > 0 && kill(worker, SIGKILL) == 0);
      }
      return false;
    });
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(run(*standing, good).fault.has_value()) << "before kill " << i;
    const StageOutcome outcome = run_and_kill();
    ASSERT_TRUE(outcome.fault.has_value());
    EXPECT_EQ(outcome.fault->verdict, Verdict::Infrastructure) << outcome.fault->detail;
    EXPECT_THAT(outcome.fault->detail, testing::HasSubstr("SIGKILL"));
  }
  EXPECT_THAT(standing->quarantine(), testing::HasSubstr("5 times in a minute"));
  EXPECT_THAT(run(*standing, good).fault->detail, testing::HasSubstr("quarantined"));
}

TEST(WorkerDevice, TheChildGetsTheVariablesOfTheDriver) {
  WorkerDevice device;
  device.device = "cuda:1";
  device.variables = {{"CUDA_VISIBLE_DEVICES", ""}, {"WINNOW_CUDA_LIBRARY", "/a=b/libcuda.so"}};
  std::vector<std::string> arguments = arguments_of(device);
  EXPECT_EQ(take_device_arguments(arguments).variables, device.variables);
  const auto readable = sandbox_policy(device, "/modules").readable;
  EXPECT_THAT(readable, testing::ElementsAre("/modules", "/a=b/libcuda.so"));
}

TEST(GpuLock, IsForAllUsersOfAMachine) {
  DeviceReport device;
  device.kind = "cuda";
  device.uuid = "GPU-of-several-users-" + std::to_string(getpid());
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("winnow-" + device.uuid + ".lock");
  { const GpuLock first(device); }
  std::filesystem::permissions(file, static_cast<std::filesystem::perms>(0444));
  const uid_t user = geteuid();
  constexpr uid_t kNobody = 65534;
  if (user == 0 && seteuid(kNobody) != 0) {
    GTEST_SKIP() << "root may write each file, and cannot become another user here";
  }
  EXPECT_NO_THROW({
    const GpuLock second(device);
    EXPECT_THROW(const GpuLock third(device), DeviceUnavailable);
  });
  ASSERT_EQ(seteuid(user), 0);
  std::filesystem::remove(file);
}

TEST(ContextProbe, SaysWhatTheFencedChildFound) {
  DeviceReport device;
  device.kind = "cuda";
  device.id = "cuda:4096";
  device.uuid = "context-probe-test"; // no other process uses the lock of this name
  for (const process::Isolation level :
       {process::Isolation::Rlimits, process::Isolation::LandlockSeccomp,
        process::Isolation::Bubblewrap}) {
    if (process::probe_isolation().at(level).ok) {
      const Availability answer = probe_context(device, level);
      EXPECT_FALSE(answer.ok);
      EXPECT_THAT(answer.why, testing::AnyOf(testing::HasSubstr("CUDA"), testing::HasSubstr("GPU")))
          << "the child's own words";
      EXPECT_NE(answer.remedy, "") << answer.why;
    }
  }
  const GpuLock lock(device);
  EXPECT_THAT(probe_context(device, process::Isolation::Rlimits).why,
              testing::HasSubstr("another Winnow"));
}

} // namespace
} // namespace winnow::evaluators
