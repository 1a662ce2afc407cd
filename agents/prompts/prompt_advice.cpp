#include "agents/prompts/prompt_sections.h"

namespace winnow::agents {
namespace {

using tasks::Verdict;

bool is_about_values(Verdict verdict) {
  return verdict == Verdict::Wrong || verdict == Verdict::Unstable ||
         verdict == Verdict::LowPrecision || verdict == Verdict::WrongUnseen ||
         verdict == Verdict::UnwrittenOutput;
}

std::string repair_advice(Verdict verdict) {
  switch (verdict) {
  case Verdict::BadReply:
  case Verdict::BadPlan:
    return "Keep the idea of this attempt and mend what the message names.";
  case Verdict::CompileError:
    return "Keep the idea of this attempt and repair the compile errors.";
  case Verdict::Unsupported:
    return "Write the same idea without the construct that this device cannot run.";
  case Verdict::Timeout:
  case Verdict::OverLimit:
    return "Find the loop or the size that gets out of hand, or start again from a correct kernel.";
  default:
    return "Find the cause of the failure first and mend it. If you cannot name the cause, start "
           "again from a correct kernel.";
  }
}

/// The search chose not to show the latest attempt.
std::string advice_without_previous(const ProposalContext& context) {
  const bool is_first = context.history.empty();
  const Verdict latest = is_first ? Verdict::NotJudged : context.history.back().verdict;
  if (context.best && latest == Verdict::Correct) {
    return "The latest attempt was correct but clearly slower than the best kernel, so its code is "
           "not shown. Do not repeat its idea. Start from the best kernel and try something else.";
  }
  if (is_about_values(latest)) {
    const bool none_is_correct = !context.best && !context.baseline;
    return none_is_correct
               ? "The latest attempts gave wrong results, so their code is not shown. Start again "
                 "with a plain kernel whose answers are right."
               : "The latest attempts gave wrong results, so their code is not shown. Start again "
                 "from a kernel that is known to be correct.";
  }
  return context.best ? "Write a kernel that is faster than the best one so far, by an idea of its "
                        "own rather than by other numbers."
                      : "Write a correct kernel that is faster than the baseline. Say first in one "
                        "sentence what limits this work on this device, and what your kernel does "
                        "about it.";
}

std::string advice_after_correct(const ProposalContext& context) {
  if (context.best && context.best->number == context.previous->number) {
    return "The previous attempt is the best kernel so far. Say in one sentence what limits it "
           "now, "
           "then change what attacks that limit: the algorithm, the data layout, or how the work "
           "is "
           "split. Where shapes have different limits, each may get a change of its own, in a "
           "launch "
           "of its own by `when`. Leave pure numbers to `params`. If its times are within 5 % of "
           "the least times at every shape, say that nothing worthwhile is left and send it as it "
           "is.";
  }
  return "The previous attempt is correct, but not the best kernel. Combine what is good in both, "
         "or "
         "attack what limits the best one. Do not repeat an idea that was slower.";
}

} // namespace

MaybeValues render_improve(const ProposalContext& context) {
  if (!context.previous) {
    return Values{{"advice", advice_without_previous(context)}};
  }
  const Verdict verdict = context.previous->evaluation.verdict;
  return Values{{"advice", verdict == Verdict::Correct ? advice_after_correct(context)
                                                       : repair_advice(verdict)}};
}

MaybeValues render_repair(const ProposalContext& context) {
  return Values{
      {"advice", context.parent ? repair_advice(context.parent->evaluation.verdict) : ""}};
}

MaybeValues render_reply_json(const ProposalContext& context) {
  if (!context.structured) {
    return std::nullopt;
  }
  return Values{{"content", context.op == "diff"
                                ? "these blocks (or the complete kernel file)"
                                : "the complete kernel file, plan and device code,"}};
}

} // namespace winnow::agents
