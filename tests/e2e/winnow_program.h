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
  int exit_code = -1; ///< 128 + signal if a signal ended the program
  std::string out, err;
  double wall_seconds = 0;
};

/// Options for a run of the real program. It runs in the project's folder, with its own home
/// directory.
struct ProgramOptions {
  std::map<std::string, std::string> environment;
  std::chrono::milliseconds timeout{120'000};
  bool gpus = false; ///< false: the program finds no GPU driver, even if the machine has one
};
ProgramResult run_winnow(const std::vector<std::string>& arguments,
                         const ProgramOptions& options = {});
/// The command line of the real program, for tests that start and kill it themselves.
process::Command winnow_command(const std::vector<std::string>& arguments,
                                const ProgramOptions& options = {});

std::filesystem::path project_folder();
/// The folder of every task in the catalogue.
std::vector<std::filesystem::path> catalogue_tasks();
/// stdout as JSON. Fails the test if stdout is not JSON.
nlohmann::json json_output(const ProgramResult& result);
/// The limiter that `winnow profile` reports at the task's first shape; empty if it reports none.
/// Fails the test if the command fails.
std::string profiled_limiter(const std::string& task, const std::string& file,
                             const std::string& device, const ProgramOptions& options = {});
/// Why no CUDA device works here; empty if one does.
std::string why_no_cuda();

} // namespace winnow::test
