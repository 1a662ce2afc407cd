// The work of a `_compile-gpu` child.
#include "evaluators/device/gpu/compile/gpu_compile_job.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/gpu/compile/gpu_image.h"
#include "evaluators/device/gpu/compile/gpu_source.h"
#include "evaluators/device/inspect/gpu_module.h"
#include "evaluators/device/source/compiler_messages.h"
#include "evaluators/device/source/source_parts.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::KernelResources;
using tasks::Verdict;

// Limit of static shared memory on every device. Larger arrays must be dynamic.
constexpr int kStaticSharedLimit = 48 * 1024;

// "k<BLOCK>" -> "k<128>": older hiprtc versions find a kernel only by a name without constants.
std::string with_values(const std::string& kernel, const tasks::ParameterChoice& parameters) {
  std::vector<SourceEdit> edits;
  for (const Token& token : tasks::tokenize(kernel)) {
    const auto value = parameters.find(std::string(token.text));
    if (token.kind == Token::Kind::Identifier && value != parameters.end()) {
      edits.push_back({token.begin, token.end, std::to_string(value->second)});
    }
  }
  return apply_edits(kernel, std::move(edits));
}

RuntimeCompileJob runtime_job(const GpuCompileJob& job, const TranslatedSource& source) {
  RuntimeCompileJob out;
  out.source = source.translated;
  out.file = kModuleFile;
  out.architecture = job.architecture;
  out.fast_math = job.request.fast_math;
  for (const auto& tree : {job.headers / job.toolchain.kind, job.headers / "common"}) {
    out.include_directories.push_back(tree.string());
  }
  for (const auto& directory : job.toolchain.include_directories) {
    out.include_directories.push_back(directory.string());
  }
  for (const std::string& kernel : job.request.kernels) {
    out.instantiated.push_back(with_values(kernel, job.request.parameters));
  }
  return out;
}

std::vector<ConstructHint> hints_for(const GpuVendor& vendor, const SourceScan& scan) {
  return vendor.lacks_inline_ptx ? scan.unsupported : std::vector<ConstructHint>{};
}

CompileAnswer explain_failure(const GpuCompileJob& job, const GpuVendor& vendor,
                              const SourceScan& scan, const std::string& log) {
  if (log.find("out of memory") != std::string::npos) {
    return failed_compile(Verdict::OverLimit, "the compiler used more memory than it may: the "
                                              "source expands to too much code");
  }
  std::vector<std::string> trusted(job.toolchain.include_directories.begin(),
                                   job.toolchain.include_directories.end());
  trusted.push_back(job.headers.string());
  const std::vector<CompilerError> errors = parse_compiler_output(log, trusted);
  if (const auto construct = find_unsupported(errors, hints_for(vendor, scan))) {
    return failed_compile(
        Verdict::Unsupported,
        fmt::format("unsupported on {} devices: {}{}", job.toolchain.kind, construct->what,
                    construct->line > 0 ? fmt::format(" at line {}", construct->line) : ""));
  }
  const ErrorReport report =
      report_errors(errors, {job.request.file, job.request.source, job.request.parameters,
                             job.request.kernels, scan});
  if (report.first.empty()) {
    return failed_compile(Verdict::CompileError,
                          job.toolchain.version + " refused the source, but named no error");
  }
  return failed_compile(Verdict::CompileError, report.first, report.log);
}

int line_of_kernel(const SourceScan& scan, const std::string& kernel) {
  for (const KernelDeclaration& declaration : scan.kernels) {
    if (kernel.rfind(declaration.name, 0) == 0 && declaration.definition) {
      return declaration.line;
    }
  }
  return 0;
}

std::optional<CompileAnswer> check_shared_memory(const GpuCompileJob& job, const SourceScan& scan,
                                                 const std::vector<KernelResources>& kernels) {
  for (const KernelResources& kernel : kernels) {
    if (kernel.static_shared_bytes > kStaticSharedLimit) {
      const std::string what = fmt::format(
          "the static __shared__ arrays of {} take {} bytes, at most {} are allowed: {}",
          kernel.kernel, kernel.static_shared_bytes, kStaticSharedLimit, kUseDynamicShared);
      return failed_compile(Verdict::CompileError,
                            place_message(job.request.file, line_of_kernel(scan, kernel.kernel), 0,
                                          what, job.request.source));
    }
  }
  return std::nullopt;
}

std::string describe(const KernelResources& kernel) {
  std::string out = fmt::format("{}: {} registers", kernel.kernel, kernel.registers);
  if (kernel.static_shared_bytes > 0) {
    out += fmt::format(", {} bytes of static shared memory", kernel.static_shared_bytes);
  }
  if (kernel.stack_bytes > 0) {
    out += fmt::format(", {} bytes of stack", kernel.stack_bytes);
  }
  if (kernel.spill_store_bytes > 0 || kernel.spill_load_bytes > 0) {
    out += fmt::format(", spills {} bytes (stores) and {} bytes (loads)", kernel.spill_store_bytes,
                       kernel.spill_load_bytes);
  }
  return out + "\n";
}

// Replaces the names that were compiled by the names in the plan.
void name_as_planned(const GpuCompileJob& job, RuntimeCompileOutput& output) {
  std::map<std::string, std::string> symbols;
  for (const std::string& kernel : job.request.kernels) {
    symbols[kernel] = output.symbols[with_values(kernel, job.request.parameters)];
  }
  output.symbols = std::move(symbols);
}

CompiledModule judge_image(const GpuCompileJob& job, const GpuVendor& vendor,
                           const SourceScan& scan, RuntimeCompileOutput output) {
  GpuImageFacts facts = read_gpu_image(vendor, job.architecture, output, job.request.kernels,
                                       job.request.constants.size());
  if (auto objection = check_shared_memory(job, scan, facts.kernels)) {
    return {*objection};
  }
  CompileAnswer answer;
  answer.verdict = Verdict::Correct;
  for (const KernelResources& kernel : facts.kernels) {
    answer.log += describe(kernel);
  }
  for (const std::string& advice : facts.advice) {
    answer.log += advice + "\n";
  }
  answer.log = truncate_text(answer.log, kMaxLogBytes);
  answer.signatures = std::move(facts.signatures);
  answer.constants = std::move(facts.constants);
  answer.kernels = std::move(facts.kernels);
  answer.machine_code_digest = std::move(facts.machine_code_digest);
  answer.findings = std::move(facts.findings);
  answer.features = std::move(facts.features);
  return {std::move(answer), encode(GpuModuleFile{job.architecture, std::move(output.symbols),
                                                  std::move(output.image)})};
}

CompiledModule judge_output(const GpuCompileJob& job, const GpuVendor& vendor,
                            const SourceScan& scan, RuntimeCompileOutput output) {
  if (!output.compiled) {
    return {explain_failure(job, vendor, scan, output.log)};
  }
  name_as_planned(job, output);
  return judge_image(job, vendor, scan, std::move(output));
}

} // namespace

CompiledModule compile_gpu_job(const GpuCompileJob& job, const GpuVendor& vendor) {
  const CompileRequest& request = job.request;
  const TranslatedSource source =
      translate_source({request.source, request.parameters, request.kernels, request.constants,
                        gpu_header_rules(job.toolchain, job.headers), job.toolchain.prelude});
  if (source.mistake) {
    return {failed_compile(Verdict::CompileError,
                           place_message(request.file, source.mistake->line, source.mistake->column,
                                         source.mistake->what, request.source))};
  }
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<RuntimeCompiler> compiler = vendor.open_compiler(job.toolchain);
  const std::chrono::duration<double, std::milli> load = std::chrono::steady_clock::now() - start;
  RuntimeCompileOutput output = compiler->compile(runtime_job(job, source));
  const double compiler_ms = output.compiler_ms;
  CompiledModule compiled = judge_output(job, vendor, source.scan, std::move(output));
  compiled.answer.load_ms = load.count();
  compiled.answer.compiler_ms = compiler_ms;
  return compiled;
}

} // namespace winnow::evaluators
