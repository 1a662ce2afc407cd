#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/evaluator.h"
#include "evaluators/process/sandbox.h"

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

namespace {

// nullopt at the end of the input: no work is left for a child that was made ready.
std::optional<GpuCompileJob> read_job() {
  std::string line;
  if (!std::getline(std::cin, line)) {
    return std::nullopt;
  }
  auto job = nlohmann::json::parse(line).get<GpuCompileJob>();
  // Compilers keep temporary files there; nothing else can be written.
  setenv("TMPDIR", job.directory.c_str(), 1);
  return job;
}

} // namespace

int compile_gpu_worker_main(std::vector<std::string> arguments) {
  enter_sandbox(arguments);
  if (!arguments.empty()) { // of a child that makes or uses a precompiled header
    settle_addresses(arguments);
  }
  std::optional<GpuCompileJob> job;
  std::unique_ptr<RuntimeCompiler> compiler;
  for (job = read_job(); job && job->warm_up; job = read_job()) {
    compiler = warm_up_gpu_compiler(*job);
  }
  if (job) {
    write_answer([&] {
      return job->precompile ? precompile_gpu_headers(*job)
                             : compile_gpu_job(*job, std::move(compiler));
    });
  }
  return 0;
}

} // namespace winnow::evaluators
