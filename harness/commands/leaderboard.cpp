#include "base/json_dump.h"
#include "harness/commands/commands.h"
#include "harness/commands/judging.h"
#include "harness/named/named_task.h"
#include "harness/report/board_report.h"
#include "harness/report/terminal.h"
#include "harness/run/reports/reports.h"
#include "harness/run/session.h"
#include "harness/suite/suite_scores.h"
#include "tasks/task/task.h"

#include <iostream>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

/// As Sitting::ranks() and the view standings_without_final, and as docs/store.md says.
constexpr const char* kRankRule =
    "Ranks: rows are in the order of their speedup. In a final, races decide: a row shares the "
    "rank of the row above, unless its race (99 %) with a row of that rank shows that it is "
    "slower; the 95 % interval says what another final may find. Before a final, the rank is 1 "
    "plus the number of kernels whose 95 % interval lies above that of the row, or of a row before "
    "it.\n";

struct LeaderboardCommand {
  std::string store;
  BoardReport board;
  std::string suite;
  bool problems = false;
  ServerOptions server;
};

ExitCode suite_table(const LeaderboardCommand& command, const store::RunStore& store) {
  const nlohmann::json document = stored_suite_json(store, command.suite, command.board.query.run);
  std::cout << (command.board.format == "json" ? json_document(document)
                                               : suite_text(document, command.problems));
  return ExitCode::Done;
}

ExitCode leaderboard(LeaderboardCommand command) {
  BoardReport& board = command.board;
  board.columns = table_columns();
  if (!command.server.server.empty()) {
    std::cout << report_at(command.server, board_target(board));
    return ExitCode::Done;
  }
  const store::RunStore store(find_store(command.store), store::RunStore::Mode::ReadOnly);
  if (!command.suite.empty()) {
    return suite_table(command, store);
  }
  const std::string text = board_report(store, board);
  if (text.empty()) {
    std::cerr << store.why_nobody_is_ranked(board.query) << '\n';
  }
  std::cout << text;
  return ExitCode::Done;
}

} // namespace

void add_leaderboard(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "leaderboard",
      "Correct kernels, ranked by speedup over their task's baseline.cu (on a CPU: baseline.cpu.cu "
      "if it has one), or over PyTorch eager where a task has none (geometric mean over shapes); "
      "kernels that no race of the final tells apart share a rank (=2)",
      leaderboard);
  sub.footer(kRankRule + sub.get_footer());
  CLI::Option* store = sub.add_option("--store", command.store, kStoreHelp);
  add_query_options(sub, command.board.query);
  sub.add_option("--top", command.board.query.top, "rows per task and device; 0: all")
      ->check(at_least_zero());
  auto* format = sub.add_option("--format", command.board.format, "table, json, csv or md")
                     ->check(CLI::IsMember({"table", "json", "csv", "md"}));
  sub.add_flag_callback(
         "--json", [&command = command] { command.board.format = "json"; },
         "the same as --format json")
      ->excludes(format);
  auto* suite = sub.add_option("--suite", command.suite,
                               "the scores of each run at all tasks of this suite instead, "
                               "which is named as for `winnow bench` (docs/bench.md)")
                    ->excludes(format);
  sub.add_flag("--problems", command.problems, "with --suite: a line for each problem, too")
      ->needs(suite);
  add_server_options(sub, command.server, {store, suite});
}

} // namespace winnow::harness
