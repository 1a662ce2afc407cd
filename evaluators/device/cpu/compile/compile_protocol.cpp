#include "evaluators/device/cpu/compile/compile_protocol.h"

#include "evaluators/device/compile/compile_request_json.h"
#include "tasks/json/json_fields.h"

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

} // namespace winnow::evaluators
