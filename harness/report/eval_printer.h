#pragma once

#include "harness/exit_codes.h"
#include "harness/judging/judge_pool.h"

#include <cstddef>
#include <iosfwd>
#include <string>

namespace winnow::harness {

/// Prints what became of each file of `winnow eval`, one after the other, and keeps none of it.
class EvalPrinter {
public:
  /// `files`: how many there are. `json`: one document, for several files an array of them.
  EvalPrinter(std::ostream& out, std::string task, bool json, std::size_t files);
  /// Closes the array, so that what an interruption leaves can be read.
  ~EvalPrinter();
  EvalPrinter(const EvalPrinter&) = delete; // closes once
  EvalPrinter& operator=(const EvalPrinter&) = delete;

  /// `digest`: sha256 of the file's text.
  void add(const std::string& file, const std::string& digest, const JudgeResult& result);
  /// Of all files. Throws Error when one of them has no document to print.
  ExitCode finish();

private:
  void add_text(const std::string& file, const JudgeResult& result);
  void add_json(const std::string& file, const std::string& digest, const JudgeResult& result);
  void close();

  std::ostream& out_;
  const std::string task_;
  const bool json_;
  const bool several_;
  bool open_ = false;        ///< an array
  std::string first_error_;  ///< of a file without evaluations
  bool any_failure_ = false; ///< of the machine
  bool any_wrong_ = false;
};

} // namespace winnow::harness
