#include "tasks/result/verdict.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace winnow::tasks {
namespace {

struct VerdictText {
  Verdict verdict;
  std::string_view name;
  std::string_view description;
};

constexpr std::array kVerdicts{
    VerdictText{Verdict::NotJudged, "not_judged", "was not judged"},
    VerdictText{Verdict::BadReply, "bad_reply", "no kernel file could be taken from the reply"},
    VerdictText{Verdict::BadPlan, "bad_plan", "the launch plan is malformed or out of range"},
    VerdictText{Verdict::CompileError, "compile_error", "does not compile"},
    VerdictText{Verdict::OverLimit, "over_limit", "exceeds a memory, output or resource limit"},
    VerdictText{Verdict::LaunchError, "launch_error", "the device refused or aborted a launch"},
    VerdictText{Verdict::Timeout, "timeout", "did not end in time"},
    VerdictText{Verdict::Crashed, "crashed", "the process died by a signal"},
    VerdictText{Verdict::OutOfBounds, "out_of_bounds", "writes or reads outside a buffer"},
    VerdictText{Verdict::ModifiedInput, "modified_input", "changes an input"},
    VerdictText{Verdict::UnwrittenOutput, "unwritten_output",
                "leaves elements of an output unwritten"},
    VerdictText{Verdict::Wrong, "wrong", "gives wrong values"},
    VerdictText{Verdict::Unstable, "unstable", "is right in some launches and wrong in others"},
    VerdictText{Verdict::LowPrecision, "low_precision",
                "computes with less precision than the task allows"},
    VerdictText{Verdict::WrongUnseen, "wrong_unseen",
                "is right on the shapes it was shown and fails hidden ones"},
    VerdictText{Verdict::Implausible, "implausible", "has a time that this device cannot reach"},
    VerdictText{Verdict::Unsupported, "unsupported", "cannot run on this device"},
    VerdictText{Verdict::Correct, "correct", "is correct"},
    VerdictText{Verdict::Infrastructure, "infrastructure",
                "could not be judged: the machine or a tool failed"},
    VerdictText{Verdict::Refused, "refused",
                "was refused before it was compiled, by the external check or the verifier"},
};

const VerdictText* find(Verdict verdict) {
  const auto* found = std::find_if(kVerdicts.begin(), kVerdicts.end(),
                                   [&](const VerdictText& t) { return t.verdict == verdict; });
  return found == kVerdicts.end() ? nullptr : found;
}

} // namespace

std::string_view to_string(Verdict verdict) {
  const VerdictText* text = find(verdict);
  return text != nullptr ? text->name : "unknown_verdict";
}

std::optional<Verdict> verdict_from_string(std::string_view text) {
  const VerdictText* known = find_named(kVerdicts, text);
  return known == nullptr ? std::nullopt : std::optional(known->verdict);
}

const std::vector<Verdict>& all_verdicts() {
  static const auto all = each<Verdict>(kVerdicts, &VerdictText::verdict);
  return all;
}

std::string_view describe(Verdict verdict) {
  const VerdictText* text = find(verdict);
  return text != nullptr ? text->description : "has a verdict that this version does not know";
}

std::string_view to_string(Stage stage) {
  return name_by_number(stage, {"unknown_stage", "parse", "compile", "tiny", "check", "search",
                                "time", "promotion", "done", "held_out"});
}

} // namespace winnow::tasks
