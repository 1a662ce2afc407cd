#include "agents/prompts/prompt_sections.h"
#include "agents/prompts/prompts.h"
#include "base/text.h"
#include "base/text/number_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using tasks::CaseResult;
using tasks::Evaluation;
using tasks::Verdict;

constexpr std::size_t kMaxLogBytes = 4000;
constexpr std::size_t kMaxDetailBytes = 1500;
constexpr std::size_t kMaxFailures = 3;
constexpr std::size_t kMaxTimedShapes = 16;
constexpr std::size_t kMaxNotes = 5;

std::string clean(std::string_view text, std::size_t max_bytes) {
  return truncate_text(to_valid_utf8(trim(text)), max_bytes);
}

bool failed(const CaseResult& result) {
  return result.verdict != Verdict::Correct && result.verdict != Verdict::NotJudged;
}

bool blames_hidden_shapes(const Evaluation& evaluation) {
  const Verdict verdict = evaluation.verdict;
  const bool candidate_failed = verdict != Verdict::Correct && verdict != Verdict::NotJudged &&
                                verdict != Verdict::Infrastructure;
  return verdict == Verdict::WrongUnseen ||
         (evaluation.stage == tasks::Stage::Promotion && candidate_failed);
}

std::string mismatch_text(const tasks::Mismatch& mismatch) {
  if (mismatch.wrong == 0) {
    return fmt::format("  no element of `{}` is wrong by itself, but all together are: {}\n",
                       mismatch.tensor, mismatch.pattern);
  }
  std::string text = fmt::format("  {} of {} elements of `{}` are wrong", mismatch.wrong,
                                 mismatch.total, mismatch.tensor);
  if (mismatch.first_index >= 0) {
    text +=
        fmt::format("; the first is element {} {}: got {:.9g}, expected {:.9g} (difference {:.3g}, "
                    "allowed {:.3g})",
                    mismatch.first_index, mismatch.first_position, mismatch.got, mismatch.expected,
                    mismatch.got - mismatch.expected, mismatch.limit);
  }
  if (mismatch.worst_ratio > 0) {
    text += fmt::format("; the worst is {:.3g} times over the limit", mismatch.worst_ratio);
  }
  if (!mismatch.pattern.empty()) {
    text += fmt::format("\n  Pattern: {}", mismatch.pattern);
  }
  return text + "\n";
}

std::string failures_text(const Evaluation& evaluation) {
  std::string text;
  std::size_t shown = 0, passed = 0, more = 0;
  for (const CaseResult& result : evaluation.cases) {
    if (tasks::is_hidden(result.set)) {
      continue;
    }
    passed += result.verdict == Verdict::Correct ? 1U : 0U;
    if (!failed(result) || ++shown > kMaxFailures) {
      more += failed(result) ? 1U : 0U;
      continue;
    }
    text += fmt::format("- shape {} ({}): {}\n", result.shape, to_string(result.stage),
                        to_string(result.verdict));
    if (!result.detail.empty() && result.detail != evaluation.detail) {
      text += fmt::format("  {}\n", clean(result.detail, kMaxDetailBytes));
    }
    if (result.mismatch) {
      text += mismatch_text(*result.mismatch);
    }
  }
  if (more > 0) {
    text += fmt::format("- and {} more failing cases\n", more);
  }
  if (shown > 0 && passed > 0) {
    text += fmt::format("- {} other cases pass\n", passed);
  }
  return text;
}

std::string timings_text(const Evaluation& evaluation, std::string_view versus) {
  std::vector<const CaseResult*> timed;
  for (const CaseResult& result : evaluation.cases) {
    if (result.set == tasks::ShapeSet::Search && result.median_ns > 0) {
      timed.push_back(&result);
    }
  }
  if (timed.empty()) {
    return {};
  }
  std::string text = fmt::format("| shape | median | {} | speedup |\n|---|---|---|---|\n", versus);
  for (std::size_t i = 0; i < std::min(timed.size(), kMaxTimedShapes); ++i) {
    const CaseResult& result = *timed[i];
    const bool compared = result.baseline_median_ns > 0;
    text += fmt::format("| {} | {} | {} | {} |\n", result.shape, time_text(result.median_ns),
                        compared ? time_text(result.baseline_median_ns) : "-",
                        compared ? number_text(result.speedup) + "x" : "-");
  }
  if (timed.size() > kMaxTimedShapes) {
    text += fmt::format("({} more shapes)\n", timed.size() - kMaxTimedShapes);
  }
  return text;
}

/// How near a correct kernel is to the tolerance at the shapes that prompts show.
std::string distance_line(const Evaluation& evaluation) {
  double element = 0, rms = 0;
  for (const CaseResult& result : evaluation.cases) {
    if (!tasks::is_hidden(result.set) && result.verdict == Verdict::Correct) {
      element = std::max(element, result.max_error_ratio);
      rms = std::max(rms, result.rms_error_ratio);
    }
  }
  if (evaluation.verdict != Verdict::Correct || !(element > 0) || rms > element) {
    return {};
  }
  return fmt::format("Largest error: {:.2g} of its limit{}\n", element,
                     rms > 0 ? fmt::format("; rms of all errors: {:.2g} of its own", rms) : "");
}

std::string parameters_line(const Evaluation& evaluation) {
  return evaluation.parameters.empty() ? std::string()
                                       : fmt::format("Parameters that the harness chose: {}\n",
                                                     tasks::parameters_text(evaluation.parameters));
}

std::string hidden_text(const Evaluation& evaluation) {
  // Shows neither the shape nor the detail: a model must not learn the hidden sizes.
  return fmt::format(
      "Verdict: {} ({})\nIt fails a hidden shape, although all shown ones pass: check "
      "sizes that are not multiples of the tile, primes, and size 1.\n",
      to_string(evaluation.verdict), describe(evaluation.verdict));
}

} // namespace

std::string feedback_text(const Evaluation& evaluation, std::string_view versus) {
  if (blames_hidden_shapes(evaluation)) {
    return hidden_text(evaluation) + parameters_line(evaluation) + timings_text(evaluation, versus);
  }
  std::string text = fmt::format("Verdict: {} ({})\n", to_string(evaluation.verdict),
                                 describe(evaluation.verdict));
  if (evaluation.verdict == Verdict::Correct) {
    text = "Verdict: correct\n";
  }
  if (!evaluation.detail.empty()) {
    text += clean(evaluation.detail, kMaxDetailBytes) + "\n";
  }
  if (evaluation.verdict == Verdict::CompileError && !evaluation.build.log.empty()) {
    text += fmt::format("Compiler messages (line numbers of your kernel file):\n{}\n",
                        clean(evaluation.build.log, kMaxLogBytes));
  }
  text += failures_text(evaluation);
  if (evaluation.speedup > 0) {
    text += fmt::format("Overall: {}x the speed of {} (geometric mean)\n",
                        number_text(evaluation.speedup), versus);
  }
  text +=
      parameters_line(evaluation) + timings_text(evaluation, versus) + distance_line(evaluation);
  for (std::size_t i = 0; i < std::min(evaluation.notes.size(), kMaxNotes); ++i) {
    text += fmt::format("Note: {}\n", clean(evaluation.notes[i], kMaxDetailBytes));
  }
  return text;
}

} // namespace winnow::agents
