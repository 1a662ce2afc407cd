#pragma once

#include "evaluators/device/module.h"
#include "process/child_process.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// The answer of a compile worker. The cache keeps it beside the module.
struct CompileAnswer {
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  std::string detail;
  std::string log;
  std::vector<std::string> signatures;         ///< encoded parameters, one per kernel
  std::vector<std::int64_t> constants;         ///< one per constant expression
  std::vector<tasks::KernelResources> kernels; ///< GPU code only, one per kernel
  std::string machine_code_digest;             ///< GPU code only
  std::vector<tasks::Finding> findings;        ///< in the machine code
  std::vector<std::string> features;           ///< tasks::BuildRecord::features
  double compiler_ms = 0;                      ///< time in the compiler library; 0: not known
  /// Time to load that library; 0: not known, or loaded before.
  double load_ms = 0;
};

/// What a compile worker writes to stdout: the answer on one line, then the bytes of the module.
struct CompiledModule {
  CompileAnswer answer;
  std::string module = {}; ///< empty unless the answer is Correct
};

/// The most bytes of each.
constexpr std::uint64_t kMostModuleBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kMostAnswerBytes = std::uint64_t{1} << 20U;

nlohmann::json compile_answer_json(const CompileAnswer& answer);
/// Throws Error. The texts of the answer are valid UTF-8.
CompileAnswer compile_answer_of(const nlohmann::json& json);

/// A failed compile. An empty `log` is replaced by the detail.
CompileAnswer failed_compile(tasks::Verdict verdict, std::string detail, std::string log = {});

/// For the worker: calls `compile` and writes its module, or an answer with its error, to stdout.
void write_answer(const std::function<CompiledModule()>& compile);
/// For the coordinator: reads answer and module, or explains how the worker ended.
CompiledModule read_answer(const process::ChildResult& child);

/// Whether compiling again would give the same answer. False after limits and faults of the
/// machine.
bool is_lasting(const CompileAnswer& answer);

/// The result for `request`, without the module's path. Infrastructure when a required signature
/// cannot be read.
CompileResult compile_result(const CompileAnswer& answer, const CompileRequest& request);

} // namespace winnow::evaluators
