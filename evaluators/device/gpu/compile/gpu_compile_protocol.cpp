#include "evaluators/device/compile/compile_request_json.h"
#include "evaluators/device/gpu/compile/gpu_compile_job.h"
#include "tasks/json/json_fields.h"

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

} // namespace winnow::evaluators
