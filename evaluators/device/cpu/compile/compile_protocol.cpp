#include "evaluators/device/cpu/compile/compile_protocol.h"

#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "process/sandbox.h"
#include "tasks/json/json_fields.h"

#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {
WINNOW_FIELDS(Toolchain, compiler, linker, libm, libgcc, clang, version)
WINNOW_FIELDS(CompileJob, request, toolchain, headers, precompiled, directory, timeout,
              memory_bytes)

std::string encode(const CompileJob& job) {
  return tasks::json_text(job);
}

CompileJob decode_compile_job(const std::string& text) {
  CompileJob job;
  tasks::read_json(tasks::parse_json(text, "job"), "job", job);
  return job;
}

int compile_worker_main(std::vector<std::string> arguments) {
  process::enter_sandbox(arguments);
  write_answer([] {
    const std::string input{std::istreambuf_iterator<char>(std::cin), {}};
    return compile_job(decode_compile_job(input));
  });
  return 0;
}

} // namespace winnow::evaluators
