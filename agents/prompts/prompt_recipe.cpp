#include "agents/prompts/prompt_recipe.h"

#include "agents/prompts/prompt_sections.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr Operators kImprove = 1U << 0U;
constexpr Operators kSeed = 1U << 1U;
constexpr Operators kRewrite = 1U << 2U;
constexpr Operators kDiff = 1U << 3U;
constexpr Operators kCrossover = 1U << 4U;
constexpr Operators kContrast = 1U << 5U;
constexpr Operators kRepair = 1U << 6U;
constexpr Operators kFeatures = 1U << 7U;
constexpr Operators kInsights = 1U << 8U;
constexpr Operators kAll = (1U << 9U) - 1; ///< that ask for a kernel
constexpr Operators kJudge = 1U << 9U;
constexpr Operators kVerify = 1U << 10U;
constexpr Operators kMeta = 1U << 11U;
constexpr Operators kForecast = 1U << 12U;
constexpr Operators kRoles = kJudge | kVerify | kMeta | kForecast;
/// These begin from `parent`.
constexpr Operators kParent =
    kRewrite | kDiff | kCrossover | kContrast | kRepair | kFeatures | kInsights;
constexpr Operators kTwoParents = kCrossover | kContrast;

constexpr std::size_t kKiB = 1024;
/// For the code of one attempt (at most 56 KiB of it are shown) and what is said about it.
constexpr std::size_t kAttempt = 72 * kKiB;

constexpr std::string_view kSystem = "system";
constexpr std::string_view kUser = "user";

std::vector<Section> make_recipe() {
  using enum Stability;
  using C = ProposalContext;
  const auto always = [](const C&) { return shown_if(true); };
  return {
      // clang-format off
      {"rules", "system", {}, always, kSystem, Stable, 8 * kKiB, kAll},
      {"role", "role_judge", {}, always, kSystem, Stable, 4 * kKiB, kJudge},
      {"role", "role_verify", {}, always, kSystem, Stable, 4 * kKiB, kVerify},
      {"role", "role_meta", {}, always, kSystem, Stable, 4 * kKiB, kMeta},
      {"role", "role_forecast", {}, always, kSystem, Stable, 4 * kKiB, kForecast},
      {"kernel file", "kernel_file", {"variants"}, render_kernel_file, kSystem, Stable, 8 * kKiB, kAll | kVerify | kForecast},
      {"constants", "kernel_file_const", {}, [](const C& c) { return shown_if(c.device != "cpu"); }, kSystem, Stable, 1 * kKiB, kAll | kVerify | kForecast},
      {"cooperative launches", "kernel_file_cooperative", {}, [](const C& c) { return shown_if(c.facts.cooperative); }, kSystem, Stable, 1 * kKiB, kAll | kVerify | kForecast},
      {"clusters", "kernel_file_clusters", {}, [](const C& c) { return shown_if(c.facts.max_cluster_blocks > 1); }, kSystem, Stable, 1 * kKiB, kAll | kVerify | kForecast},
      {"loops", "kernel_file_loops", {}, render_loops, kUser, Stable, 1 * kKiB, kAll | kVerify | kForecast},
      {"tensor maps", "kernel_file_tensor_maps", {}, render_tensor_maps, kUser, Stable, 2 * kKiB, kAll | kVerify | kForecast},
      {"prepare", "prepare", {"static"}, render_prepare, kUser, Stable, 2 * kKiB, kAll | kVerify | kForecast},
      {"task", "task",
       {"title", "name", "description", "axes", "tensors", "scalars", "tolerance", "precision",
        "operations", "bytes", "shapes", "sizes"},
       render_task, kUser, Stable, 24 * kKiB, kAll | kRoles},
      {"device", "device", {"device", "device_name", "facts", "limits"}, render_device, kUser, Stable, 2 * kKiB, kAll | kRoles},
      {"cpu", "device_cpu", {}, [](const C& c) { return shown_if(c.device == "cpu"); }, kUser, Stable, 3 * kKiB, kAll | kRoles},
      {"cuda", "device_cuda", {"architecture", "instructions", "boundary", "static_shared"}, render_cuda, kUser, Stable, 3 * kKiB, kAll | kRoles},
      {"hip", "device_hip", {"architecture", "warp_size", "boundary"}, render_hip, kUser, Stable, 2 * kKiB, kAll | kRoles},
      {"work", "work_attention", {"intensity", "design"}, [](const C& c) { return render_work(c, "work_attention"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_decode", {"intensity"}, [](const C& c) { return render_work(c, "work_decode"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_product", {"intensity", "design"}, [](const C& c) { return render_work(c, "work_product"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_thin_product", {"intensity"}, [](const C& c) { return render_work(c, "work_thin_product"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_convolution", {"intensity"}, [](const C& c) { return render_work(c, "work_convolution"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_scan", {}, [](const C& c) { return render_work(c, "work_scan"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_reduction", {}, [](const C& c) { return render_work(c, "work_reduction"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_sparse", {}, [](const C& c) { return render_work(c, "work_sparse"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"work", "work_streaming", {}, [](const C& c) { return render_work(c, "work_streaming"); }, kUser, Stable, 2 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"bounds", "bounds", {"ceilings", "whose", "bounds", "usual"}, render_bounds, kUser, Stable, 4 * kKiB, kAll | kJudge | kMeta | kForecast},
      {"baseline", "baseline", {"timings"}, render_baseline, kUser, Stable, 16 * kKiB, kAll},
      {"eager", "baseline_eager", {}, [](const C& c) { return shown_if(c.task != nullptr && !c.baseline); }, kUser, Stable, 1 * kKiB, kAll},

      {"module", "module", {"reference", "reference_python"}, render_module, kUser, Slow, 16 * kKiB, kAll | kRoles},
      {"example of a kernel file", "example_kernel_file", {}, render_example_file, kUser, Slow, 4 * kKiB, kAll},
      {"example of tensor maps", "example_tensor_maps", {}, render_tensor_map_example, kUser, Slow, 4 * kKiB, kAll},
      {"wgmma", "example_wgmma", {}, render_wgmma, kUser, Slow, 6 * kKiB, kAll},
      {"ring of stages", "example_ring", {}, render_ring, kUser, Slow, 6 * kKiB, kAll},
      {"baseline's code", "baseline_code", {"code"}, render_baseline_code, kUser, Slow, kAttempt, kAll},
      {"guide", "guide", {"words"}, [](const C& c) { return text_value("words", c.guide); }, kUser, Slow, 4 * kKiB, (kAll & ~kRepair) | kMeta},
      {"lessons", "lessons", {"lines"}, [](const C& c) { return list_value("lines", c.lessons); }, kUser, Slow, 6 * kKiB, kAll & ~kRepair},
      {"exemplar", "exemplar", {"name", "title", "code"}, render_exemplar, kUser, Slow, 24 * kKiB, kAll & ~kRepair},
      {"families", "families", {"lines"}, render_families, kUser, Slow, 6 * kKiB, kSeed},
      {"do not", "do_not", {"lines"}, render_do_not, kUser, Slow, 6 * kKiB, (kAll & ~kRepair) | kJudge | kMeta},
      {"standing", "standing", {"number", "speedup", "versus"}, render_standing, kUser, Slow, 1 * kKiB, kAll & ~(kImprove | kRepair)},
      {"best", "best", {"number", "speedup", "versus", "code", "feedback"}, render_best, kUser, Slow, kAttempt, kImprove},

      {"parent", "parent", {"title", "number", "code", "feedback"}, render_parent, kUser, Volatile, kAttempt, kParent | kJudge},
      {"candidate", "candidate", {"code"}, render_candidate, kUser, Volatile, kAttempt, kVerify | kForecast},
      {"second", "second", {"title", "number", "code", "feedback"}, render_second, kUser, Volatile, kAttempt, kTwoParents | kForecast},
      {"insights", "insights", {"lines"}, render_families, kUser, Volatile, 6 * kKiB, kInsights},
      {"surface", "surface", {"surface"}, render_surface, kUser, Volatile, 4 * kKiB, kImprove | kRewrite | kDiff | kCrossover | kFeatures | kInsights},
      {"history", "history", {"lines"}, render_history, kUser, Volatile, 8 * kKiB, kImprove | kRewrite | kDiff | kFeatures | kInsights | kJudge | kMeta},
      {"previous", "previous", {"number", "code", "feedback"}, render_previous, kUser, Volatile, kAttempt, kImprove},
      {"advice", "advice", {"advice"}, [](const C& c) { return text_value("advice", c.advice); }, kUser, Volatile, 3 * kKiB, kAll & ~(kSeed | kRepair)},
      {"evidence", "evidence", {"lines"}, [](const C& c) { return list_value("lines", c.evidence); }, kUser, Volatile, 8 * kKiB, kJudge},
      {"evidence", "parent_facts", {"lines"}, [](const C& c) { return list_value("lines", c.evidence); }, kUser, Volatile, 8 * kKiB, kForecast},
      {"versions", "versions", {"lines"}, [](const C& c) { return list_value("lines", c.versions); }, kUser, Volatile, 24 * kKiB, kMeta},
      {"record", "record", {"record"}, [](const C& c) { return text_value("record", c.record); }, kUser, Volatile, 1 * kKiB, kRoles},
      {"question", "question_improve", {"advice"}, render_improve, kUser, Volatile, 2 * kKiB, kImprove},
      {"question", "question_seed", {}, always, kUser, Volatile, 2 * kKiB, kSeed},
      {"question", "question_rewrite", {}, always, kUser, Volatile, 2 * kKiB, kRewrite},
      {"question", "question_diff", {}, always, kUser, Volatile, 2 * kKiB, kDiff},
      {"question", "question_crossover", {}, always, kUser, Volatile, 2 * kKiB, kCrossover},
      {"question", "question_contrast", {}, always, kUser, Volatile, 2 * kKiB, kContrast},
      {"question", "question_repair", {"advice"}, render_repair, kUser, Volatile, 2 * kKiB, kRepair},
      {"question", "question_features", {}, always, kUser, Volatile, 2 * kKiB, kFeatures},
      {"question", "question_insights", {}, always, kUser, Volatile, 2 * kKiB, kInsights},
      {"question", "question_judge", {}, always, kUser, Volatile, 2 * kKiB, kJudge},
      {"question", "question_verify", {}, always, kUser, Volatile, 2 * kKiB, kVerify},
      {"question", "question_forecast", {"bins"}, [](const C& c) { return list_value("bins", c.bins); }, kUser, Volatile, 2 * kKiB, kForecast},
      {"question", "question_meta", {}, always, kUser, Volatile, 2 * kKiB, kMeta},
      {"mission", "mission", {"words"}, [](const C& c) { return text_value("words", c.mission); }, kUser, Volatile, 1 * kKiB, kAll & ~kRepair},
      {"reply", "reply_diff", {}, always, kUser, Volatile, 2 * kKiB, kDiff},
      {"reply", "reply_file", {}, [](const C& c) { return shown_if(!c.structured); }, kUser, Volatile, 1 * kKiB, kAll & ~kDiff},
      {"reply", "reply_json", {"content"}, render_reply_json, kUser, Volatile, 1 * kKiB, kAll},
      // clang-format on
  };
}

/// The line that closes the fenced block in which `text` ends; empty if it ends in none.
std::string closing_fence(std::string_view text) {
  std::string open;
  for (const std::string_view line : split_lines(text)) {
    if (!open.empty()) {
      open = line.starts_with(open) ? "" : open;
    } else if (line.starts_with("```") || line.starts_with("~~~")) {
      open = line.substr(0, line.find_first_not_of(line.front()));
    }
  }
  return open.empty() ? open : open + "\n";
}

} // namespace

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names{"improve", "seed",      "rewrite",
                                              "diff",    "crossover", "contrast",
                                              "repair",  "features",  "insights"};
  return names;
}

const std::vector<std::string>& role_operator_names() {
  static const std::vector<std::string> names{"judge", "verify", "meta", "forecast"};
  return names;
}

Operators operator_bit(std::string_view name) {
  std::vector<std::string> names = operator_names();
  names.insert(names.end(), role_operator_names().begin(), role_operator_names().end());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(fmt::format("no operator has the name '{}'{}", name, suggestion(name, names)));
  }
  return 1U << static_cast<unsigned>(found - names.begin());
}

void require_attempts(const ProposalContext& context) {
  const Operators wanted = operator_bit(context.op);
  if ((wanted & (kParent | kJudge | kVerify | kForecast)) != 0 && !context.parent) {
    throw Error(fmt::format("the operator '{}' needs a parent", context.op));
  }
  if ((wanted & (kTwoParents | kForecast)) != 0 && !context.second) {
    throw Error(fmt::format("the operator '{}' needs a second kernel", context.op));
  }
}

const std::vector<Section>& recipe() {
  static const std::vector<Section> sections = make_recipe();
  return sections;
}

std::string cut_to_budget(const std::string& text, std::size_t budget, std::size_t& left_out) {
  constexpr std::size_t kNoteBytes = 64; // the note, and the line that closes a block
  left_out = 0;
  if (text.size() <= budget) {
    return text;
  }
  const std::size_t most = budget > kNoteBytes ? budget - kNoteBytes : 0;
  const std::size_t line_end = most > 0 ? text.rfind('\n', most - 1) : std::string::npos;
  std::string kept = line_end == std::string::npos ? "" : text.substr(0, line_end + 1);
  left_out = text.size() - kept.size();
  kept += closing_fence(kept);
  return kept + fmt::format("[... {} more bytes]\n", left_out);
}

} // namespace winnow::agents
