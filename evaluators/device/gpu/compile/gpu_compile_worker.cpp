#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/evaluation/evaluator.h"
#include "process/sandbox.h"

#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {

int compile_gpu_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  write_answer([] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const GpuCompileJob job = decode_gpu_compile_job(input);
    // Compilers write temporary files to TMPDIR. The child can write nowhere else.
    setenv("TMPDIR", job.directory.c_str(), 1);
    return compile_gpu_job(job);
  });
  return 0;
}

} // namespace winnow::evaluators
