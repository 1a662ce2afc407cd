#include "tests/e2e/winnow_program.h"

#include "base/files.h"

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

// One cache for the whole test program, so that each kernel is compiled only once.
const std::filesystem::path& home() {
  static const TemporaryDirectory directory("e2e-home");
  return directory.path();
}

} // namespace

std::filesystem::path project_folder() {
  return WINNOW_PROJECT_FOLDER;
}

std::vector<std::filesystem::path> catalogue_tasks() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(project_folder() / "tasks/catalogue")) {
    if (entry.path().filename() == "task.toml") {
      folders.push_back(entry.path().parent_path());
    }
  }
  return folders;
}

process::Command winnow_command(const std::vector<std::string>& arguments,
                                const ProgramOptions& options) {
  process::Command command;
  command.argv = {WINNOW_PROGRAM};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = options.environment;
  const char* path = std::getenv("PATH");
  command.environment.emplace("PATH", path != nullptr ? path : "/usr/bin:/bin");
  command.environment.emplace("HOME", home().string());
  if (const char* cache = std::getenv("WINNOW_TEST_CACHE")) {
    command.environment.emplace("XDG_CACHE_HOME", cache);
    command.environment.emplace("XDG_STATE_HOME", cache); // suites share a finished run
  }
  if (!options.gpus) {
    command.environment.emplace("WINNOW_CUDA_LIBRARY", "/nonexistent/libcuda.so.1");
    command.environment.emplace("WINNOW_HIP_LIBRARY", "/nonexistent/libamdhip64.so");
  }
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "CUDA_VISIBLE_DEVICES",
                           "WINNOW_CATALOGUE"}) {
    if (const char* value = std::getenv(name)) {
      command.environment.emplace(name, value);
    }
  }
  command.working_directory = project_folder();
  command.limits.wall = options.timeout;
  command.limits.output_bytes = 64U << 20U;
  return command;
}

ProgramResult run_winnow(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  const process::ChildResult child = process::run_child(winnow_command(arguments, options), "");
  ProgramResult result;
  result.exit_code =
      child.end == process::ChildResult::End::Exited ? child.exit_code : 128 + child.signal;
  result.out = child.out;
  result.err = child.err;
  result.wall_seconds = child.wall_seconds;
  return result;
}

nlohmann::json json_output(const ProgramResult& result) {
  nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << "stdout:\n" << result.out << "\nstderr:\n" << result.err;
  return json.is_discarded() ? nlohmann::json::object() : json;
}

std::string profiled_limiter(const std::string& task, const std::string& file,
                             const std::string& device, const ProgramOptions& options) {
  const ProgramResult result =
      run_winnow({"profile", task, file, "--device", device, "--no-energy", "--json"}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json::json_pointer limiter("/shapes/0/kernel/profile/limiters/0/limiter");
  return json_output(result).value(limiter, "");
}

std::string why_no_cuda() {
  ProgramOptions options;
  options.gpus = true;
  const nlohmann::json report = json_output(run_winnow({"doctor", "--json"}, options));
  std::string why = "no cuda device";
  for (const nlohmann::json& finding : report.value("findings", nlohmann::json::array())) {
    if (finding.value("group", "") == "device" && finding.value("name", "").starts_with("cuda")) {
      if (finding.value("ok", false)) {
        return {};
      }
      why = finding.value("why", why);
    }
  }
  return why;
}

} // namespace winnow::test
