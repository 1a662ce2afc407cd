#include "evaluators/device/cuda/compile/nvrtc_library.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/evaluator.h"
#include "evaluators/process/sandbox.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

namespace {

GpuCompileJob read_job() {
  const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
  auto job = nlohmann::json::parse(input).get<GpuCompileJob>();
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
  write_answer([] {
    const GpuCompileJob job = read_job();
    return job.precompile ? precompile_gpu_headers(job) : compile_gpu_job(job);
  });
  return 0;
}

} // namespace winnow::evaluators
