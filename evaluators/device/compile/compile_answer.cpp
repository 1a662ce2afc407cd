#include "evaluators/device/compile/compile_answer.h"

#include "base/json_dump.h"
#include "evaluators/device/inspect/elf_reader.h"

#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::KernelResources;
using tasks::Verdict;

constexpr std::size_t kMaxStderrBytes = 1000;

Verdict read_verdict(const nlohmann::json& json) {
  const auto verdict = tasks::verdict_from_string(json.get<std::string>());
  if (!verdict) {
    throw std::invalid_argument("unknown verdict " + json.dump());
  }
  return *verdict;
}

nlohmann::json resources_json(const KernelResources& kernel) {
  return {{"kernel", kernel.kernel},
          {"registers", kernel.registers},
          {"spill_store_bytes", kernel.spill_store_bytes},
          {"spill_load_bytes", kernel.spill_load_bytes},
          {"stack_bytes", kernel.stack_bytes},
          {"static_shared_bytes", kernel.static_shared_bytes}};
}

KernelResources read_resources(const nlohmann::json& json) {
  KernelResources kernel;
  json.at("kernel").get_to(kernel.kernel);
  json.at("registers").get_to(kernel.registers);
  json.at("spill_store_bytes").get_to(kernel.spill_store_bytes);
  json.at("spill_load_bytes").get_to(kernel.spill_load_bytes);
  json.at("stack_bytes").get_to(kernel.stack_bytes);
  json.at("static_shared_bytes").get_to(kernel.static_shared_bytes);
  return kernel;
}

CompileResult unreadable(CompileResult result, const std::string& what) {
  result.verdict = Verdict::Infrastructure;
  result.detail = what + " cannot be read";
  result.facts = {};
  return result;
}

} // namespace

void to_json(nlohmann::json& json, const CompileAnswer& answer) {
  auto kernels = nlohmann::json::array();
  for (const KernelResources& kernel : answer.kernels) {
    kernels.push_back(resources_json(kernel));
  }
  json = {{"verdict", tasks::to_string(answer.verdict)},
          {"detail", answer.detail},
          {"log", answer.log},
          {"signatures", answer.signatures},
          {"constants", answer.constants},
          {"kernels", std::move(kernels)},
          {"machine_code_digest", answer.machine_code_digest},
          {"findings", answer.findings},
          {"features", answer.features},
          {"compiler_ms", answer.compiler_ms},
          {"load_ms", answer.load_ms},
          {"used_precompiled", answer.used_precompiled},
          {"library_address", answer.library_address}};
}

void from_json(const nlohmann::json& json, CompileAnswer& answer) {
  answer.verdict = read_verdict(json.at("verdict"));
  json.at("detail").get_to(answer.detail);
  json.at("log").get_to(answer.log);
  json.at("signatures").get_to(answer.signatures);
  json.at("constants").get_to(answer.constants);
  for (const nlohmann::json& kernel : json.at("kernels")) {
    answer.kernels.push_back(read_resources(kernel));
  }
  json.at("machine_code_digest").get_to(answer.machine_code_digest);
  json.at("findings").get_to(answer.findings);
  json.at("features").get_to(answer.features);
  json.at("compiler_ms").get_to(answer.compiler_ms);
  json.at("load_ms").get_to(answer.load_ms);
  // Older cache entries lack the field.
  answer.used_precompiled = json.value("used_precompiled", false);
  answer.library_address = json.value("library_address", std::uint64_t{0});
}

CompileAnswer failed_compile(Verdict verdict, std::string detail, std::string log) {
  CompileAnswer answer;
  answer.verdict = verdict;
  answer.log = log.empty() ? detail : std::move(log);
  answer.detail = std::move(detail);
  return answer;
}

void write_answer(const std::function<CompileAnswer()>& compile) {
  CompileAnswer answer;
  try {
    answer = compile();
  } catch (const ElfError& error) {
    answer = failed_compile(Verdict::CompileError,
                            std::string("the compiled module cannot be used: ") + error.what());
  } catch (const std::bad_alloc&) {
    answer =
        failed_compile(Verdict::OverLimit, "the source needs more memory than a compile may use");
  } catch (const std::exception& error) {
    answer = failed_compile(Verdict::Infrastructure, error.what());
  }
  std::cout << json_line(answer) << std::endl;
}

CompileAnswer read_answer(const process::ChildResult& child) {
  CompileAnswer answer;
  if (child.end == process::ChildResult::End::Exited && child.exit_code == 0) {
    try {
      return nlohmann::json::parse(child.out).get<CompileAnswer>();
    } catch (const std::exception& error) {
      answer.detail = std::string("the compile worker gave no readable answer: ") + error.what();
    }
  } else {
    answer.detail =
        "the compile worker " + describe(child) + ": " + child.err.substr(0, kMaxStderrBytes);
  }
  const bool limit = child.end == process::ChildResult::End::WallTimeout ||
                     child.end == process::ChildResult::End::CpuTimeout;
  answer.verdict = limit ? Verdict::OverLimit : Verdict::Infrastructure;
  return answer;
}

bool is_lasting(const CompileAnswer& answer) {
  return answer.verdict == Verdict::Correct || answer.verdict == Verdict::CompileError ||
         answer.verdict == Verdict::Unsupported;
}

CompileResult compile_result(const CompileAnswer& answer, const CompileRequest& request) {
  CompileResult result;
  result.verdict = answer.verdict;
  result.detail = answer.detail;
  result.build.log = answer.log;
  result.build.machine_code_digest = answer.machine_code_digest;
  result.build.kernels = answer.kernels;
  result.build.findings = answer.findings;
  result.build.features = answer.features;
  result.build.compiler_ms = answer.compiler_ms;
  result.build.load_ms = answer.load_ms;
  result.used_precompiled = answer.used_precompiled;
  if (answer.verdict != Verdict::Correct) {
    return result;
  }
  for (std::size_t i = 0; i < request.kernels.size(); ++i) {
    auto parameters = i < answer.signatures.size() ? tasks::decode_parameters(answer.signatures[i])
                                                   : std::nullopt;
    if (!parameters) {
      return unreadable(std::move(result), "the signature of kernel '" + request.kernels[i] + "'");
    }
    auto resources = i < answer.kernels.size() ? std::optional(answer.kernels[i]) : std::nullopt;
    result.facts.signatures.push_back(
        {request.kernels[i], std::move(*parameters), std::move(resources)});
  }
  for (std::size_t i = 0; i < request.constants.size() && i < answer.constants.size(); ++i) {
    result.facts.constants[request.constants[i]] = answer.constants[i];
  }
  return result;
}

} // namespace winnow::evaluators
