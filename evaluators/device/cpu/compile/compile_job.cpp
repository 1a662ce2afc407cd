// The work of a `_compile` child.
#include "base/files.h"
#include "base/text.h"
#include "evaluators/device/cpu/compile/compile_protocol.h"
#include "evaluators/device/cpu/compile/module_check.h"
#include "evaluators/device/cpu/compile/precompiled_headers.h"
#include "evaluators/device/cpu/compile/source_pass.h"
#include "evaluators/device/inspect/entry_symbols.h"
#include "evaluators/device/inspect/module_features.h"
#include "evaluators/device/inspect/module_findings.h"
#include "evaluators/device/source/compiler_messages.h"
#include "process/child_process.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using tasks::Verdict;

constexpr std::uint64_t kOutputBytes = 256U << 10U;
constexpr std::chrono::milliseconds kLinkTimeout{10'000};

process::Command tool_command(const CompileJob& job, std::vector<std::string> argv,
                              std::chrono::milliseconds timeout) {
  process::Command command;
  command.argv = std::move(argv);
  command.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                         {"LC_ALL", "C"},
                         {"TMPDIR", job.directory.string()}};
  command.working_directory = job.directory;
  command.limits.wall = timeout;
  command.limits.output_bytes = kOutputBytes;
  command.own_group = false; // the child must not outlive this process
  return command;
}

CompileAnswer unsupported(const std::string& what, int line) {
  return failed_compile(Verdict::Unsupported,
                        "unsupported on the cpu device: " + what +
                            (line > 0 ? " at line " + std::to_string(line) : ""));
}

CompileAnswer explain_mistake(const CompileJob& job, const SourceMistake& mistake) {
  if (mistake.what.rfind(kUnsupportedPrefix, 0) == 0) {
    return unsupported(mistake.what.substr(kUnsupportedPrefix.size()), mistake.line);
  }
  return failed_compile(Verdict::CompileError,
                        place_message(job.request.file, mistake.line, mistake.column, mistake.what,
                                      job.request.source));
}

bool ran_out_of_memory(const process::ChildResult& result) {
  for (const char* text : {"virtual memory exhausted", "out of memory", "Out of memory",
                           "bad_alloc", "Cannot allocate memory", "memory exhausted"}) {
    if (result.err.find(text) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string in_gib(std::uint64_t bytes) {
  return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / static_cast<double>(1U << 30U));
}

// The answer that names the limit which stopped the compiler; nullopt: no limit did.
std::optional<CompileAnswer> explain_limit(const CompileJob& job,
                                           const process::ChildResult& result) {
  using End = process::ChildResult::End;
  const double limit_seconds = static_cast<double>(job.timeout.count()) / 1000.0;
  const bool cpu = result.end == End::CpuTimeout ||
                   (result.end == End::Signaled && result.signal == SIGXCPU) ||
                   result.err.find("CPU time limit exceeded") != std::string::npos;
  if (result.end == End::WallTimeout || cpu) {
    return failed_compile(
        Verdict::OverLimit,
        fmt::format("still compiling after {:g} s: the source expands to too much code "
                    "(deep templates, macros or unrolling)",
                    limit_seconds));
  }
  if (ran_out_of_memory(result)) {
    return failed_compile(
        Verdict::OverLimit,
        fmt::format("the compiler used more than {}: the source expands to too much code",
                    in_gib(job.memory_bytes)));
  }
  if (result.err.find("File size limit exceeded") != std::string::npos ||
      result.err.find("File too large") != std::string::npos) {
    return failed_compile(Verdict::OverLimit, "the compiled code is too large");
  }
  return std::nullopt;
}

CompileAnswer explain_failure(const CompileJob& job, const SourceScan& scan,
                              const process::ChildResult& result) {
  if (result.end == process::ChildResult::End::SpawnFailed) {
    return failed_compile(Verdict::Infrastructure,
                          job.toolchain.compiler.string() + " " + describe(result));
  }
  if (auto limit = explain_limit(job, result)) {
    return *limit;
  }
  const std::vector<CompilerError> errors = parse_compiler_output(result.err);
  if (const auto construct = find_unsupported(errors, scan.unsupported)) {
    return unsupported(construct->what, construct->line);
  }
  const ErrorReport report =
      report_errors(errors, {job.request.file, job.request.source, job.request.parameters,
                             job.request.kernels, scan});
  if (report.first.empty() && result.err.find("cc1plus: fatal error:") != std::string::npos) {
    // For errors that come from a directive, such as a missing file, g++ names no line.
    return failed_compile(Verdict::CompileError,
                          job.toolchain.version + " refused the source, but named no line");
  }
  if (report.first.empty()) {
    const bool own_crash = result.err.find("internal compiler error") != std::string::npos ||
                           result.err.find("PLEASE submit a bug report") != std::string::npos;
    return own_crash ? failed_compile(Verdict::CompileError,
                                      job.toolchain.version + " crashed on this source")
                     : failed_compile(Verdict::Infrastructure, job.toolchain.compiler.string() +
                                                                   " " + describe(result) +
                                                                   ", but named no error");
  }
  return failed_compile(Verdict::CompileError, report.first, report.log);
}

int line_of_name(const std::string& source, const std::string& name) {
  const std::string text = tasks::normalise_source(source);
  for (const Token& token : tasks::tokenize(text)) {
    if (!name.empty() && token.text == name) {
      return token.line;
    }
  }
  return 0;
}

CompileAnswer judge_module(const CompileJob& job, const ElfReader& module) {
  if (const auto objection = check_module(module, job.request.mode)) {
    const int line = line_of_name(job.request.source, objection->symbol);
    if (objection->verdict == Verdict::Unsupported) {
      return unsupported(objection->what, line);
    }
    return failed_compile(objection->verdict, place_message(job.request.file, line, 0,
                                                            objection->what, job.request.source));
  }
  CompileAnswer compiled;
  compiled.verdict = Verdict::Correct;
  compiled.signatures = read_signatures(module, job.request.kernels.size());
  compiled.constants = read_constants(module, job.request.constants.size());
  compiled.findings = inspect_cpu_module(module, job.request.source);
  compiled.features = cpu_features(module, job.request.kernels.size());
  return compiled;
}

// Compiles once more without the precompiled headers if they may be the reason of a failure.
process::ChildResult run_compiler(const CompileJob& job, const std::filesystem::path& source,
                                  const std::filesystem::path& object) {
  using End = process::ChildResult::End;
  const std::vector<std::string> flags =
      compile_flags(job.toolchain, job.request.mode, job.request.fast_math);
  const auto run = [&](const std::filesystem::path& precompiled) {
    return process::run_child(tool_command(job,
                                           compile_command(job.toolchain, flags, job.headers,
                                                           precompiled, source, object),
                                           job.timeout),
                              "");
  };
  process::ChildResult result = run(job.precompiled);
  const bool failed =
      result.end == End::Signaled || (result.end == End::Exited && result.exit_code != 0 &&
                                      may_blame_precompiled_headers(result.err));
  if (!job.precompiled.empty() && failed && !explain_limit(job, result)) {
    result = run({});
  }
  return result;
}

} // namespace

CompiledModule compile_job(const CompileJob& job) {
  const CompileRequest& request = job.request;
  const TranslatedSource pass =
      run_source_pass({request.source,
                       request.parameters,
                       request.kernels,
                       request.constants,
                       {header_names(job.headers, {"cpu", "common"}), {}, {}}});
  if (pass.mistake) {
    return {explain_mistake(job, *pass.mistake)};
  }
  const std::filesystem::path source = job.directory / "module.cpp";
  const std::filesystem::path object = job.directory / "module.o";
  const std::filesystem::path module = job.directory / "module.so";
  write_file_atomic(source, pass.translated);
  const process::ChildResult compiled = run_compiler(job, source, object);
  if (compiled.end != process::ChildResult::End::Exited || compiled.exit_code != 0) {
    return {explain_failure(job, pass.scan, compiled)};
  }
  const process::ChildResult linked = process::run_child(
      tool_command(job, link_command(job.toolchain, request.mode, object, module), kLinkTimeout),
      "");
  if (linked.end != process::ChildResult::End::Exited || linked.exit_code != 0) {
    return {failed_compile(Verdict::Infrastructure, job.toolchain.linker.string() + " " +
                                                        describe(linked) + ": " +
                                                        truncate_text(linked.err, kMaxLogBytes))};
  }
  return {judge_module(job, ElfReader::open(module)), read_file(module, kMostModuleBytes)};
}

} // namespace winnow::evaluators
