#include "evaluators/device/compile/compile_answer.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "evaluators/device/inspect/elf_reader.h"
#include "tasks/result/evaluation_codec.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>

namespace winnow::evaluators {

WINNOW_FIELDS(CompileAnswer, verdict, detail, log, signatures, constants, kernels,
              machine_code_digest, findings, features, compiler_ms, load_ms)

namespace {

using tasks::Verdict;

constexpr std::size_t kMaxStderrBytes = 1000;

/// Messages of compilers may quote any bytes of a candidate.
void keep_valid_text(CompileAnswer& answer) {
  for (std::string* text : {&answer.detail, &answer.log, &answer.machine_code_digest}) {
    *text = to_valid_utf8(*text);
  }
  for (std::string& feature : answer.features) {
    feature = to_valid_utf8(feature);
  }
}

/// Throws an exception if `text` is not what write_answer() writes.
CompiledModule parse_answer(std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  CompiledModule compiled;
  compiled.answer = compile_answer_of(nlohmann::json::parse(text.substr(0, end)));
  if (compiled.answer.verdict == Verdict::Correct) {
    compiled.module = text.substr(std::min(end + 1, text.size()));
    if (compiled.module.empty()) {
      throw Error("it has no module");
    }
  }
  return compiled;
}

CompileResult unreadable(CompileResult result, const std::string& what) {
  result.verdict = Verdict::Infrastructure;
  result.detail = what + " cannot be read";
  result.facts = {};
  return result;
}

} // namespace

nlohmann::json compile_answer_json(const CompileAnswer& answer) {
  return tasks::write_json(answer);
}

CompileAnswer compile_answer_of(const nlohmann::json& json) {
  CompileAnswer answer;
  tasks::read_json(json, "answer", answer);
  keep_valid_text(answer);
  return answer;
}

CompileAnswer failed_compile(Verdict verdict, std::string detail, std::string log) {
  CompileAnswer answer;
  answer.verdict = verdict;
  answer.log = log.empty() ? detail : std::move(log);
  answer.detail = std::move(detail);
  return answer;
}

void write_answer(const std::function<CompiledModule()>& compile) {
  CompiledModule compiled;
  try {
    compiled = compile();
  } catch (const ElfError& error) {
    compiled = {failed_compile(Verdict::CompileError,
                               std::string("the compiled module cannot be used: ") + error.what())};
  } catch (const std::bad_alloc&) {
    compiled = {
        failed_compile(Verdict::OverLimit, "the source needs more memory than a compile may use")};
  } catch (const std::exception& error) {
    compiled = {failed_compile(Verdict::Infrastructure, error.what())};
  }
  std::cout << json_line(compile_answer_json(compiled.answer)) << '\n'
            << compiled.module << std::flush;
}

CompiledModule read_answer(const process::ChildResult& child) {
  CompiledModule compiled;
  CompileAnswer& answer = compiled.answer;
  if (child.end == process::ChildResult::End::Exited && child.exit_code == 0) {
    try {
      return parse_answer(child.out);
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
  return compiled;
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
