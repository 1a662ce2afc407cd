// What a person asks a board: which kernel to ship, how sure that is, how far from the limit,
// against what, at what cost, and how to take it.
#include "store/board_facts.h"

#include "base/text.h"
#include "base/text/shell_word.h"
#include "store/author.h"
#include "store/database.h"
#include "store/fields.h"
#include "store/leaderboard_format.h"
#include "store/suite_calls.h"
#include "store/task_notes.h"
#include "tasks/known_limit.h"
#include "tasks/result/fitted.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>

#include <fmt/format.h>

namespace winnow::store {
namespace {

using BoardRows = std::span<LeaderboardRow>;

constexpr const char* kFinalTime =
    "SELECT s.started_at FROM sittings AS s JOIN sitting_rows AS f ON f.sitting_id = s.id "
    "WHERE f.rank IS NOT NULL AND f.kernel = ?1 AND s.device_name = ?2 "
    "AND s.task_id = (SELECT task_id FROM candidates WHERE id = ?3) "
    "AND (?4 = '' OR s.run_id = (SELECT id FROM runs WHERE name = ?4)) ORDER BY s.id DESC LIMIT 1";

/// The race of two kernels in the newest final of ?3's board.
constexpr const char* kFinalRace =
    "SELECT json_extract(r.value, '$.ratio') AS ratio, "
    "json_extract(r.value, '$.bounds[0]') AS ratio_low, "
    "json_extract(r.value, '$.bounds[1]') AS ratio_high FROM sittings AS s "
    "JOIN sitting_rows AS f ON f.sitting_id = s.id, json_each(f.races) AS r "
    "WHERE f.kernel = ?1 AND json_extract(r.value, '$.rival') = ?5 AND s.device_name = ?2 "
    "AND s.task_id = (SELECT task_id FROM candidates WHERE id = ?3) "
    "AND (?4 = '' OR s.run_id = (SELECT id FROM runs WHERE name = ?4)) ORDER BY s.id DESC LIMIT 1";

/// Counters of hidden shapes do not count.
constexpr const char* kLight =
    "SELECT json_extract(shape, '$.speed_of_light.fraction') AS fraction, "
    "coalesce(json_extract(shape, '$.speed_of_light.bound'), "
    "json_extract(shape, '$.no_speed_of_light'), '') AS bound "
    "FROM (SELECT CASE s.type WHEN 'object' THEN s.value END AS shape "
    "FROM evaluation_profiles AS p, json_each(p.content) AS s WHERE p.evaluation_id = ?) "
    "WHERE json_extract(shape, '$.shape_id') LIKE 'search/%' "
    "ORDER BY fraction IS NULL, fraction LIMIT 1";

/// Of evaluation ?1 and the alternative ?2, at each search shape that has all three.
constexpr const char* kGaps =
    "SELECT k.median_ns AS kernel, b.median_ns AS alternative, "
    "json_extract(s.value, '$.speed_of_light.fraction') AS fraction "
    "FROM cases AS k JOIN evaluations AS e ON e.id = k.evaluation_id "
    "JOIN candidates AS c ON c.id = e.candidate_id "
    "JOIN evaluation_profiles AS p ON p.evaluation_id = e.id, json_each(p.content) AS s "
    "JOIN baseline_timings AS b ON b.id = (SELECT max(n.id) FROM baseline_timings AS n "
    "WHERE n.task_id = c.task_id AND n.device_name = e.device_name AND n.name = ?2 "
    "AND n.shape_id = k.shape_id) WHERE e.id = ?1 AND k.shape_set = 'search' "
    "AND k.median_ns > 0 AND b.median_ns > 0 AND s.type = 'object' "
    "AND json_extract(s.value, '$.shape_id') = k.shape_id AND fraction > 0";

/// Of ?3 on the task of candidate ?1.
constexpr const char* kAlternativeTimes =
    "SELECT shape_id, median_ns FROM baseline_timings "
    "WHERE task_id = (SELECT task_id FROM candidates WHERE id = ?1) AND device_name = ?2 "
    "AND name = ?3 AND median_ns > 0 ORDER BY id";

constexpr const char* kCalls =
    "SELECT count(nullif(x.status, 'pending')) AS calls, count(x.served_from) AS "
    "calls_from_record, "
    "coalesce(sum(x.price_unknown), 0) AS calls_without_price, total(x.paid_dollars) AS dollars, "
    "total(x.unconfirmed_dollars) AS estimated_dollars FROM candidates AS c "
    "JOIN model_calls AS m ON m.run_id = c.run_id AND m.task_id = c.task_id AND m.id <= c.call_id "
    "JOIN call_costs AS x ON x.call_id = m.id WHERE c.id = ?";

/// The first full evaluation of the kernel, because another evaluator may judge it later.
constexpr const char* kFirstJudged =
    "SELECT c.run_id, c.task_id, (SELECT min(f.id) FROM evaluations AS f "
    "WHERE f.candidate_id = c.id AND f.kernel = ?2 AND coalesce(f.turns, 0) = 0) AS evaluation "
    "FROM candidates AS c WHERE c.id = ?1";

const std::string kLeftOut =
    "SELECT t.name AS task, t.digest AS task_digest, e.device, e.device_name, e.evaluator_version, "
    "c.id AS candidate_id, c.run_id, r.name AS run, c.origin, "
    "coalesce(m.model, '') AS model, " +
    author_sql({"m.model", "c.origin", "c.run_id", "r.name", "k.digest"}) +
    " AS author, k.digest, v.parameters, e.speedup, e.speedup_low, "
    "e.speedup_high, " +
    versus_sql("t", "e.device") +
    " AS speedup_versus, count(*) OVER board AS \"of\", row_number() OVER (board ORDER BY "
    "coalesce(e.speedup, 0) DESC, c.id) AS place FROM evaluations AS e "
    "JOIN candidates AS c ON c.id = e.candidate_id JOIN runs AS r ON r.id = c.run_id "
    "JOIN tasks AS t ON t.id = c.task_id JOIN variants AS v ON v.id = e.variant_id "
    "JOIN kernel_files AS k ON k.id = c.kernel_file_id "
    "LEFT JOIN model_calls AS m ON m.id = c.call_id "
    "WHERE e.ordinal = 0 AND e.superseded_by IS NULL "
    "AND e.verdict = (SELECT number FROM verdicts WHERE name = 'correct') "
    "AND (e.promoted = 0 OR coalesce(e.speedup, 0) <= 0) "
    "AND ?1 IN ('', r.name) AND ?2 IN ('', t.name) AND ?3 IN ('', e.device) "
    "AND NOT EXISTS (SELECT 1 FROM leaderboard_groups AS g JOIN standings AS s "
    "ON s.group_id = g.id AND s.kernel_file_id = c.kernel_file_id WHERE g.task_id = c.task_id "
    "AND g.device = e.device AND g.device_name = e.device_name "
    "AND coalesce(g.run_id, 0) = CASE ?1 WHEN '' THEN 0 ELSE c.run_id END) "
    "AND NOT EXISTS (SELECT 1 FROM candidates AS b JOIN evaluations AS f ON f.candidate_id = b.id "
    "AND f.ordinal = 0 AND f.superseded_by IS NULL WHERE b.kernel_file_id = c.kernel_file_id "
    "AND b.task_id = c.task_id AND f.device_name = e.device_name AND f.verdict = e.verdict "
    "AND b.id < c.id AND (?1 = '' OR b.run_id = c.run_id)) "
    "WINDOW board AS (PARTITION BY t.id, e.device, e.device_name)";

constexpr const char* kSlowElsewhere =
    "not promoted: on hidden shapes it is more than 10 % slower than the kernel to beat, which is "
    "the best one of that time or the baseline";

/// For a shell of this user. A page that leaves the machine need not name the user.
std::string path_word(const std::string& path) {
  const char* home = std::getenv("HOME");
  const std::string begin = home == nullptr || *home == '\0' ? "" : std::string(home) + "/";
  return begin.empty() || begin == "//" || !path.starts_with(begin)
             ? shell_word(path)
             : "~/" + shell_word(path.substr(begin.size()));
}

/// BoardSummary::sol_score at one shape. An alternative at the speed of light leaves no gap.
double sol_score(double kernel_ns, double alternative_ns, double light_ns) {
  const double gap = alternative_ns - light_ns;
  if (gap <= 0) {
    return kernel_ns <= light_ns ? 1 : 0;
  }
  return 1 / (1 + (kernel_ns - light_ns) / gap);
}

class FactsReader {
public:
  FactsReader(const Database& database, const LeaderboardQuery& query, std::string store_name)
      : database_(database), query_(query), store_name_(std::move(store_name)) {}

  /// What a reader would use otherwise: the fastest that is timed here and whose answers are right.
  /// Returns its name; empty: there is none.
  static std::string set_alternative(BoardRows rows,
                                     const std::vector<BaselineStanding>& standings) {
    const LeaderboardRow& first = rows.front();
    const BaselineStanding* best = nullptr;
    for (const BaselineStanding& other : standings) {
      const bool same = other.task == first.task && other.task_digest == first.task_digest &&
                        other.device == first.device && other.device_name == first.device_name &&
                        other.evaluator_version == first.evaluator_version;
      const bool counts = same && other.agrees && other.relative_time > 0;
      if (counts && (best == nullptr || other.relative_time < best->relative_time)) {
        best = &other;
      }
    }
    for (LeaderboardRow& row : best == nullptr ? BoardRows() : rows) {
      row.best_alternative = best->name + (best->version.empty() ? "" : " " + best->version);
      row.versus_best = row.speedup * best->relative_time;
      if (row.speedup_bounds.known()) {
        row.versus_best_bounds = {row.speedup_bounds.low * best->relative_bounds.low,
                                  row.speedup_bounds.high * best->relative_bounds.high};
      }
    }
    return best == nullptr ? "" : best->name;
  }

  /// Sets the shares at held-out shapes, and which kernels are fitted to the shown shapes.
  void set_shares(BoardRows rows, const std::string& alternative) const {
    const auto times_ns = alternative_times(rows.front(), alternative);
    for (LeaderboardRow& row : rows) {
      for (HeldOutShape& shape : row.held_out) {
        const auto there = times_ns.find(shape.shape_id);
        const bool beside = there != times_ns.end() && shape.median_ns > 0;
        const double speed = beside ? there->second / shape.median_ns : shape.speedup;
        const double shown = beside ? row.versus_best : row.speedup;
        shape.beside_alternative = beside;
        shape.share = shown > 0 ? speed / shown : 0;
      }
      row.fitted = unfit_shape(row.held_out, row.device) == nullptr ? "" : tasks::kFitted;
    }
  }

  void set_light(BoardRows rows) const {
    if (!tasks::why_no_limit(rows.front().device).empty()) {
      return;
    }
    Query select(database_, kLight);
    for (LeaderboardRow& row : rows) {
      row.of_light = select.bind(row.evaluation_id).next() ? select.real_or_zero("fraction") : 0;
    }
  }

  BoardSummary summary(BoardRows rows, const std::string& alternative) const {
    const LeaderboardRow& first = rows.front();
    BoardSummary board;
    board.task = first.task;
    board.task_digest = first.task_digest;
    board.device = first.device;
    board.device_name = first.device_name;
    board.evaluator_version = first.evaluator_version;
    board.final_command = final_command(first);
    if (first.rank == 0) {
      return board;
    }
    board.leader = first;
    for (const LeaderboardRow& row : rows) {
      const bool is_baseline = row.origin == "baseline";
      if (row.rank == first.rank && &row != &first) {
        board.tied.push_back(row.candidate_id);
        board.is_tied_with_baseline = board.is_tied_with_baseline || is_baseline;
      }
      if (is_baseline && row.flag.empty()) {
        board.baseline_speedup = row.speedup;
        set_race(board, row);
      }
    }
    board.final_at = first.flag.empty() ? final_time(first) : "";
    board.export_command =
        fmt::format("winnow export kernel {} {} --store {}", first.candidate_id,
                    shell_word(fmt::format("{}-{}", first.task, first.candidate_id)), store_word());
    set_bound(board, alternative);
    board.cost = cost(first);
    return board;
  }

  std::vector<LeftOutKernel> left_out() const {
    const std::int64_t most =
        query_.top > 0 ? query_.top : std::int64_t{std::numeric_limits<std::int32_t>::max()};
    Query select(database_, fmt::format("SELECT * FROM ({}) WHERE place <= ?4 "
                                        "ORDER BY task, device, device_name, task_digest, place",
                                        kLeftOut));
    select.bind(query_.run, query_.task, query_.device, most);
    TaskNotes notes(database_);
    std::vector<LeftOutKernel> kernels;
    while (select.next()) {
      LeftOutKernel& kernel = kernels.emplace_back();
      read_row(select, kernel, {"task_note task_proof reason", {}, "parameters"});
      kernel.task_note = notes.revision(kernel.task, kernel.task_digest);
      kernel.task_proof = notes.proof(kernel.task, kernel.task_digest, kernel.device);
      kernel.reason = kernel.speedup > 0 ? kSlowElsewhere : "not timed";
    }
    return kernels;
  }

private:
  /// By shape, hidden ones included.
  std::map<std::string, double> alternative_times(const LeaderboardRow& row,
                                                  const std::string& alternative) const {
    Query select(database_, kAlternativeTimes);
    select.bind(row.candidate_id, row.device_name, alternative);
    std::map<std::string, double> times_ns;
    while (select.next()) {
      times_ns[select.text("shape_id")] = select.real("median_ns"); // the newest is last
    }
    return times_ns;
  }

  std::string store_word() const {
    return store_name_.empty() ? path_word(database_.path().string()) : shell_word(store_name_);
  }

  std::string final_command(const LeaderboardRow& row) const {
    return fmt::format("winnow reverify --task {} --device {}{} --store {}", shell_word(row.task),
                       shell_word(row.device),
                       query_.run.empty() ? "" : " --run " + shell_word(query_.run), store_word());
  }

  std::string final_time(const LeaderboardRow& row) const {
    Query select(database_, kFinalTime);
    select.bind(row.kernel, row.device_name, row.candidate_id, query_.run);
    return select.next() ? select.text("started_at") : "";
  }

  void set_race(BoardSummary& board, const LeaderboardRow& rival) const {
    Query select(database_, kFinalRace);
    select.bind(board.leader.kernel, board.device_name, board.leader.candidate_id, query_.run,
                rival.kernel);
    if (select.next()) {
      board.race_ratio = select.real_or_zero("ratio");
      board.race_bounds = {select.real_or_zero("ratio_low"), select.real_or_zero("ratio_high")};
    }
  }

  void set_bound(BoardSummary& board, const std::string& alternative) const {
    board.bound = tasks::why_no_limit(board.device);
    if (!board.bound.empty()) {
      return;
    }
    Query select(database_, kLight);
    board.bound = select.bind(board.leader.evaluation_id).next()
                      ? select.text("bound")
                      : "the store has no profile of this kernel";
    double sum = 0;
    int shapes = 0;
    Query gaps(database_, kGaps);
    gaps.bind(board.leader.evaluation_id, alternative);
    for (; gaps.next(); ++shapes) {
      const double kernel_ns = gaps.real_or_zero("kernel");
      sum += sol_score(kernel_ns, gaps.real_or_zero("alternative"),
                       kernel_ns * gaps.real_or_zero("fraction"));
    }
    board.sol_score = shapes == 0 ? 0 : sum / shapes;
  }

  std::optional<CostToReach> cost(const LeaderboardRow& row) const {
    if (row.origin != "model") {
      return std::nullopt;
    }
    CostToReach cost;
    Query calls(database_, kCalls);
    calls.bind(row.candidate_id).next();
    read_row(calls, cost, {"device_seconds"});
    Query judged(database_, kFirstJudged);
    judged.bind(row.candidate_id, row.kernel).next();
    cost.device_seconds = device_seconds(database_, judged.integer("run_id"),
                                         judged.integer("task_id"), judged.integer("evaluation"));
    return cost;
  }

  const Database& database_;
  const LeaderboardQuery& query_;
  std::string store_name_;
};

} // namespace

BoardFacts board_facts(const RunStore& store, const LeaderboardQuery& query,
                       std::vector<LeaderboardRow>& rows, const std::string& store_name) {
  BoardFacts facts{store.baseline_standings(rows), store.gpu_spreads(rows), {}, {}};
  store.read([&](const Database& database) {
    const FactsReader reader(database, query, store_name);
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      end = begin + 1;
      while (end < rows.size() && same_group(rows[end - 1], rows[end])) {
        ++end;
      }
      const BoardRows board = BoardRows(rows).subspan(begin, end - begin);
      const std::string alternative = FactsReader::set_alternative(board, facts.baselines);
      reader.set_shares(board, alternative);
      reader.set_light(board);
      facts.summaries.push_back(reader.summary(board, alternative));
    }
    facts.left_out = reader.left_out();
  });
  return facts;
}

} // namespace winnow::store
