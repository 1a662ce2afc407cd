// A key is nowhere but in the process that sends it: not in what is printed, stored or exported,
// not in what other processes of the system can see, not in a core dump.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using tests::FakeEndpoint;
using tests::FakeReply;
using tests::SeenRequest;

const std::string kSecret = "sk-e2e-nowhere-0123456789abcdef";

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary); // files of /proc have no size
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Files under `folder` that hold the key.
std::vector<fs::path> files_with_key(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && bytes_of(entry.path()).find(kSecret) != std::string::npos) {
      found.push_back(entry.path());
    }
  }
  return found;
}

/// What another process can read of this one and of all it started.
void look_at(int process, std::set<std::string>& seen, std::set<std::string>& with_key) {
  const std::string folder = "/proc/" + std::to_string(process);
  for (const char* file : {"/environ", "/cmdline"}) {
    const std::string text = bytes_of(folder + file);
    seen.insert(folder);
    if (text.find(kSecret) != std::string::npos) {
      with_key.insert(folder + file);
    }
  }
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(folder + "/task", ignored)) {
    std::istringstream numbers(bytes_of(task.path() / "children"));
    for (int child = 0; numbers >> child;) {
      look_at(child, seen, with_key);
    }
  }
}

std::string axpy_answer() {
  return "```cuda\n" +
         read_file(project_folder() / "tasks/catalogue/blas/axpy/baseline.cu", 1U << 20U) + "```\n";
}

/// Answers after a while, so that the program can be looked at, and repeats the key it was sent.
FakeReply echo(const SeenRequest& request, std::size_t number) {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::string key = request.header("authorization");
  return number == 0 ? tests::error_reply(503, "busy; you sent " + key)
                     : tests::chat_reply("You sent " + key + "\n" + axpy_answer());
}

std::vector<std::string> run_arguments(const FakeEndpoint& endpoint, const fs::path& store) {
  return {"run",     "configs/live.toml",
          "--store", store,
          "--name",  "live",
          "--task",  "axpy",
          "--set",   "endpoint.base_url=" + endpoint.base_url(),
          "--set",   "endpoint.model=fake",
          "--set",   "endpoint.api_key_env=WINNOW_E2E_KEY",
          "--set",   "run.proposals=2",
          "--set",   "evaluation.time_budget=20ms"};
}

ProgramOptions with_key() {
  ProgramOptions options;
  options.environment["WINNOW_E2E_KEY"] = kSecret;
  options.timeout = std::chrono::minutes(5); // sanitizers are slow
  return options;
}

TEST(Keys, AreNowhereWhileAndAfterARun) {
  const FakeEndpoint endpoint(echo);
  const TemporaryDirectory directory("keys");
  const fs::path store = directory.path() / "store.db";
  process::ChildProcess child(winnow_command(run_arguments(endpoint, store), with_key()));
  std::set<std::string> seen, leaks;
  while (endpoint.requests().empty() && child.running()) { // until then the key is being read
    std::this_thread::yield();
  }
  while (child.running()) {
    look_at(child.pid(), seen, leaks);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const process::ChildResult result = child.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(seen.size(), 3U) << "compilers and workers were to be looked at, too";
  EXPECT_EQ(leaks, std::set<std::string>{});
  ASSERT_GE(endpoint.requests().size(), 3U);
  EXPECT_EQ(endpoint.requests().back().header("authorization"), "Bearer " + kSecret);
  std::string printed = result.out + result.err;
  for (const char* what : {"json", "csv", "recording"}) {
    printed += run_winnow({"export", what, "--run", "live", "--store", store}).out;
  }
  EXPECT_NE(printed.find("[key]"), std::string::npos) << "the endpoint repeated it";
  EXPECT_EQ(printed.find(kSecret), std::string::npos);
  EXPECT_EQ(files_with_key(directory.path()), std::vector<fs::path>{});
}

TEST(Keys, LeaveNoCore) {
  FakeReply silence;
  silence.fault = FakeReply::Fault::NeverAnswer;
  const FakeEndpoint endpoint({silence});
  const TemporaryDirectory directory("keys");
  rlimit limit{};
  getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_CORE, &limit);
  process::Command command =
      winnow_command(run_arguments(endpoint, directory.path() / "store.db"), with_key());
  process::ChildProcess child(command);
  while (endpoint.requests().empty() && child.running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const std::string limits = bytes_of("/proc/" + std::to_string(child.pid()) + "/limits");
  EXPECT_NE(limits.find("Max core file size        0                    0"), std::string::npos)
      << limits;
  kill(child.pid(), SIGABRT);
  const process::ChildResult result = child.wait();
  EXPECT_EQ(result.signal, SIGABRT);
  for (const fs::path& folder : {directory.path(), command.working_directory}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_NE(entry.path().filename().string().substr(0, 4), "core") << entry.path();
    }
  }
}

TEST(Keys, AWrongOneIsNamedByItsVariable) {
  const FakeEndpoint endpoint(
      {tests::error_reply(401, "Incorrect API key provided: " + kSecret.substr(0, 8) + "...")});
  const TemporaryDirectory directory("keys");
  const ProgramResult result =
      run_winnow(run_arguments(endpoint, directory.path() / "store.db"), with_key());
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("check the key in the environment variable WINNOW_E2E_KEY"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find(kSecret), std::string::npos);
}

} // namespace
} // namespace winnow::test
