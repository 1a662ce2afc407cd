#pragma once

#include "process/child_process.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::test {

struct ProgramResult {
  int exit_code = -1; ///< 128 + signal when it was killed
  std::string out, err;
  double wall_seconds = 0;
};

/// A run of the real program, from the project's folder, with a home of its own.
struct ProgramOptions {
  std::map<std::string, std::string> environment;
  std::chrono::milliseconds timeout{120'000};
  bool gpus = false; ///< otherwise the program finds no driver, whatever the machine has
};
ProgramResult run_winnow(const std::vector<std::string>& arguments,
                         const ProgramOptions& options = {});
/// The command line of the real program, for tests that start and kill it themselves.
process::Command winnow_command(const std::vector<std::string>& arguments,
                                const ProgramOptions& options = {});

std::filesystem::path project_folder();
/// The folder of every task in the catalogue.
std::vector<std::filesystem::path> catalogue_tasks();
/// stdout as JSON; fails the test when it is none.
nlohmann::json json_output(const ProgramResult& result);
/// What `winnow profile` says limits the kernel at the task's first shape, empty when it does not
/// say; fails the test when it fails.
std::string profiled_limiter(const std::string& task, const std::string& file,
                             const std::string& device, const ProgramOptions& options = {});
/// Empty when a CUDA device works here.
std::string why_no_cuda();

} // namespace winnow::test
