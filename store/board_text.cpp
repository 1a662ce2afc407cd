#include "store/board_text.h"

#include "base/text.h"
#include "store/leaderboard_format.h"
#include "store/text_table.h"
#include "tasks/plan/plan.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

constexpr std::size_t kShortDigest = 8;
constexpr std::size_t kMaxStandingBytes = 240;
constexpr std::size_t kIndent = 2;
constexpr const char* kNobodyYet = "No candidate is correct and timed yet.\n";
constexpr const char* kFootnote =
    "speedup: how many times as fast as baseline.cu (the median ratio of launches side by side); "
    "95 %: the interval of the speedup; time: the median. All are geometric means over the shapes. "
    "The machine's speed changes between evaluations, so a quotient of two times is not a speedup.";
constexpr const char* kFinalFootnote =
    " Rows with a held-out value come from one final: the speedup of another final lies in the "
    "interval; held-out is the speedup at shapes that the search has not seen.";

std::string choice_text(const LeaderboardRow& row) {
  const auto choice = nlohmann::json::parse(row.parameters, nullptr, false);
  return choice.is_object() ? tasks::parameters_text(choice.get<tasks::ParameterChoice>()) : "";
}

/// Four significant digits: "412.3 us".
std::string duration_text(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  for (const Unit unit : {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}, Unit{1, "ns"}}) {
    if (ns >= unit.ns) {
      std::string digits = fmt::format("{:#.4g}", ns / unit.ns);
      if (digits.back() == '.') {
        digits.pop_back();
      }
      return digits + " " + unit.name;
    }
  }
  return "";
}

/// "2026-11-20T09:44:26.123Z" as "2026-11-20 09:44".
std::string minute_text(std::string time) {
  constexpr std::size_t kMinutes = 16;
  constexpr std::size_t kSeparator = 10;
  if (time.size() > kMinutes && time[kSeparator] == 'T') {
    time.resize(kMinutes);
    time[kSeparator] = ' ';
  }
  return time;
}

/// The rank, with "=" if several kernels share it: "=2".
std::string rank_text(const LeaderboardRow& row) {
  return row.rank == 0 ? "-" : fmt::format("{}{}", row.is_tied ? "=" : "", row.rank);
}

std::string bounds_text(const LeaderboardRow& row) {
  const tasks::Bounds& bounds = row.speedup_bounds;
  return bounds.known() ? fmt::format("{:.2f}-{:.2f}", bounds.low, bounds.high) : "";
}

std::string held_out_text(const LeaderboardRow& row) {
  return row.held_out_speedup > 0 ? fmt::format("{:.2f}x", row.held_out_speedup) : "";
}

std::string cost_text(const LeaderboardRow& row) {
  return row.dollars.value_or(0) > 0 ? fmt::format("${:.4f}", *row.dollars) : "";
}

/// A column of the board. It is omitted if all of its cells are empty.
struct BoardColumn {
  TextTable::Column column;
  std::string (*cell)(const LeaderboardRow&);
  bool in_title = false; ///< moves to the title if all rows have the same value
};

constexpr bool kRight = true, kLeft = false;
constexpr bool kMayGo = true, kInTitle = true;

const std::vector<BoardColumn>& board_columns() {
  using Row = LeaderboardRow;
  static const std::vector<BoardColumn> columns{
      {{"rank", kRight}, rank_text},
      {{"speedup", kRight}, [](const Row& row) { return fmt::format("{:.2f}x", row.speedup); }},
      {{"95 %", kRight}, bounds_text},
      {{"held-out", kRight}, held_out_text},
      {{"time", kRight}, [](const Row& row) { return duration_text(row.score_ns); }},
      {{"candidate", kRight}, [](const Row& row) { return std::to_string(row.candidate); }},
      {{"file", kLeft, kMayGo}, [](const Row& row) { return row.digest.substr(0, kShortDigest); }},
      {{"by"}, [](const Row& row) { return row.model.empty() ? row.origin : row.model; }, kInTitle},
      {{"parameters"}, [](const Row& row) { return choice_text(row); }},
      {{"isolation", kLeft, kMayGo}, [](const Row& row) { return row.isolation; }, kInTitle},
      {{"evaluated", kLeft, kMayGo},
       [](const Row& row) { return minute_text(row.evaluated_at); },
       kInTitle},
      {{"machine code"}, [](const Row& row) { return annotations(row.findings); }},
      {{"cost", kRight}, cost_text},
      {{"flag"},
       [](const Row& row) { return row.flag.empty() ? row.unranked : row.flag; },
       kInTitle},
  };
  return columns;
}

struct Board {
  TextTable table;
  std::string title; ///< values shared by all rows: ", isolation bubblewrap, ..."
};

/// Adds a column, unless all cells are empty or the title has the shared value.
void add_column(Board& board, const BoardColumn& column, const std::vector<LeaderboardRow>& rows) {
  std::vector<std::string> cells;
  std::transform(rows.begin(), rows.end(), std::back_inserter(cells), column.cell);
  const bool same = std::all_of(cells.begin(), cells.end(),
                                [&](const std::string& cell) { return cell == cells.front(); });
  if (same && cells.front().empty()) {
    return;
  }
  if (same && column.in_title) {
    board.title += ", " + column.column.heading + " " + on_one_line(cells.front());
    return;
  }
  board.table.columns.push_back(column.column);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    board.table.rows[i].push_back(std::move(cells[i]));
  }
}

Board board_of(const std::vector<LeaderboardRow>& rows) {
  Board board;
  board.table.rows.resize(rows.size());
  for (const BoardColumn& column : board_columns()) {
    add_column(board, column, rows);
  }
  return board;
}

std::string group_heading(const LeaderboardRow& row) {
  return to_valid_utf8(fmt::format("{} on {} ({})", row.task, row.device, row.device_name));
}

/// The revision and evaluator of a group, if other groups have the same task and device.
std::string group_note(const std::vector<LeaderboardRow>& rows, const LeaderboardRow& row) {
  const bool alone = std::all_of(rows.begin(), rows.end(), [&](const LeaderboardRow& other) {
    return other.task != row.task || other.device != row.device ||
           other.device_name != row.device_name || same_group(other, row);
  });
  return alone ? ""
               : fmt::format(", task revision {}, evaluator {}",
                             row.task_digest.substr(0, kShortDigest), row.evaluator_version);
}

/// "torch eager 2.9.1: 1.30x the time of baseline.cu, over 2 shapes"
std::string standing_text(const BaselineStanding& standing) {
  const std::string name =
      standing.version.empty() ? standing.name : standing.name + " " + standing.version;
  const std::string text =
      standing.relative_time > 0
          ? fmt::format("{}: {:.3g}x the time of baseline.cu, over {} shape{}", name,
                        standing.relative_time, standing.shapes, standing.shapes == 1 ? "" : "s")
          : fmt::format("{}: not compared with baseline.cu: {}", name, standing.note);
  return truncate_text(on_one_line(text), kMaxStandingBytes);
}

/// The text around a table: plain lines, or paragraphs and lists of Markdown.
class Lines {
public:
  Lines(Format format, std::size_t columns)
      : markdown_(format == Format::Markdown), columns_(columns) {}

  std::string heading(const std::string& text) const {
    return markdown_ ? "## " + text + "\n\n" : wrap_line(text, columns_, kIndent) + "\n";
  }
  std::string below(const std::string& text) const {
    const std::string indent(kIndent, ' ');
    return markdown_ ? text + "\n\n" : wrap_line(indent + text, columns_, kIndent) + "\n";
  }
  std::string table(const TextTable& table) const {
    return markdown_ ? to_markdown(table) : to_aligned_text(table, kIndent, columns_);
  }
  std::string item(const std::string& text) const {
    const std::string begin = markdown_ ? "- " : std::string(kIndent, ' ');
    return wrap_line(begin + text, markdown_ ? 0 : columns_, 2 * kIndent) + "\n";
  }
  std::string footnote(const std::string& text) const {
    return "\n" + wrap_line(text, markdown_ ? 0 : columns_, 0) + "\n";
  }

private:
  const bool markdown_;
  const std::size_t columns_;
};

/// A list item for each library or framework that was measured for the row's group.
std::string standings_text(const LeaderboardRow& row,
                           const std::vector<BaselineStanding>& baselines, const Lines& lines,
                           Format format) {
  std::string text;
  for (const BaselineStanding& standing : baselines) {
    if (standing.task == row.task && standing.task_digest == row.task_digest &&
        standing.device == row.device && standing.device_name == row.device_name &&
        standing.evaluator_version == row.evaluator_version) {
      text += lines.item(standing_text(standing));
    }
  }
  return text.empty() || format != Format::Markdown ? text : "\n" + text;
}

std::string shapes_text(const LeaderboardRow& row) {
  return "shapes: " + join(row.shapes, "; ");
}

} // namespace

std::string board_text(const std::vector<LeaderboardRow>& rows,
                       const std::vector<BaselineStanding>& baselines, Format format,
                       std::size_t columns) {
  if (rows.empty()) {
    return kNobodyYet;
  }
  const Lines lines(format, columns);
  std::string text;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if_not(
        first, rows.end(), [&](const LeaderboardRow& row) { return same_group(row, *first); });
    const Board board = board_of({first, last});
    text += text.empty() ? "" : "\n";
    text += lines.heading(group_heading(*first) + group_note(rows, *first) + board.title);
    text += first->shapes.empty() ? "" : lines.below(shapes_text(*first));
    text += lines.table(board.table);
    text += standings_text(*first, baselines, lines, format);
    first = last;
  }
  const bool sat = std::any_of(rows.begin(), rows.end(),
                               [](const LeaderboardRow& row) { return row.held_out_speedup > 0; });
  return text + lines.footnote(std::string(kFootnote) + (sat ? kFinalFootnote : ""));
}

} // namespace winnow::store
