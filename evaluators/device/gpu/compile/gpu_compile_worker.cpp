#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "process/sandbox.h"

#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {

int compile_gpu_worker_main(std::vector<std::string> arguments,
                            const GpuVendor& (*vendor_of)(std::string_view kind)) {
  process::enter_sandbox(arguments);
  write_answer([vendor_of] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    const GpuCompileJob job = decode_gpu_compile_job(input);
    return compile_gpu_job(job, vendor_of(job.toolchain.kind));
  });
  return 0;
}

} // namespace winnow::evaluators
