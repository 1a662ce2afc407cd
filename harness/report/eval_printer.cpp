#include "harness/report/eval_printer.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "store/candidate_record.h"
#include "tasks/task_word.h"

#include <ostream>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

// Indents JSON text. A JSON string contains no line end, so no string is changed.
std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') {
      out += "  ";
    }
  }
  return out;
}

} // namespace

EvalPrinter::EvalPrinter(std::ostream& out, const tasks::Task& task, EvalForm form,
                         std::size_t files, std::string_view versus, ShareOfLight light)
    : out_(out), task_(task.name), task_word_(tasks::task_word(task)), versus_(versus), form_(form),
      several_(files > 1), has_table_(!form.json && (form.brief || several_)),
      light_(std::move(light)) {}

EvalPrinter::~EvalPrinter() {
  close();
}

void EvalPrinter::add(const std::string& file, const std::string& digest,
                      const evaluators::EvaluationResult& result, const std::string& machine_code,
                      std::vector<search::Trial> tried) {
  count(result);
  const nlohmann::json brief = form_.brief || has_table_
                                   ? brief_of(file, digest, result, std::move(tried))
                                   : nlohmann::json();
  nlohmann::json document = form_.brief ? nlohmann::json() : document_of(file, digest, result);
  if (!document.is_null() && !machine_code.empty()) {
    document["machine_code"] = machine_code;
  }
  if (form_.json) {
    print_json(form_.brief ? fitted_brief(brief) : document);
  } else if (!form_.brief) {
    print_text(file, document, result.fault);
  }
  if (has_table_) {
    table_.add(brief);
  }
  out_.flush();
}

void EvalPrinter::count(const evaluators::EvaluationResult& result) {
  const bool judged = !result.evaluations.empty();
  const tasks::Verdict verdict =
      judged ? result.evaluations.front().verdict : tasks::Verdict::Infrastructure;
  const bool is_unjudged = verdict == tasks::Verdict::NotJudged;
  any_failure_ = any_failure_ || verdict == tasks::Verdict::Infrastructure ||
                 (is_unjudged && !form_.only_compiled);
  any_wrong_ = any_wrong_ || (verdict != tasks::Verdict::Correct && !is_unjudged);
  if (!judged && first_error_.empty()) {
    first_error_ = result.fault;
  }
}

nlohmann::json EvalPrinter::document_of(const std::string& file, const std::string& digest,
                                        const evaluators::EvaluationResult& result) const {
  if (result.evaluations.empty()) {
    return nullptr;
  }
  nlohmann::json document = tasks::evaluation_json(result.evaluations.front());
  document["task"] = task_;
  document["file"] = to_valid_utf8(file);
  document["digest"] = digest;
  store::put_versus(document, versus_);
  return document;
}

nlohmann::json EvalPrinter::brief_of(const std::string& file, const std::string& digest,
                                     const evaluators::EvaluationResult& result,
                                     std::vector<search::Trial> tried) const {
  BriefFacts facts{task_, file, digest, versus_, form_.only_compiled};
  if (result.evaluations.empty()) {
    return brief_json(facts, result.fault);
  }
  const tasks::Evaluation& evaluation = result.evaluations.front();
  facts.tried = std::move(tried);
  facts.light = light_ ? light_(evaluation) : LightShares{};
  return brief_json(facts, evaluation);
}

void EvalPrinter::print_text(const std::string& file, const nlohmann::json& document,
                             const std::string& fault) {
  out_ << (several_ ? "== " + file + "\n" : "")
       << (document.is_null() ? "not judged: " + fault + "\n" : eval_text(document, task_word_))
       << text_at(document, "machine_code");
}

void EvalPrinter::print_json(const nlohmann::json& document) {
  if (document.is_null()) {
    return;
  }
  const std::string lines = form_.brief ? json_line(document) : document.dump(2);
  if (!several_) {
    out_ << lines << '\n';
    return;
  }
  out_ << (open_ ? ",\n" : "[\n") << (form_.brief ? lines : indented(lines));
  open_ = true;
}

void EvalPrinter::close() {
  if (open_) {
    out_ << "\n]\n" << std::flush;
    open_ = false;
  }
}

ExitCode EvalPrinter::finish() {
  close();
  if (has_table_) {
    out_ << (form_.brief ? "" : "\n") << table_.text();
  }
  if (form_.json && !form_.brief && !first_error_.empty()) {
    throw Error(first_error_);
  }
  return any_failure_ ? ExitCode::Failure : any_wrong_ ? ExitCode::NotCorrect : ExitCode::Done;
}

} // namespace winnow::harness
