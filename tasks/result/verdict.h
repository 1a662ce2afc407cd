#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// What became of a candidate. Used by the store, the CLI, the prompts and the worker protocol; the
/// numbers are stored: append only. `NotJudged` is not `Correct`.
enum class Verdict : std::uint8_t {
  NotJudged = 0,
  BadReply = 1, ///< no kernel file could be taken from the model's reply
  BadPlan = 2,  ///< the launch plan is malformed or out of range for a shape
  CompileError = 3,
  OverLimit = 4,   ///< compiler or run exceeded memory, output or resource limits
  LaunchError = 5, ///< the device refused or aborted a launch (deadlock, divergent barrier, trap)
  Timeout = 6,
  Crashed = 7, ///< the process died by a signal that no other verdict explains
  OutOfBounds = 8,
  ModifiedInput = 9,
  UnwrittenOutput = 10,
  Wrong = 11,
  Unstable = 12, ///< same input, different answers; or a data race that says so
  LowPrecision = 13,
  WrongUnseen = 14, ///< fails hidden shapes only
  Implausible = 15, ///< faster than physics
  Unsupported = 16, ///< this device cannot run it: not held against the candidate
  Correct = 17,
  Infrastructure = 18, ///< the machine's fault: retried, never blamed on a candidate
  Refused = 19,        ///< by the user's own checker (--precheck-cmd): neither compiled nor run
};

std::string_view to_string(Verdict verdict); ///< snake_case: "out_of_bounds"
std::optional<Verdict> verdict_from_string(std::string_view text);
const std::vector<Verdict>& all_verdicts();
/// One plain phrase for a person: "writes or reads outside a buffer".
std::string_view describe(Verdict verdict);

/// How far an evaluation came. The numbers are stored: append only.
enum class Stage : std::uint8_t {
  Parse = 1,
  Compile = 2,
  Tiny = 3,
  Check = 4,
  Search = 5,
  Time = 6,
  Promotion = 7,
  Done = 8,
  HeldOut = 9, ///< of a final report
};

std::string_view to_string(Stage stage);
std::optional<Stage> stage_from_string(std::string_view text);

} // namespace winnow::tasks
