#include "base/text.h"
#include "harness/import/import_modules.h"
#include "tasks/task/task.h"

#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytesOfALine = 300;

struct Row {
  int tasks = 0, scaled = 0, flagged = 0, refused = 0;
  WrongAnswers wrong;
};

void add(const Imported& one, Row& row) {
  row.tasks += one.refused.empty() ? 1 : 0;
  row.refused += one.refused.empty() ? 0 : 1;
  row.scaled += tasks::is_scaled(one.flags) ? 1 : 0;
  row.flagged += tasks::has_doubts(one.flags) ? 1 : 0;
  row.wrong.tried += one.wrong.tried;
  row.wrong.passing += one.wrong.passing;
  row.wrong.caught_at_1e4 += one.wrong.caught_at_1e4;
  row.wrong.caught_at_1e2 += one.wrong.caught_at_1e2;
}

std::map<std::string, Row> rows_of(const std::vector<Imported>& imported) {
  std::map<std::string, Row> rows;
  for (const Imported& one : imported) {
    add(one, rows[one.folder.parent_path().filename().string()]);
  }
  return rows;
}

json row_json(const std::string& name, const Row& row) {
  return {{"group", name},
          {"tasks", row.tasks},
          {"scaled", row.scaled},
          {"flagged", row.flagged},
          {"refused", row.refused},
          {"wrong_answers", row.wrong.tried},
          {"wrong_passing", row.wrong.passing},
          {"wrong_caught_at_1e_4", row.wrong.caught_at_1e4},
          {"wrong_caught_at_1e_2", row.wrong.caught_at_1e2}};
}

/// A line of what there is to say; sizes that were cut are in the table only.
std::string told(const Imported& one) {
  const std::string name = (one.folder.parent_path().filename() / one.folder.filename()).string();
  if (!one.refused.empty()) {
    return fmt::format("refused: {}: {}\n", name, truncate_text(one.refused, kMostBytesOfALine));
  }
  std::vector<std::string> flags = one.flags;
  std::erase_if(flags, [](const std::string& flag) { return tasks::is_scaled({flag}); });
  return flags.empty() ? ""
                       : fmt::format("flagged: {}: {}\n", name,
                                     truncate_text(join(flags, "; "), kMostBytesOfALine));
}

} // namespace

json import_json(const ImportReport& report) {
  json groups = json::array();
  for (const auto& [name, row] : rows_of(report.imported)) {
    groups.push_back(row_json(name, row));
  }
  json problems = json::array();
  for (const Imported& one : report.imported) {
    problems.push_back({{"folder", one.folder.string()},
                        {"refused", one.refused},
                        {"was_there", one.was_there},
                        {"flags", one.flags},
                        {"seconds", one.seconds}});
  }
  return {{"schema", "winnow.import"}, {"version", 1},        {"device", report.device},
          {"torch", report.torch},     {"jobs", report.jobs}, {"seconds", report.seconds},
          {"groups", groups},          {"problems", problems}};
}

std::string import_text(const ImportReport& report) {
  std::string text;
  for (const Imported& one : report.imported) {
    text += told(one);
  }
  text += "                                             wrong answers        caught here, and\n"
          "folder         tasks  scaled  flagged  refused  tried  pass here  pass 1e-4 / 1e-2\n";
  for (const auto& [name, row] : rows_of(report.imported)) {
    text += fmt::format("{:13}  {:5}  {:6}  {:7}  {:7}  {:5}  {:9}  {} / {}\n", name, row.tasks,
                        row.scaled, row.flagged, row.refused, row.wrong.tried, row.wrong.passing,
                        row.wrong.caught_at_1e4, row.wrong.caught_at_1e2);
  }
  return text + fmt::format("{:.0f} s on {} with PyTorch {}, {} at a time\n", report.seconds,
                            report.device, report.torch, report.jobs);
}

} // namespace winnow::harness
