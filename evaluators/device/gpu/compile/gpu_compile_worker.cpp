#include "base/error.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/evaluation/evaluator.h"
#include "process/sandbox.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace winnow::evaluators {

namespace {

GpuCompileJob read_job() {
  std::string line;
  if (!std::getline(std::cin, line)) {
    throw Error("the compile worker got no job");
  }
  auto job = decode_gpu_compile_job(line);
  // Compilers write temporary files to TMPDIR. The child can write nowhere else.
  setenv("TMPDIR", job.directory.c_str(), 1);
  return job;
}

} // namespace

int compile_gpu_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  write_answer([] {
    GpuCompileJob job = read_job();
    std::unique_ptr<RuntimeCompiler> compiler;
    if (job.warm_up) {
      compiler = warm_up_gpu_compiler(job);
      job = read_job();
    }
    return compile_gpu_job(job, std::move(compiler));
  });
  return 0;
}

} // namespace winnow::evaluators
