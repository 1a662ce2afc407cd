// What one owner of `winnow serve` may see of a store: temporary views and tables of the connection
// that have the names of the store's own, so that no query can pass them by.
#include "base/text.h"
#include "store/run_store.h"
#include "store/schema.h"

#include <map>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace winnow::store {
namespace {

/// Tables that show nothing about anybody.
const std::set<std::string> kWhole{"verdicts", "stages", "ceilings"};

/// By table: which rows belong to the owner. A table that is not here shows nothing. Each condition
/// is answered by an index for one row: SQLite would make a list of any other selection anew for
/// each query, and a page has a query for each kernel.
const std::map<std::string, const char*> kOwnRows{
    {"candidates", "id IN (SELECT id FROM own_candidates)"},
    {"variants", "candidate_id IN (SELECT id FROM own_candidates)"},
    {"evaluations", "candidate_id IN (SELECT id FROM own_candidates)"},
    {"cases", "evaluation_id IN (SELECT id FROM own_evaluations)"},
    {"sample_series",
     "EXISTS (SELECT 1 FROM main.cases AS c WHERE c.id = sample_series.case_id AND c.evaluation_id "
     "IN (SELECT id FROM own_evaluations))"},
    {"builds", "EXISTS (SELECT 1 FROM own_evaluations AS o WHERE o.build_id = builds.id)"},
    {"kernel_files",
     "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.kernel_file_id = kernel_files.id)"},
    {"tasks", "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.task_id = tasks.id)"},
    {"runs", "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.run_id = runs.id)"},
    {"environments",
     "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.run_id = environments.run_id)"},
    {"candidate_parents",
     "candidate_id IN (SELECT id FROM own_candidates) AND parent_id IN (SELECT id FROM "
     "own_candidates)"},
    // Others have no candidates in a run that an owner has declared, and the server's run has none
    // of these.
    {"model_calls",
     "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.run_id = model_calls.run_id)"},
    {"events", "kind = 'judged' AND EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.run_id = "
               "events.run_id)"},
    {"leaderboard_groups",
     "EXISTS (SELECT 1 FROM own_candidates AS o WHERE o.task_id = leaderboard_groups.task_id)"}};

/// Columns of evaluations that tell who else has sent the kernel, because compilers share a cache.
const std::set<std::string> kOfTheCache{"build_from_cache", "build_seconds"};

constexpr const char* kOwnTables =
    "CREATE TEMP TABLE own_candidates (id INTEGER PRIMARY KEY, run_id INTEGER, task_id "
    "INTEGER, kernel_file_id INTEGER);"
    "CREATE INDEX own_files ON own_candidates (kernel_file_id);"
    "CREATE INDEX own_tasks ON own_candidates (task_id);"
    "CREATE INDEX own_runs ON own_candidates (run_id);"
    "CREATE TEMP TABLE own_evaluations (id INTEGER PRIMARY KEY, build_id INTEGER);"
    "CREATE INDEX own_builds ON own_evaluations (build_id);"
    "CREATE TEMP TABLE standings (group_id, kernel_file_id, evaluation_id, speedup, speedup_low, "
    "speedup_high, PRIMARY KEY (group_id, kernel_file_id)) WITHOUT ROWID;"
    "CREATE INDEX temp.own_speedup ON standings (group_id, speedup DESC, evaluation_id, "
    "speedup_high);"
    "CREATE INDEX temp.own_low ON standings (group_id, speedup_low);"
    "CREATE INDEX temp.own_high ON standings (group_id, speedup_high, speedup, evaluation_id);"
    "CREATE INDEX temp.own_standing ON standings (evaluation_id);";

/// The store's standings have a kernel file once, with its first evaluation, which may be another
/// owner's. These have the owner's first one.
constexpr const char* kRefill =
    "DELETE FROM own_candidates; DELETE FROM own_evaluations; DELETE FROM temp.standings;"
    "INSERT INTO own_candidates SELECT id, run_id, task_id, kernel_file_id FROM main.candidates "
    "WHERE id IN (SELECT j.candidate_id FROM main.judge_items AS i JOIN main.judge_jobs AS j "
    "ON j.job = i.job WHERE i.owner = {0} UNION ALL SELECT d.candidate_id FROM main.declared_calls "
    "AS d JOIN main.declared_runs AS r ON r.run_id = d.run_id WHERE r.owner = {0});"
    "INSERT INTO own_evaluations SELECT id, build_id FROM main.evaluations WHERE candidate_id IN "
    "(SELECT id FROM own_candidates);"
    "INSERT INTO temp.standings SELECT g.id, x.kernel_file_id, min(x.evaluation_id), x.speedup, "
    "x.speedup_low, x.speedup_high FROM eligible_evaluations AS x JOIN main.leaderboard_groups AS "
    "g ON coalesce(g.run_id, 0) IN (0, x.run_id) AND g.task_id = x.task_id AND g.device = x.device "
    "AND g.device_name = x.device_name AND g.evaluator_version = x.evaluator_version "
    "AND g.unranked = x.unranked GROUP BY g.id, x.kernel_file_id;";

/// `quote` is ' for a text and " for a name.
std::string quoted(const std::string& text, char quote) {
  std::string whole(1, quote);
  for (const char c : text) {
    whole += std::string(c == quote ? 2 : 1, c);
  }
  return whole + quote;
}

/// What a view of the table selects.
std::string columns_of(const Database& database, const std::string& table) {
  if (table != "evaluations") {
    return "*";
  }
  std::vector<std::string> columns;
  Query query(database, "SELECT name FROM pragma_table_info(?)");
  for (query.bind(table); query.next();) {
    const std::string name = query.text("name");
    columns.push_back((kOfTheCache.contains(name) ? "0 AS " : "") + quoted(name, '"'));
  }
  return join(columns, ", ");
}

/// Winnow's own views. What the store has under their names may be anybody's SQL.
std::string shadows_of_views() {
  constexpr std::string_view kCreateView = "\nCREATE VIEW";
  const std::string_view text = views_and_triggers();
  std::string script;
  for (auto at = text.find(kCreateView); at != std::string_view::npos;
       at = text.find(kCreateView, at + 1)) {
    const auto body = at + kCreateView.size();
    script += fmt::format("CREATE TEMP VIEW{};\n", text.substr(body, text.find(";\n", at) - body));
  }
  return script;
}

std::string shadows_of(const Database& database) {
  std::string script = kOwnTables;
  Query query(database, "SELECT name FROM main.sqlite_master WHERE type = 'table' "
                        "AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
  while (query.next()) {
    const std::string name = query.text("name");
    if (name != "standings" && !kWhole.contains(name)) {
      const auto own = kOwnRows.find(name);
      script += fmt::format("CREATE TEMP VIEW {0} AS SELECT {2} FROM main.{0} WHERE {1};",
                            quoted(name, '"'), own == kOwnRows.end() ? "0" : own->second,
                            columns_of(database, name));
    }
  }
  return script + shadows_of_views();
}

} // namespace

void RunStore::show_only(const std::string& owner) {
  const std::string script = database_.read([&] {
    Query known(database_, "SELECT 1 FROM temp.sqlite_master WHERE name = 'own_candidates'");
    return (known.next() ? "" : shadows_of(database_)) +
           fmt::format(fmt::runtime(kRefill), quoted(owner, '\''));
  });
  try { // temporary tables are written to, the store is not
    database_.execute_script("PRAGMA query_only = OFF; BEGIN; " + script +
                             " COMMIT; PRAGMA query_only = ON;");
  } catch (...) {
    database_.execute_script("ROLLBACK; PRAGMA query_only = ON;");
    throw;
  }
}

} // namespace winnow::store
