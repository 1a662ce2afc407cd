#pragma once

#include "harness/exit/exit_codes.h"

#include <string>

namespace winnow::harness {

class VisibleOutput;

/// Says why a command fails: on stderr, and for a program, which has asked for JSON, on stdout,
/// too (schema winnow.error). There it says nothing if the command has begun its output, so that
/// this stays one document.
class ErrorPrinter {
public:
  ErrorPrinter(bool json, const VisibleOutput& output) : json_(json), output_(output) {}

  /// A failure, with what to do about it.
  int failure(const std::string& what, const std::string& remedy, ExitCode code) const;
  /// A command line that cannot be parsed. `command`: "winnow tasks show".
  int misuse(const std::string& what, const std::string& command) const;

private:
  void print_json(const std::string& what, const std::string& remedy, ExitCode code) const;

  bool json_;
  const VisibleOutput& output_;
};

} // namespace winnow::harness
