#include "evaluators/device/cpu/compile/compile_protocol.h"

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
void to_json(nlohmann::json& json, const CompileJob& job) {
  const CompileRequest& request = job.request;
  const Toolchain& tools = job.toolchain;
  json = {{"file", request.file},
          {"source", request.source},
          {"parameters", request.parameters},
          {"kernels", request.kernels},
          {"constants", request.constants},
          {"fast_math", request.fast_math},
          {"check", request.mode == BuildMode::Check},
          {"compiler", tools.compiler.string()},
          {"linker", tools.linker.string()},
          {"libm", tools.libm.string()},
          {"libgcc", tools.libgcc.string()},
          {"clang", tools.clang},
          {"version", tools.version},
          {"headers", job.headers.string()},
          {"directory", job.directory.string()},
          {"timeout_ms", job.timeout.count()},
          {"memory_bytes", job.memory_bytes}};
}

void from_json(const nlohmann::json& json, CompileJob& job) {
  CompileRequest& request = job.request;
  Toolchain& tools = job.toolchain;
  json.at("file").get_to(request.file);
  json.at("source").get_to(request.source);
  json.at("parameters").get_to(request.parameters);
  json.at("kernels").get_to(request.kernels);
  json.at("constants").get_to(request.constants);
  json.at("fast_math").get_to(request.fast_math);
  request.mode = json.at("check").get<bool>() ? BuildMode::Check : BuildMode::Plain;
  tools.compiler = json.at("compiler").get<std::string>();
  tools.linker = json.at("linker").get<std::string>();
  tools.libm = json.at("libm").get<std::string>();
  tools.libgcc = json.at("libgcc").get<std::string>();
  json.at("clang").get_to(tools.clang);
  json.at("version").get_to(tools.version);
  job.headers = json.at("headers").get<std::string>();
  job.directory = json.at("directory").get<std::string>();
  job.timeout = std::chrono::milliseconds(json.at("timeout_ms").get<std::int64_t>());
  json.at("memory_bytes").get_to(job.memory_bytes);
}

} // namespace winnow::evaluators
