// Examples of code, for calls that show no kernel which has the same.
#include "agents/prompts/prompt_sections.h"

#include <algorithm>

namespace winnow::agents {
namespace {

bool has_code(const Attempt& attempt, std::string_view mark) {
  return attempt.text.find(mark) != std::string::npos;
}

/// Whether the prompt has use for an example of code with this mark. Calls for a new kernel have,
/// if no kernel shows it; a repair, if its kernel tries it. The other operators keep what their
/// parents are made of.
bool needs_example(const ProposalContext& context, std::string_view mark) {
  const std::vector<const Attempt*> shown = shown_kernels(context);
  const bool is_shown = std::any_of(
      shown.begin(), shown.end(), [&](const Attempt* attempt) { return has_code(*attempt, mark); });
  const bool makes_a_new_kernel =
      context.op == "seed" || context.op == "improve" || context.op == "rewrite";
  return context.op == "repair" ? is_shown : makes_a_new_kernel && !is_shown;
}

/// The kernel to repair waits for something that does not come.
bool hangs(const ProposalContext& context) {
  const tasks::Verdict verdict =
      context.parent ? context.parent->evaluation.verdict : tasks::Verdict::NotJudged;
  return verdict == tasks::Verdict::Timeout || verdict == tasks::Verdict::LaunchError;
}

} // namespace

std::vector<const Attempt*> shown_kernels(const ProposalContext& context) {
  std::vector<const Attempt*> shown;
  const auto add = [&](const std::optional<Attempt>& attempt) {
    if (attempt && !attempt->text.empty()) {
      shown.push_back(&*attempt);
    }
  };
  if (context.op == "improve") {
    add(context.best);
    add(context.previous);
  } else if (context.op != "seed") {
    add(context.parent);
    if (context.op == "crossover" || context.op == "contrast") {
      add(context.second);
    }
  }
  return shown;
}

bool builds_on_a_kernel(const ProposalContext& context) {
  const std::vector<const Attempt*> shown = shown_kernels(context);
  return std::any_of(shown.begin(), shown.end(), [](const Attempt* attempt) {
    return attempt->evaluation.verdict == tasks::Verdict::Correct;
  });
}

MaybeValues render_example_file(const ProposalContext& context) {
  return shown_if(context.task == nullptr || shown_kernels(context).empty());
}

MaybeValues render_tensor_map_example(const ProposalContext& context) {
  return shown_if(render_tensor_maps(context) && !render_ring(context) && context.op != "repair" &&
                  needs_example(context, "tensor_maps"));
}

MaybeValues render_wgmma(const ProposalContext& context) {
  return shown_if(multiplies_by_wgmma(context) && needs_example(context, "wgmma.mma_async") &&
                  !(context.op == "repair" && hangs(context)));
}

MaybeValues render_ring(const ProposalContext& context) {
  return shown_if(multiplies_by_wgmma(context) && needs_example(context, "mbarrier.try_wait") &&
                  (context.op == "seed" || (context.op == "repair" && hangs(context))));
}

} // namespace winnow::agents
