#include "evaluators/device/cpu/compile/compile_protocol.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "process/sandbox.h"

#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {

int compile_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  write_answer([] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    return compile_job(decode_compile_job(input));
  });
  return 0;
}

} // namespace winnow::evaluators
