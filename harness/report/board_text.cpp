#include "base/text.h"
#include "base/text/number_text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/report/board_report.h"
#include "harness/report/json_table.h"
#include "store/held_out.h"
#include "tasks/result/fitted.h"
#include "tasks/result/least_hidden.h"
#include "tasks/result/speedup.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using BoardGroup = std::span<const json>; ///< the rows of one board

constexpr std::size_t kShortDigest = 8;
constexpr std::size_t kMaxStandingBytes = 240;
constexpr std::size_t kBoardIndent = 2;
constexpr const char* kNobodyYet = "No candidate is correct and timed yet.\n";
constexpr const char* kSideBySide = "the median ratio of launches side by side";
constexpr const char* kNotSideBySide = "timed in the same session, but not side by side";
constexpr const char* kGpuNote =
    ": a smaller difference of two times can come from the GPUs. Compare speedups, which have both "
    "times from one GPU";
constexpr const char* kFootnote =
    "95 %: the interval of the speedup; time: the median. All are geometric means over the shapes. "
    "The machine's speed changes between evaluations, so a quotient of two times is not a speedup.";
constexpr const char* kFinalFootnote =
    " Rows with a held-out value come from one final: the speedup of another final lies in the "
    "interval, but ranks rest on the races of this final (`winnow help leaderboard`); held-out is "
    "the speedup at those shapes that the search has not seen where the baseline takes at least "
    "{:.0f} us (on a CPU {:.0f} us).";
constexpr const char* kNotKnownFootnote =
    " Held-out is not known of a final by an older Winnow, which kept one mean over all of these "
    "shapes, launches of 2 us among them: `winnow reverify` holds another final.";
constexpr const char* kFittedFootnote =
    " Fitted to the shown shapes: at one of these the kernel has less than half of its speed at "
    "the search shapes.";
constexpr const char* kUnsureFootnote =
    " ~: not sure, because the interval spans more than a factor of 100.";

/// The rank, with "=" if several kernels share it: "=2".
std::string board_rank_text(const json& row) {
  return row.at("rank").is_null() ? "-"
                                  : (row.at("tied") == true ? "=" : "") + text_at(row, "rank");
}

/// Two decimals below 10, and fewer above, so that the widest intervals fit: "25.5", "11685",
/// "117k".
std::string short_number(double value) {
  constexpr double kThousand = 1000;
  if (value >= 100 * kThousand) {
    return number_text(value / kThousand, 0) + "k";
  }
  return number_text(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string speedup_bounds_text(const json& row) {
  const tasks::Bounds bounds = bounds_at(row, "speedup");
  return bounds.known() ? short_number(bounds.low) + "-" + short_number(bounds.high) : "";
}

std::string board_speedup_text(const json& row) {
  return speedup_text(number_at(row, "speedup"), bounds_at(row, "speedup"));
}

std::string versus_best_text(const json& row) {
  return speedup_text(number_at(row, "versus_best"), bounds_at(row, "versus_best"));
}

std::string share_text(const json& share) {
  return number_at(share, "") > 0 ? percent_text(number_at(share, "")) : "";
}

std::string cost_text(const json& dollars) {
  return number_at(dollars, "") > 0 ? dollars_text(dollars.get<double>()) : "";
}

/// The speedup, or why a kernel of the final has none.
std::string held_out_text(const json& row) {
  const std::string speedup = tasks::speedup_text(number_at(row, "held_out_speedup"));
  return speedup.empty() ? text_at(row, "held_out_note") : speedup;
}

/// Why the row has no numbers of a final, or what its numbers say of it. A row with a rank and a
/// flag is on a board without a final, which the board says itself.
std::string flag_text(const json& row) {
  const std::string text = row.at("rank").is_null() ? text_at(row, "flag") : "";
  const std::string why = text.empty() ? text_at(row, "unranked") : text;
  const std::string fitted = text_at(row, "fitted");
  return why + (why.empty() || fitted.empty() ? "" : "; ") + fitted;
}

/// A column of the board. It is omitted if all of its cells are empty.
struct BoardColumn {
  JsonColumn cells;
  bool in_title = false; ///< moves to the title if all rows have the same value
};

constexpr bool kRight = true, kLeft = false;
constexpr bool kMayGo = true, kInTitle = true;

const std::vector<BoardColumn>& board_columns() {
  static const std::vector<BoardColumn> columns{
      {{{"rank", kRight}, "", board_rank_text}},
      {{{"vs best", kRight}, "", versus_best_text}},
      {{{"best alternative"}, "best_alternative"}, kInTitle},
      {{{"of light", kRight}, "of_light", share_text}},
      {{{"speedup", kRight}, "", board_speedup_text}},
      {{{"95 %", kRight}, "", speedup_bounds_text}},
      {{{"held-out", kRight}, "", held_out_text}},
      {{{"time", kRight}, "score_ns", [](const json& ns) { return time_text(ns); }}},
      {{{"candidate", kRight}, "candidate_id"}},
      {{{"file", kLeft, kMayGo},
        "digest",
        [](const json& digest) { return digest.get<std::string>().substr(0, kShortDigest); }}},
      {{{"by"}, "author"}, kInTitle},
      {{{"parameters"}, "", parameters_at}},
      {{{"isolation", kLeft, kMayGo}, "isolation"}, kInTitle},
      {{{"evaluated", kLeft, kMayGo},
        "evaluated_at",
        [](const json& time) { return minute_text(time.get<std::string>()); }},
       kInTitle},
      {{{"machine code"},
        "findings",
        [](const json& found) {
          return tasks::annotations(found.get<std::vector<tasks::Finding>>());
        }}},
      {{{"cost", kRight}, "dollars", cost_text}},
      {{{"flag"}, "", flag_text}, kInTitle},
  };
  return columns;
}

struct Board {
  TextTable table;
  std::string title; ///< values shared by all rows: ", isolation bubblewrap, ..."
};

/// Adds a column, unless all cells are empty or the title has the shared value.
void add_column(Board& board, const BoardColumn& column, BoardGroup rows) {
  std::vector<std::string> cells;
  std::transform(rows.begin(), rows.end(), std::back_inserter(cells),
                 [&](const json& row) { return cell_of(column.cells, row); });
  const bool same = std::all_of(cells.begin(), cells.end(),
                                [&](const std::string& cell) { return cell == cells.front(); });
  if (same && cells.front().empty()) {
    return;
  }
  if (same && column.in_title) {
    board.title += ", " + column.cells.column.heading + " " + on_one_line(cells.front());
    return;
  }
  board.table.columns.push_back(column.cells.column);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    board.table.rows[i].push_back(std::move(cells[i]));
  }
}

Board board_of(BoardGroup rows) {
  Board board;
  board.table.rows.resize(rows.size());
  for (const BoardColumn& column : board_columns()) {
    add_column(board, column, rows);
  }
  return board;
}

bool same_fields(const json& a, const json& b, std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return a.at(name) == b.at(name); });
}

/// Whether two rows are on one board: comparable, or one of them without a rank.
bool same_group(const json& a, const json& b) {
  return same_fields(a, b, {"task_digest", "task", "device", "device_name"}) &&
         (a.at("rank").is_null() || b.at("rank").is_null() ||
          same_fields(a, b, {"evaluator_version"}));
}

bool is_versus_baseline(const json& row) {
  return row.at("speedup_versus") == tasks::kVersusBaseline;
}

std::string group_heading(const json& row) {
  return on_one_line(fmt::format(
      "{} on {} ({}){}", text_at(row, "task"), text_at(row, "device"), text_at(row, "device_name"),
      is_versus_baseline(row) ? "" : ", speedup over " + text_at(row, "speedup_versus")));
}

/// What the speedups of all rows mean.
std::string speedup_note(const json& rows) {
  std::vector<std::string> meanings;
  for (const std::string_view versus :
       {tasks::kVersusBaseline, tasks::kVersusCpuBaseline, tasks::kVersusEager}) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const json& row) { return row.at("speedup_versus") == versus; })) {
      meanings.push_back(fmt::format("as fast as {} ({})", versus,
                                     versus == tasks::kVersusEager ? kNotSideBySide : kSideBySide));
    }
  }
  return "speedup: how many times " + join(meanings, ", or where a board says so ") + "; ";
}

std::vector<BoardGroup> groups_of(const json& rows) {
  std::vector<BoardGroup> groups;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if_not(first, rows.end(),
                                       [&](const json& row) { return same_group(row, *first); });
    groups.push_back({&*first, static_cast<std::size_t>(last - first)});
    first = last;
  }
  return groups;
}

/// The revision and evaluator of a group, if other groups have the same task and device.
std::string group_note(const std::vector<BoardGroup>& groups, const json& row) {
  const bool alone = std::all_of(groups.begin(), groups.end(), [&](const BoardGroup& group) {
    const json& other = group.front();
    return !same_fields(other, row, {"task", "device", "device_name"}) || same_group(other, row);
  });
  return alone ? ""
               : fmt::format(", task revision {}, evaluator {}",
                             text_at(row, "task_digest").substr(0, kShortDigest),
                             text_at(row, "evaluator_version"));
}

/// "torch.compile 2.9.1: 1.30x the time of baseline.cu, over 2 shapes"
std::string baseline_text(const json& standing) {
  const std::string version = text_at(standing, "version");
  const std::string name = text_at(standing, "name") + (version.empty() ? "" : " ") + version;
  const double time = number_at(standing, "relative_time");
  const std::string shapes = text_at(standing, "shapes");
  const std::string versus = text_at(standing, "time_versus");
  const std::string text =
      time > 0
          ? fmt::format("{}: {:.3g}x the time of {}, over {} shape{}", name, time, versus, shapes,
                        shapes == "1" ? "" : "s")
          : fmt::format("{}: not compared with {}: {}", name, versus, text_at(standing, "note"));
  return truncate_text(on_one_line(text), kMaxStandingBytes);
}

/// The text around a table: plain lines, or paragraphs and lists of Markdown.
class Lines {
public:
  Lines(Format format, std::size_t columns)
      : markdown_(format == Format::Markdown), columns_(columns) {}

  std::string heading(const std::string& text) const {
    return markdown_ ? "## " + markdown_text(text) + "\n\n"
                     : wrap_line(text, columns_, kBoardIndent) + "\n";
  }
  std::string below(const std::string& text) const {
    const std::string indent(kBoardIndent, ' ');
    return markdown_ ? markdown_text(text) + "\n\n"
                     : wrap_line(indent + text, columns_, kBoardIndent) + "\n";
  }
  std::string table(const TextTable& table) const {
    return markdown_ ? to_markdown(table) : to_aligned_text(table, kBoardIndent, columns_);
  }
  std::string item(const std::string& text) const {
    const std::string begin = markdown_ ? "- " : std::string(kBoardIndent, ' ');
    return wrap_line(begin + (markdown_ ? markdown_text(text) : text), markdown_ ? 0 : columns_,
                     2 * kBoardIndent) +
           "\n";
  }
  /// A line that a person copies, so it is not wrapped.
  std::string command(const std::string& text) const {
    const bool as_code = markdown_ && text.find('`') == std::string::npos;
    const std::string shown = on_one_line(text);
    return std::string(2 * kBoardIndent, ' ') +
           (as_code     ? "`" + shown + "`"
            : markdown_ ? markdown_text(shown)
                        : shown) +
           "\n";
  }
  std::string footnote(const std::string& text) const {
    return "\n" + wrap_line(text, markdown_ ? 0 : columns_, 0) + "\n";
  }

private:
  const bool markdown_;
  const std::size_t columns_;
};

/// Of a board of an old evaluator or of an old revision of its task, or of a task that is not
/// proven.
std::string note_text(const json& row, const Lines& lines) {
  std::string text;
  if (const auto evaluator = row.value("evaluator_version", evaluators::kEvaluatorVersion);
      evaluator < evaluators::kEvaluatorVersion) {
    text += lines.below(fmt::format(
        "old: evaluator {} judged these kernels, and this Winnow has the rules of evaluator {}; "
        "`winnow reverify` judges the leaders again",
        evaluator, evaluators::kEvaluatorVersion));
  }
  for (const char* name : {"task_note", "task_proof"}) {
    const std::string note = text_at(row, name);
    text += note.empty() ? "" : lines.below(on_one_line(note));
  }
  return text;
}

bool is_of_board(const json& fact, const json& row) {
  return same_fields(fact, row,
                     {"task", "task_digest", "device", "device_name", "evaluator_version"});
}

bool is_left_out_of(const json& kernel, const json& row) {
  return same_fields(kernel, row, {"task", "task_digest", "device", "device_name"});
}

/// Kernels of the task and the device that no board has.
std::string left_out_items(const json& first, const json& board, const Lines& lines) {
  std::string text;
  std::int64_t shown = 0, all = 0;
  for (const json& kernel : board.at("not_ranked")) {
    if (is_left_out_of(kernel, first)) {
      text += lines.item("not ranked: " + on_one_line(text_at(kernel, "note")));
      ++shown;
      all = kernel.at("of");
    }
  }
  return text +
         (all > shown
              ? lines.item(fmt::format("not ranked: {} more (--top 0 lists them)", all - shown))
              : "");
}

/// A heading and the kernels of each task and device without any rank.
std::string boards_without_ranks(const json& board, const Lines& lines, Format format) {
  std::string text;
  const json* last = nullptr;
  for (const json& kernel : board.at("not_ranked")) {
    const bool has_board =
        std::any_of(board.at("rows").begin(), board.at("rows").end(),
                    [&](const json& row) { return is_left_out_of(kernel, row); });
    if (has_board || (last != nullptr && is_left_out_of(kernel, *last))) {
      continue;
    }
    last = &kernel;
    text += "\n" + lines.heading(group_heading(kernel) + ": no kernel has a rank");
    text += note_text(kernel, lines);
    text += left_out_items(kernel, board, lines) + (format == Format::Markdown ? "\n" : "");
  }
  return text;
}

/// A list item for each kernel without a rank, for each answer of the board, for each library or
/// framework that was measured, and one for the GPUs if they are several.
std::string facts_text(const json& row, const json& board, const Lines& lines, Format format) {
  std::string text = left_out_items(row, board, lines);
  for (const json& summary : board.at("summaries")) {
    for (const json& said : is_of_board(summary, row) ? summary.at("answers") : json::array()) {
      text += lines.item(text_at(said, "question") + ": " + on_one_line(text_at(said, "answer")));
      text += said.at("command").is_null() ? "" : lines.command(text_at(said, "command"));
    }
  }
  for (const json& standing : board.at("baselines")) {
    text += is_of_board(standing, row) ? lines.item(baseline_text(standing)) : "";
  }
  for (const json& spread : board.at("gpu_spreads")) {
    text += is_of_board(spread, row) ? lines.item(text_at(spread, "note") + kGpuNote) : "";
  }
  return text.empty() || format != Format::Markdown ? text : "\n" + text;
}

/// What the words and signs of these rows mean.
std::string notes_below(const json& rows) {
  const auto any = [&](const auto& has) { return std::any_of(rows.begin(), rows.end(), has); };
  const bool sat = any([](const json& row) { return !held_out_text(row).empty(); });
  const bool old = any([](const json& row) { return row.at("held_out_note") == store::kNotKnown; });
  const bool fitted = any([](const json& row) { return row.at("fitted") == tasks::kFitted; });
  const bool unsure = any([](const json& row) { return is_unsure(bounds_at(row, "speedup")); });
  constexpr double kNsPerUs = 1000;
  return (sat ? fmt::format(kFinalFootnote, tasks::kLeastHiddenGpuNs / kNsPerUs,
                            tasks::kLeastHiddenCpuNs / kNsPerUs)
              : "") +
         (old ? kNotKnownFootnote : "") + (fitted ? kFittedFootnote : "") +
         (unsure ? kUnsureFootnote : "");
}

} // namespace

std::string board_text(const json& board, Format format, std::size_t columns) {
  const json& rows = board.at("rows");
  const Lines lines(format, columns);
  if (rows.empty()) {
    return kNobodyYet + boards_without_ranks(board, lines, format);
  }
  std::string text;
  const std::vector<BoardGroup> groups = groups_of(rows);
  for (const BoardGroup& group : groups) {
    const json& first = group.front();
    const Board shown = board_of(group);
    text += text.empty() ? "" : "\n";
    text += lines.heading(group_heading(first) + group_note(groups, first) + shown.title);
    text += note_text(first, lines);
    const auto shapes = first.at("shapes").get<std::vector<std::string>>();
    text += shapes.empty() ? "" : lines.below("shapes: " + join(shapes, "; "));
    const auto flags = first.at("task_flags").get<std::vector<std::string>>();
    text += flags.empty() ? "" : lines.below("flags of the task: " + join(flags, "; "));
    text += lines.table(shown.table);
    text += facts_text(first, board, lines, format);
  }
  text += boards_without_ranks(board, lines, format);
  return text + lines.footnote(speedup_note(rows) + kFootnote + notes_below(rows));
}

} // namespace winnow::harness
