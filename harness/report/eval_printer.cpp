#include "harness/report/eval_printer.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/report/eval_report.h"
#include "harness/report/json_table.h"
#include "store/candidate_record.h"
#include "tasks/task_word.h"

#include <ostream>

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

EvalPrinter::EvalPrinter(std::ostream& out, const tasks::Task& task, bool json, std::size_t files,
                         std::string_view versus)
    : out_(out), task_(task.name), task_word_(tasks::task_word(task)), versus_(versus), json_(json),
      several_(files > 1) {}

EvalPrinter::~EvalPrinter() {
  close();
}

void EvalPrinter::add(const std::string& file, const std::string& digest,
                      const evaluators::EvaluationResult& result) {
  const bool judged = !result.evaluations.empty();
  const tasks::Verdict verdict =
      judged ? result.evaluations.front().verdict : tasks::Verdict::Infrastructure;
  any_failure_ = any_failure_ || verdict == tasks::Verdict::Infrastructure ||
                 verdict == tasks::Verdict::NotJudged;
  any_wrong_ = any_wrong_ || verdict != tasks::Verdict::Correct;
  if (!judged && first_error_.empty()) {
    first_error_ = result.fault;
  }
  if (!json_ && several_) {
    out_ << "== " << file << '\n';
  }
  if (judged) {
    nlohmann::json document = tasks::evaluation_json(result.evaluations.front());
    document["task"] = task_;
    document["file"] = to_valid_utf8(file);
    document["digest"] = digest;
    store::put_versus(document, versus_);
    print(document);
  } else if (!json_) {
    out_ << "not judged: " << result.fault << '\n';
  }
  out_.flush();
}

void EvalPrinter::print(const nlohmann::json& document) {
  if (!json_) {
    out_ << eval_text(document, task_word_);
    return;
  }
  const std::string lines = document.dump(2);
  if (!several_) {
    out_ << lines << '\n';
    return;
  }
  out_ << (open_ ? ",\n" : "[\n") << indented(lines);
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
  if (json_ && !first_error_.empty()) {
    throw Error(first_error_);
  }
  return any_failure_ ? ExitCode::Failure : any_wrong_ ? ExitCode::NotCorrect : ExitCode::Done;
}

} // namespace winnow::harness
