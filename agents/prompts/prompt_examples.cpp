// Examples of code, for calls that show no kernel which has the same.
#include "agents/prompts/prompt_sections.h"

#include <algorithm>

namespace winnow::agents {
namespace {

/// The kernels that the prompt of this operator shows in full.
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

bool has_code(const Attempt& attempt, std::string_view mark) {
  return attempt.text.find(mark) != std::string::npos;
}

/// Whether the prompt has use for an example of code with this mark. A repair has use for the
/// technique that its kernel tries; a small change for none; other calls for what no kernel shows.
bool needs_example(const ProposalContext& context, std::string_view mark) {
  const std::vector<const Attempt*> shown = shown_kernels(context);
  const bool is_shown = std::any_of(
      shown.begin(), shown.end(), [&](const Attempt* attempt) { return has_code(*attempt, mark); });
  return context.op == "repair" ? is_shown : !is_shown && (shown.empty() || context.op != "diff");
}

constexpr std::string_view kWgmma = "wgmma.mma_async";

} // namespace

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
  const bool is_in_the_ring = render_wgmma(context).has_value();
  return shown_if(render_tensor_maps(context) && !is_in_the_ring &&
                  needs_example(context, "tensor_maps"));
}

MaybeValues render_wgmma(const ProposalContext& context) {
  return shown_if(context.facts.tensor_maps && multiplies_by_wgmma(context) &&
                  needs_example(context, kWgmma));
}

MaybeValues render_ring(const ProposalContext& context) {
  return shown_if(render_wgmma(context) && needs_example(context, "mbarrier.try_wait"));
}

} // namespace winnow::agents
