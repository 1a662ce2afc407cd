#pragma once

#include "evaluators/device/module.h"
#include "process/child_process.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// A compile worker's answer on its stdout, and what the cache keeps beside a module.
struct CompileAnswer {
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  std::string detail;
  std::string log;
  std::vector<std::string> signatures;         ///< encoded parameters, one per kernel
  std::vector<std::int64_t> constants;         ///< one per constant expression
  std::vector<tasks::KernelResources> kernels; ///< GPU code only, one per kernel
  std::string machine_code_digest;             ///< GPU code only
  std::vector<tasks::Finding> findings;        ///< in the machine code
  double compiler_ms = 0;                      ///< in the compiler library; 0: not known
  double load_ms = 0;                ///< to load that library; 0: not known, or loaded before
  bool used_precompiled = false;     ///< headers that another process had compiled
  std::uint64_t library_address = 0; ///< of a precompiled header; else 0
};

void to_json(nlohmann::json& json, const CompileAnswer& answer);
void from_json(const nlohmann::json& json, CompileAnswer& answer); ///< throws nlohmann exceptions

/// A failure; its log is the detail where there is none.
CompileAnswer failed_compile(tasks::Verdict verdict, std::string detail, std::string log = {});

/// In the worker: writes what `compile` answers, or what became of it, to stdout.
void write_answer(const std::function<CompileAnswer()>& compile);
/// In the coordinator: reads it, or explains how the worker ended.
CompileAnswer read_answer(const process::ChildResult& child);

/// Whether compiling again would end the same way: limits and faults of the machine need not.
bool is_lasting(const CompileAnswer& answer);

/// The answer to `request`, without the module's path. Infrastructure when a signature that must be
/// there cannot be read.
CompileResult compile_result(const CompileAnswer& answer, const CompileRequest& request);

} // namespace winnow::evaluators
