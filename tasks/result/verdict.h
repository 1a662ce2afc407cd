#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// The judgement of a candidate. The store, the CLI, the prompts and the worker protocol use it.
/// The numbers are stored: append only. `NotJudged` is not `Correct`.
enum class Verdict : std::uint8_t {
  NotJudged = 0,
  BadReply = 1, ///< the model's reply contains no kernel file
  BadPlan = 2,  ///< the launch plan is malformed, or out of range for a shape
  CompileError = 3,
  OverLimit = 4,   ///< the compiler or a run exceeded a memory, output or resource limit
  LaunchError = 5, ///< the device refused or aborted a launch (deadlock, divergent barrier, trap)
  Timeout = 6,
  Crashed = 7, ///< a signal ended the process, and no other verdict explains the signal
  OutOfBounds = 8,
  ModifiedInput = 9,
  UnwrittenOutput = 10,
  Wrong = 11,
  Unstable = 12, ///< right in some launches and wrong in others, or a data race
  LowPrecision = 13,
  WrongUnseen = 14, ///< fails only on hidden shapes
  Implausible = 15, ///< faster than the hardware can be
  Unsupported = 16, ///< this device cannot run the candidate; not a fault of the candidate
  Correct = 17,
  Infrastructure = 18, ///< a fault of the machine: retried, never blamed on a candidate
  Refused = 19,        ///< by --precheck-cmd or the verifier (a role): neither compiled nor run
};

std::string_view to_string(Verdict verdict); ///< snake_case: "out_of_bounds"
std::optional<Verdict> verdict_from_string(std::string_view text);
const std::vector<Verdict>& all_verdicts();
/// A short phrase for people: "writes or reads outside a buffer".
std::string_view describe(Verdict verdict);

/// The stages of an evaluation. The numbers are stored: append only.
enum class Stage : std::uint8_t {
  Parse = 1,
  Compile = 2,
  Tiny = 3,
  Check = 4,
  Search = 5,
  Time = 6,
  Promotion = 7,
  Done = 8,
  HeldOut = 9, ///< for a final report only
};

std::string_view to_string(Stage stage);

} // namespace winnow::tasks
