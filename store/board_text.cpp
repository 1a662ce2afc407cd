#include "store/board_text.h"

#include "base/text.h"
#include "store/json_table.h"
#include "store/number_text.h"

#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;
using Group = std::span<const json>; ///< the rows of one board

constexpr std::size_t kShortDigest = 8;
constexpr std::size_t kMaxStandingBytes = 240;
constexpr std::size_t kIndent = 2;
constexpr const char* kNobodyYet = "No candidate is correct and timed yet.\n";
constexpr const char* kAsBaseline =
    "as fast as baseline.cu (the median ratio of launches side by side)";
constexpr const char* kAsEager =
    "as fast as PyTorch eager (timed in the same session, but not side by side)";
constexpr const char* kGpuNote =
    ": a smaller difference of two times can come from the GPUs. Compare speedups, which have both "
    "times from one GPU";
constexpr const char* kFootnote =
    "95 %: the interval of the speedup; time: the median. All are geometric means over the shapes. "
    "The machine's speed changes between evaluations, so a quotient of two times is not a speedup.";
constexpr const char* kFinalFootnote =
    " Rows with a held-out value come from one final: the speedup of another final lies in the "
    "interval; held-out is the speedup at shapes that the search has not seen.";

/// Four significant digits: "412.3 us".
std::string duration_text(const json& value) {
  const double ns = value;
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
std::string minute_text(const json& value) {
  auto time = value.get<std::string>();
  constexpr std::size_t kMinutes = 16;
  constexpr std::size_t kSeparator = 10;
  if (time.size() > kMinutes && time[kSeparator] == 'T') {
    time.resize(kMinutes);
    time[kSeparator] = ' ';
  }
  return time;
}

/// The rank, with "=" if several kernels share it: "=2".
std::string rank_text(const json& row) {
  return row.at("rank").is_null() ? "-"
                                  : (row.at("tied") == true ? "=" : "") + text_at(row, "rank");
}

/// Two decimals below 10, and fewer above, so that the widest intervals fit: "25.5", "11685",
/// "117k".
std::string short_number(double value) {
  constexpr double kThousand = 1000;
  if (value >= 100 * kThousand) {
    return fmt::format("{:.0f}k", value / kThousand);
  }
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string bounds_text(const json& row) {
  const tasks::Bounds bounds = bounds_at(row, "speedup");
  return bounds.known() ? short_number(bounds.low) + "-" + short_number(bounds.high) : "";
}

std::string times_text(const json& value) {
  return speedup_text(number_at(value, ""));
}

std::string cost_text(const json& dollars) {
  return number_at(dollars, "") > 0 ? dollars_text(dollars.get<double>()) : "";
}

/// The first of two members that is not empty.
std::string either(const json& row, const char* first, const char* second) {
  const std::string text = text_at(row, first);
  return text.empty() ? text_at(row, second) : text;
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
      {{{"rank", kRight}, "", rank_text}},
      {{{"speedup", kRight}, "speedup", times_text}},
      {{{"95 %", kRight}, "", bounds_text}},
      {{{"held-out", kRight}, "held_out_speedup", times_text}},
      {{{"time", kRight}, "score_ns", duration_text}},
      {{{"candidate", kRight}, "candidate_id"}},
      {{{"file", kLeft, kMayGo},
        "digest",
        [](const json& digest) { return digest.get<std::string>().substr(0, kShortDigest); }}},
      {{{"by"}, "", author_at}, kInTitle},
      {{{"parameters"}, "", parameters_at}},
      {{{"isolation", kLeft, kMayGo}, "isolation"}, kInTitle},
      {{{"evaluated", kLeft, kMayGo}, "evaluated_at", minute_text}, kInTitle},
      {{{"machine code"},
        "findings",
        [](const json& found) {
          return tasks::annotations(found.get<std::vector<tasks::Finding>>());
        }}},
      {{{"cost", kRight}, "dollars", cost_text}},
      {{{"flag"}, "", [](const json& row) { return either(row, "flag", "unranked"); }}, kInTitle},
  };
  return columns;
}

struct Board {
  TextTable table;
  std::string title; ///< values shared by all rows: ", isolation bubblewrap, ..."
};

/// Adds a column, unless all cells are empty or the title has the shared value.
void add_column(Board& board, const BoardColumn& column, Group rows) {
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

Board board_of(Group rows) {
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
  const bool all = std::all_of(rows.begin(), rows.end(), is_versus_baseline);
  const bool none = std::none_of(rows.begin(), rows.end(), is_versus_baseline);
  return fmt::format("speedup: how many times {}; ",
                     all ? kAsBaseline
                     : none
                         ? kAsEager
                         : fmt::format("{}, or where a board says so {}", kAsBaseline, kAsEager));
}

std::vector<Group> groups_of(const json& rows) {
  std::vector<Group> groups;
  for (auto first = rows.begin(); first != rows.end();) {
    const auto last = std::find_if_not(first, rows.end(),
                                       [&](const json& row) { return same_group(row, *first); });
    groups.push_back({&*first, static_cast<std::size_t>(last - first)});
    first = last;
  }
  return groups;
}

/// The revision and evaluator of a group, if other groups have the same task and device.
std::string group_note(const std::vector<Group>& groups, const json& row) {
  const bool alone = std::all_of(groups.begin(), groups.end(), [&](const Group& group) {
    const json& other = group.front();
    return !same_fields(other, row, {"task", "device", "device_name"}) || same_group(other, row);
  });
  return alone ? ""
               : fmt::format(", task revision {}, evaluator {}",
                             text_at(row, "task_digest").substr(0, kShortDigest),
                             text_at(row, "evaluator_version"));
}

/// "torch.compile 2.9.1: 1.30x the time of baseline.cu, over 2 shapes"
std::string standing_text(const json& standing) {
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
                     : wrap_line(text, columns_, kIndent) + "\n";
  }
  std::string below(const std::string& text) const {
    const std::string indent(kIndent, ' ');
    return markdown_ ? markdown_text(text) + "\n\n"
                     : wrap_line(indent + text, columns_, kIndent) + "\n";
  }
  std::string table(const TextTable& table) const {
    return markdown_ ? to_markdown(table) : to_aligned_text(table, kIndent, columns_);
  }
  std::string item(const std::string& text) const {
    const std::string begin = markdown_ ? "- " : std::string(kIndent, ' ');
    return wrap_line(begin + (markdown_ ? markdown_text(text) : text), markdown_ ? 0 : columns_,
                     2 * kIndent) +
           "\n";
  }
  std::string footnote(const std::string& text) const {
    return "\n" + wrap_line(text, markdown_ ? 0 : columns_, 0) + "\n";
  }

private:
  const bool markdown_;
  const std::size_t columns_;
};

bool is_of_board(const json& fact, const json& row) {
  return same_fields(fact, row,
                     {"task", "task_digest", "device", "device_name", "evaluator_version"});
}

/// A list item for each library or framework that was measured for the row's group, and one for
/// the GPUs if they are several.
std::string facts_text(const json& row, const json& board, const Lines& lines, Format format) {
  std::string text;
  for (const json& standing : board.at("baselines")) {
    text += is_of_board(standing, row) ? lines.item(standing_text(standing)) : "";
  }
  for (const json& spread : board.at("gpu_spreads")) {
    text += is_of_board(spread, row) ? lines.item(text_at(spread, "note") + kGpuNote) : "";
  }
  return text.empty() || format != Format::Markdown ? text : "\n" + text;
}

} // namespace

std::string board_text(const json& board, Format format, std::size_t columns) {
  const json& rows = board.at("rows");
  if (rows.empty()) {
    return kNobodyYet;
  }
  const Lines lines(format, columns);
  std::string text;
  const std::vector<Group> groups = groups_of(rows);
  for (const Group& group : groups) {
    const json& first = group.front();
    const Board shown = board_of(group);
    text += text.empty() ? "" : "\n";
    text += lines.heading(group_heading(first) + group_note(groups, first) + shown.title);
    const auto shapes = first.at("shapes").get<std::vector<std::string>>();
    text += shapes.empty() ? "" : lines.below("shapes: " + join(shapes, "; "));
    const auto flags = first.at("task_flags").get<std::vector<std::string>>();
    text += flags.empty() ? "" : lines.below("flags of the task: " + join(flags, "; "));
    text += lines.table(shown.table);
    text += facts_text(first, board, lines, format);
  }
  const bool sat = std::any_of(rows.begin(), rows.end(), [](const json& row) {
    return !row.at("held_out_speedup").is_null();
  });
  return text + lines.footnote(speedup_note(rows) + kFootnote + (sat ? kFinalFootnote : ""));
}

} // namespace winnow::store
