#pragma once

#include "evaluators/evaluation/evaluation_request.h"
#include "harness/exit/exit_codes.h"
#include "tasks/task/speedup_versus.h"
#include "tasks/task/task.h"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace winnow::harness {

/// Prints the result of each file of `winnow eval`, one after the other. Keeps no result.
class EvalPrinter {
public:
  /// `files`: the number of files. `json`: prints one document, or an array of documents for
  /// several files. `versus`: tasks::speedup_versus() of the task.
  EvalPrinter(std::ostream& out, const tasks::Task& task, bool json, std::size_t files,
              std::string_view versus = tasks::kVersusBaseline);
  /// Closes the array, so that the output of an interrupted command is valid JSON.
  ~EvalPrinter();
  EvalPrinter(const EvalPrinter&) = delete; // a copy would close the array twice
  EvalPrinter& operator=(const EvalPrinter&) = delete;

  /// `digest`: SHA-256 of the file's text.
  void add(const std::string& file, const std::string& digest,
           const evaluators::EvaluationResult& result);
  /// The exit code for all files. Throws Error if one of them has no document to print.
  ExitCode finish();

private:
  void print(const nlohmann::json& document);
  void close();

  std::ostream& out_;
  const std::string task_;      ///< its name
  const std::string task_word_; ///< for a command that a user types
  const std::string versus_;
  const bool json_;
  const bool several_;
  bool open_ = false;        ///< an array has been opened
  std::string first_error_;  ///< message for the first file without evaluations
  bool any_failure_ = false; ///< the machine failed to judge at least one file
  bool any_wrong_ = false;
};

} // namespace winnow::harness
