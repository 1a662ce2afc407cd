#include "evaluators/device/gpu/compile/gpu_compile_job.h"

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

void to_json(nlohmann::json& json, const GpuCompileJob& job) {
  const CompileRequest& request = job.request;
  json = {{"file", request.file},
          {"source", request.source},
          {"parameters", request.parameters},
          {"kernels", request.kernels},
          {"constants", request.constants},
          {"fast_math", request.fast_math},
          {"toolchain", job.toolchain},
          {"architecture", job.architecture},
          {"headers", job.headers.string()},
          {"directory", job.directory.string()},
          {"group", job.group},
          {"precompile", job.precompile},
          {"warm_up", job.warm_up}};
  if (job.precompiled) {
    json["precompiled"] = {{"file", job.precompiled->file.string()},
                           {"library_address", job.precompiled->library_address}};
  }
}

void from_json(const nlohmann::json& json, GpuCompileJob& job) {
  CompileRequest& request = job.request;
  json.at("file").get_to(request.file);
  json.at("source").get_to(request.source);
  json.at("parameters").get_to(request.parameters);
  json.at("kernels").get_to(request.kernels);
  json.at("constants").get_to(request.constants);
  json.at("fast_math").get_to(request.fast_math);
  json.at("toolchain").get_to(job.toolchain);
  json.at("architecture").get_to(job.architecture);
  job.headers = json.at("headers").get<std::string>();
  job.directory = json.at("directory").get<std::string>();
  json.at("group").get_to(job.group);
  json.at("precompile").get_to(job.precompile);
  json.at("warm_up").get_to(job.warm_up);
  if (json.contains("precompiled")) {
    const nlohmann::json& precompiled = json.at("precompiled");
    job.precompiled = {precompiled.at("file").get<std::string>(),
                       precompiled.at("library_address").get<std::uint64_t>()};
  }
}

} // namespace winnow::evaluators
