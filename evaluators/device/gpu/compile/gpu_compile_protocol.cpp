#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "process/sandbox.h"
#include "tasks/json/json_fields.h"

#include <iostream>
#include <iterator>
#include <string>

namespace winnow::evaluators {
WINNOW_FIELDS(GpuToolchain, kind, version, prelude, library, builtins, include_directories,
              readable)
WINNOW_FIELDS(GpuCompileJob, request, toolchain, architecture, headers)

void to_json(nlohmann::json& json, const GpuToolchain& toolchain) {
  json = tasks::write_json(toolchain);
}

std::string encode(const GpuCompileJob& job) {
  return tasks::json_text(job);
}

GpuCompileJob decode_gpu_compile_job(const std::string& text) {
  GpuCompileJob job;
  tasks::read_json(tasks::parse_json(text, "job"), "job", job);
  return job;
}

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
