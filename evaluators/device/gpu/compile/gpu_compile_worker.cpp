#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "process/sandbox.h"

#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {

int compile_gpu_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  write_answer([] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    return compile_gpu_job(decode_gpu_compile_job(input));
  });
  return 0;
}

} // namespace winnow::evaluators
