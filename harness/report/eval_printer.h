#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "harness/brief/brief.h"
#include "harness/exit/exit_codes.h"
#include "harness/report/variants_table.h"
#include "tasks/task/speedup_versus.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// What `winnow eval` prints.
struct EvalForm {
  bool json = false;  ///< one document, or an array of documents for several files
  bool brief = false; ///< documents of fewer than kBriefBytes bytes; as text, only the table
  bool only_compiled = false; ///< nothing is run
};

/// Prints the result of each file of `winnow eval`, one after the other, and for several files a
/// table of all of them. Keeps no more than the rows of this table.
class EvalPrinter {
public:
  using ShareOfLight = std::function<LightShares(const tasks::Evaluation&)>;

  /// `files`: the number of files. `versus`: tasks::speedup_versus() of the task. `light`: empty:
  /// not known.
  EvalPrinter(std::ostream& out, const tasks::Task& task, EvalForm form, std::size_t files,
              std::string_view versus = tasks::kVersusBaseline, ShareOfLight light = {});
  /// Closes the array, so that the output of an interrupted command is valid JSON.
  ~EvalPrinter();
  EvalPrinter(const EvalPrinter&) = delete; // a copy would close the array twice
  EvalPrinter& operator=(const EvalPrinter&) = delete;

  /// `digest`: SHA-256 of the file's text. `machine_code`: as text; empty: not asked for. A brief
  /// has no room for it. `tried`: for a brief.
  void add(const std::string& file, const std::string& digest,
           const evaluators::EvaluationResult& result, const std::string& machine_code = {},
           std::vector<search::Trial> tried = {});
  /// The exit code for all files. Throws Error if one of them has no document to print.
  ExitCode finish();

private:
  nlohmann::json brief_of(const std::string& file, const std::string& digest,
                          const evaluators::EvaluationResult& result,
                          std::vector<search::Trial> tried) const;
  nlohmann::json document_of(const std::string& file, const std::string& digest,
                             const evaluators::EvaluationResult& result) const;
  void count(const evaluators::EvaluationResult& result);
  void print_text(const std::string& file, const nlohmann::json& document,
                  const std::string& fault);
  void print_json(const nlohmann::json& document);
  void close();

  std::ostream& out_;
  const std::string task_;      ///< its name
  const std::string task_word_; ///< for a command that a user types
  const std::string versus_;
  const EvalForm form_;
  const bool several_;
  const bool has_table_;
  const ShareOfLight light_;
  VariantsTable table_;
  bool open_ = false;        ///< an array has been opened
  std::string first_error_;  ///< message for the first file without evaluations
  bool any_failure_ = false; ///< the machine failed to judge at least one file
  bool any_wrong_ = false;
};

} // namespace winnow::harness
