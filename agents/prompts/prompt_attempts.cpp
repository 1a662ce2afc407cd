#include "agents/prompts/prompt_sections.h"
#include "base/text.h"
#include "base/text/number_text.h"
#include "tasks/result/fitted.h"
#include "tasks/task/speedup_versus.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using tasks::Verdict;

constexpr std::size_t kMaxCodeBytes = 56U << 10U; // a section has room for its feedback, too
constexpr std::size_t kMaxHistoryDetailBytes = 160;

/// Shortened if too long.
std::string fenced_code(std::string_view code) {
  if (trim(code).empty()) {
    return "(no kernel file)\n";
  }
  const std::string_view fence = code.find("```") == std::string_view::npos ? "```" : "~~~~";
  return fmt::format("{}cuda\n{}\n{}\n", fence,
                     truncate_text(to_valid_utf8(trim(code)), kMaxCodeBytes), fence);
}

/// What the speedups of the prompt are against. The section "baseline" or "eager" explains it.
std::string versus_of(const ProposalContext& context) {
  return context.baseline ? "the baseline" : std::string(tasks::kVersusEager);
}

/// Says that a hidden size is slow, but not which.
std::string fitted_text(const tasks::Evaluation& evaluation) {
  return tasks::is_fitted(evaluation)
             ? fmt::format("This kernel is {}: at hidden sizes, which differ from these, it has "
                           "less than half of this speed. Make it fast at other sizes, too.\n",
                           tasks::kFitted)
             : "";
}

std::string account_of(const ProposalContext& context, const Attempt& attempt) {
  return feedback_text(attempt.evaluation, versus_of(context)) + fitted_text(attempt.evaluation) +
         (attempt.limits.empty()
              ? ""
              : "\nWhat limits it, by the hardware's counters:\n" + attempt.limits);
}

std::string speed_text(const Attempt& attempt) {
  return number_text(attempt.evaluation.speedup) + "x";
}

/// "- attempt 3: wrong: ..."
std::string history_line(const EarlierAttempt& attempt) {
  return fmt::format("- attempt {}: {}{}{}{}\n", attempt.number, to_string(attempt.verdict),
                     attempt.speedup > 0 ? ", " + number_text(attempt.speedup) + "x" : "",
                     attempt.reason.empty() ? "" : ": " + attempt.reason,
                     attempt.idea.empty() ? ""
                                          : ". Idea: " + shortened(to_valid_utf8(attempt.idea),
                                                                   kMaxHistoryDetailBytes));
}

std::string bullets(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("- {}\n", to_valid_utf8(trim(line)));
  }
  return text;
}

bool is_same(const std::optional<Attempt>& one, const std::optional<Attempt>& other) {
  return one && other && one->number == other->number;
}

MaybeValues attempt_values(const ProposalContext& context, const std::optional<Attempt>& attempt,
                           std::string_view title) {
  if (!attempt) {
    return std::nullopt;
  }
  return Values{{"title", std::string(title)},
                {"number", std::to_string(attempt->number)},
                {"code", fenced_code(attempt->text)},
                {"feedback", account_of(context, *attempt)}};
}

/// The times at the shapes that prompts show.
std::string shown_times(const tasks::Evaluation& evaluation) {
  std::string lines;
  for (const tasks::CaseResult& result : evaluation.cases) {
    if (result.set == tasks::ShapeSet::Search && result.median_ns > 0) {
      lines += fmt::format("- {}: {}\n", result.shape, time_text(result.median_ns));
    }
  }
  return lines;
}

/// The times of the vendor's libraries at the shapes that prompts show.
std::string library_lines(const tasks::Evaluation& evaluation) {
  std::string lines;
  for (const tasks::CaseResult& result : evaluation.cases) {
    for (const tasks::LibraryTiming& library : result.libraries) {
      if (!tasks::is_hidden(result.set) && library.median_ns > 0 && library.agrees) {
        lines += fmt::format("The vendor's library ({}) takes {} at {}.\n", library.name,
                             time_text(library.median_ns), result.shape);
      }
    }
  }
  return lines;
}

} // namespace

EarlierAttempt earlier_attempt(int number, const tasks::Evaluation& evaluation) {
  EarlierAttempt attempt{number, evaluation.verdict, evaluation.speedup, {}};
  const bool is_hidden =
      evaluation.verdict == Verdict::WrongUnseen || evaluation.stage == tasks::Stage::Promotion;
  const auto lines = split_lines(trim(evaluation.detail));
  if (!is_hidden && evaluation.verdict != Verdict::Correct && !lines.empty()) {
    attempt.reason = shortened(to_valid_utf8(lines.front()), kMaxHistoryDetailBytes);
  }
  return attempt;
}

MaybeValues render_baseline(const ProposalContext& context) {
  return context.baseline
             ? MaybeValues(Values{{"timings", shown_times(context.baseline->evaluation) +
                                                  library_lines(context.baseline->evaluation)}})
             : std::nullopt;
}

MaybeValues render_baseline_code(const ProposalContext& context) {
  return context.baseline && context.op != "repair" && !builds_on_a_kernel(context)
             ? MaybeValues(Values{{"code", fenced_code(context.baseline->text)}})
             : std::nullopt;
}

MaybeValues render_exemplar(const ProposalContext& context) {
  if (!context.exemplar) {
    return std::nullopt;
  }
  return Values{{"name", context.exemplar->name},
                {"title", context.exemplar->title},
                {"code", fenced_code(context.exemplar->text)}};
}

MaybeValues render_best(const ProposalContext& context) {
  if (!context.best) {
    return std::nullopt;
  }
  return Values{{"number", std::to_string(context.best->number)},
                {"speedup", speed_text(*context.best)},
                {"versus", versus_of(context)},
                {"code", fenced_code(context.best->text)},
                {"feedback", account_of(context, *context.best)}};
}

MaybeValues render_standing(const ProposalContext& context) {
  if (!context.best || is_same(context.best, context.parent)) {
    return std::nullopt;
  }
  return Values{{"number", std::to_string(context.best->number)},
                {"speedup", speed_text(*context.best)},
                {"versus", versus_of(context)}};
}

MaybeValues render_families(const ProposalContext& context) {
  return context.families.empty() ? std::nullopt
                                  : MaybeValues(Values{{"lines", bullets(context.families)}});
}

MaybeValues render_do_not(const ProposalContext& context) {
  return context.do_not.empty() ? std::nullopt
                                : MaybeValues(Values{{"lines", bullets(context.do_not)}});
}

MaybeValues render_parent(const ProposalContext& context) {
  return attempt_values(context, context.parent,
                        context.op == "judge"       ? "The kernel"
                        : context.op == "crossover" ? "The first parent"
                        : context.op == "contrast"  ? "The faster kernel"
                        : context.op == "repair"    ? "The kernel to repair"
                                                    : "The parent");
}

MaybeValues render_second(const ProposalContext& context) {
  return attempt_values(context, context.second,
                        context.op == "contrast"   ? "The slower kernel"
                        : context.op == "forecast" ? "The parent"
                                                   : "The second parent");
}

MaybeValues render_surface(const ProposalContext& context) {
  return context.surface.empty() ? std::nullopt
                                 : MaybeValues(Values{{"surface", to_valid_utf8(context.surface)}});
}

MaybeValues render_history(const ProposalContext& context) {
  if (context.history.empty()) {
    return std::nullopt;
  }
  const std::vector<const Attempt*> shown = shown_kernels(context);
  std::string lines;
  for (const EarlierAttempt& attempt : context.history) {
    const bool is_shown = std::any_of(shown.begin(), shown.end(), [&](const Attempt* one) {
      return one->number == attempt.number;
    });
    lines += is_shown ? "" : history_line(attempt);
  }
  if (lines.empty()) {
    return std::nullopt;
  }
  return Values{
      {"lines",
       (context.older > 0 ? fmt::format("- ({} older ones)\n", context.older) : "") + lines}};
}

MaybeValues render_previous(const ProposalContext& context) {
  if (!context.previous || is_same(context.previous, context.best)) {
    return std::nullopt; // the section of the best kernel shows it
  }
  return Values{{"number", std::to_string(context.previous->number)},
                {"code", fenced_code(context.previous->text)},
                {"feedback", account_of(context, *context.previous)}};
}

} // namespace winnow::agents
