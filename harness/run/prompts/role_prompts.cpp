#include "harness/run/prompts/role_prompts.h"

#include "agents/roles/role_reply.h"
#include "harness/run/prompts/role_facts.h"
#include "profiling/statistics/proportion.h"
#include "search/speed_bins.h"
#include "store/advice.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

/// The words of the meta-prompter's reply to this call; empty: the call has no useful reply.
std::string guide_of(const Journal& journal, const std::string& variant) {
  const auto advice =
      variant.empty() ? std::nullopt : journal.store().find_advice(journal.run(), variant);
  return advice && !advice->content.empty()
             ? nlohmann::json::parse(advice->content).at("words").get<std::string>()
             : "";
}

std::string count_text(std::int64_t count, std::int64_t all) {
  const profiling::Proportion share = profiling::wilson_interval(count, all);
  return fmt::format("{} of {} ({:.0f} %, 95 % interval {:.0f} to {:.0f} %)", count, all,
                     100 * share.value, 100 * share.low, 100 * share.high);
}

std::string judge_record_text(const store::JudgeRecord& record) {
  if (record.scored == 0) {
    return "";
  }
  return fmt::format("The direction of your predicted effects was right in {}. The median error of "
                     "their size was {:.0f} points of a per cent.",
                     count_text(record.correct, record.scored), record.median_error);
}

std::string verifier_record_text(const store::VerifierRecord& record) {
  const std::int64_t audited = record.audited_failed + record.audited_correct;
  const std::int64_t accepted = record.accepted_failed + record.accepted_correct;
  std::string text;
  if (audited > 0) {
    text = fmt::format("Of the files that you rejected and that ran anyway, {} failed.",
                       count_text(record.audited_failed, audited));
  }
  if (accepted > 0) {
    text += fmt::format("{}Of the files that you accepted, {} failed.", text.empty() ? "" : " ",
                        count_text(record.accepted_failed, accepted));
  }
  return text;
}

std::string forecast_record_text(const store::ForecastRecord& record) {
  if (record.measured == 0) {
    return "";
  }
  return fmt::format("The mean ranked probability score of your {} measured forecasts is {:.3f}. A "
                     "forecast from measured kernels that are like the candidate, without a model, "
                     "had {:.3f}. 0 is best, 1 is worst.",
                     record.measured, record.score.value(), record.model_free.value());
}

std::vector<std::string> bin_lines() {
  std::vector<std::string> lines;
  for (std::size_t bin = 0; bin < search::kSpeedBins; ++bin) {
    lines.push_back(search::speed_bin_text(bin));
  }
  return lines;
}

std::vector<std::string> version_lines(const Journal& journal, const std::string& task) {
  std::vector<std::string> lines;
  for (const store::PromptArmTotals& arm :
       store::prompt_arm_totals(journal.store(), journal.run(), store::PromptArms::Variant, task)) {
    const std::string words = guide_of(journal, arm.arm);
    lines.push_back(fmt::format("{} kernels, mean gain {:.1f} %: {}", arm.children,
                                100 * std::expm1(arm.mean_gain),
                                words.empty() ? "(no advice)" : words));
  }
  return lines;
}

} // namespace

void add_role_facts(agents::ProposalContext& context, const Journal& journal,
                    const TaskState& state, const search::Ask& ask) {
  const std::string& task = state.task->name;
  context.guide = guide_of(journal, ask.variant);
  if (ask.op == "judge") {
    context.evidence = fact_lines(record_facts(context.parent->evaluation));
    context.record = judge_record_text(store::judge_record(journal.store(), journal.run(), task));
  } else if (ask.op == "verify") {
    context.record =
        verifier_record_text(store::verifier_record(journal.store(), journal.run(), task));
  } else if (ask.op == "forecast") {
    context.evidence = fact_lines(record_facts(context.second->evaluation));
    context.bins = bin_lines();
    context.record =
        forecast_record_text(store::forecast_record(journal.store(), journal.run(), task));
  } else if (ask.op == "meta") {
    context.versions = version_lines(journal, task);
  } else if (!ask.advice.empty()) {
    const auto advice = journal.store().find_advice(journal.run(), ask.advice);
    context.advice =
        advice && !advice->content.empty() ? agents::advice_in_words(advice->content) : "";
  }
}

} // namespace winnow::harness
