#include "store/board/board_data.h"

#include "base/json_dump.h"
#include "base/text.h"
#include "store/author.h"
#include "store/board/board_parts.h"
#include "store/board/query_json.h"
#include "store/fields.h"
#include "store/held_out.h"
#include "store/leaderboard_format.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

constexpr std::int64_t kLeaders = 10;          ///< rows of a board whose samples go last
constexpr std::int64_t kShown = 50;            ///< rows of a board on the pages Shapes and Roofline
constexpr std::size_t kBytesOfCandidate = 900; ///< in the index, about
constexpr std::size_t kSlice = 1000;           ///< rows that are JSON at a time

/// What the rows of a query belong to. Every query names these columns.
constexpr const char* kAskedFor = "?1 IN ('', o.run) AND ?2 IN ('', o.task) "
                                  "AND ?3 IN ('', coalesce(o.device, ''))";
/// A JSON list of ids. Looking a few candidates up is faster than reading all.
constexpr const char* kListed = " AND o.candidate_id IN (SELECT value FROM json_each(?4))";

const std::string kCandidates =
    "WITH judged AS (SELECT run_id, json_extract(detail, '$.key') AS key, "
    "max(json_extract(detail, '$.elapsed_seconds')) AS elapsed FROM events "
    "WHERE kind = 'judged' GROUP BY run_id, key) "
    "SELECT o.candidate_id, o.run_id, o.task_id, o.origin, o.model, o.call_key, o.parents, "
    "o.verdict, o.stage, substr(o.detail, 1, 160) AS detail, e.id AS evaluation_id, e.speedup, "
    "e.speedup_low, e.speedup_high, e.score_ns, o.parameters, o.device, o.device_name, o.digest, "
    "o.lines, o.created_at, o.evaluated_at, e.evaluator_version, e.kernel, e.promoted, e.race, "
    "j.elapsed AS elapsed_seconds, x.prompt_tokens, x.completion_tokens, x.dollars, "
    "(SELECT max(json_extract(value, '$.registers')) FROM json_each(b.kernels)) AS registers, "
    "(SELECT sum(json_extract(value, '$.spill_store_bytes')) FROM json_each(b.kernels)) AS spills, "
    "o.isolation, " +
    author_sql({"o.model", "o.origin", "o.run_id", "o.run", "o.digest"}) +
    " AS author FROM candidate_overview AS o "
    "LEFT JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "LEFT JOIN builds AS b ON b.id = e.build_id "
    "LEFT JOIN candidate_costs AS x ON x.candidate_id = o.candidate_id "
    "LEFT JOIN judged AS j ON j.run_id = o.run_id "
    "AND j.key = CASE o.call_key WHEN '' THEN o.task ELSE o.call_key END WHERE ";
constexpr const char* kShapes =
    "SELECT k.candidate_id, k.case_id, k.shape, k.median_ns, k.median_low_ns, k.median_high_ns, "
    "k.baseline_median_ns, k.speedup, k.speedup_low, k.speedup_high FROM evaluations AS e "
    "JOIN case_overview AS k ON k.evaluation_id = e.id "
    "WHERE e.candidate_id = ? AND e.ordinal = 0 AND k.shape_set = 'search' AND k.median_ns > 0 "
    "ORDER BY k.case_id";
/// Counters of hidden shapes stay here.
constexpr const char* kProfiles =
    "SELECT p.candidate_id, (SELECT json_group_array(json(s.value)) FROM json_each(p.content) AS s "
    "WHERE json_extract(s.value, '$.shape_id') LIKE 'search/%') AS shapes "
    "FROM evaluations AS e JOIN evaluation_profiles AS p ON p.evaluation_id = e.id "
    "WHERE e.candidate_id = ? AND e.ordinal = 0";

constexpr const char* kRuns =
    "SELECT o.*, json_extract(n.content, '$.device.name') AS device_name, "
    "json_extract(n.content, '$.isolation') AS isolation, "
    "json_extract(n.content, '$.kernel') AS kernel, "
    "json_extract(n.content, '$.evaluator_version') AS evaluator_version, "
    "json_extract(n.content, '$.winnow') AS winnow "
    "FROM run_overview AS o LEFT JOIN environments AS n ON n.run_id = o.run_id "
    "WHERE ?1 IN ('', o.run) ORDER BY o.run_id";
constexpr const char* kRaces =
    "SELECT task_id, device_name, kernel, rival, verdict, CAST(ratio AS REAL) AS ratio, "
    "CAST(ratio_low AS REAL) AS ratio_low, CAST(ratio_high AS REAL) AS ratio_high, raced_at, "
    "sitting_id, iif(sitting_id IS NULL, 'when judged', 'final') AS source FROM all_races WHERE ";
constexpr const char* kAskedRaces =
    "SELECT task_id, device_name, kernel, rival, verdict, nullif(ratio, 0) AS ratio, ratio_low, "
    "ratio_high, raced_at, NULL AS sitting_id, 'asked for' AS source FROM asked_races";
/// As the view `races`: finals count more than other races, and newer ones more than older ones.
bool is_newer_race(const json& a, const json& b) {
  const auto age = [](const json& race) {
    const json& sitting = race.at("sitting_id");
    return std::pair(sitting.is_null() ? RowId{0} : sitting.get<RowId>(),
                     race.at("raced_at").get<std::string>());
  };
  return age(a) > age(b);
}

constexpr std::size_t kEscapeBytes = 5;         ///< that \u003c has more than <
constexpr std::size_t kChunkElementBytes = 150; ///< of its element, and of its row in the index
constexpr std::size_t kSpareBytes = 1000;       ///< for the texts that say what was left out

bool is_escaped(char c) {
  return c == '<' || c == '>';
}

struct Selection {
  std::vector<RowId> all;     ///< ascending
  std::vector<RowId> leaders; ///< of some board
  std::vector<RowId> others;  ///< all but the leaders
  std::vector<RowId> correct, incorrect;
  std::vector<RowId> shown; ///< on the pages Shapes and Roofline
};

class BoardReader {
public:
  BoardReader(const RunStore& store, const Database& database, const BoardOptions& options,
              std::size_t max_bytes)
      : store_(store), database_(database), options_(options), max_bytes_(max_bytes),
        candidates_(database) {}

  BoardData read() {
    read_facts();
    std::int64_t top = first_top();
    while (!fits(top)) {
      top = (top == 0 ? largest_board() : top) / 2;
    }
    add_optional_parts();
    return {document(), std::move(chunks_)};
  }

private:
  /// How many rows of a board are sure to fit; 0: all.
  std::int64_t first_top() {
    Query count(database_, "SELECT count(*) AS n, (SELECT count(*) FROM leaderboard_groups "
                           "WHERE run_id IS NULL) AS boards FROM candidates");
    count.next();
    const auto room = static_cast<std::int64_t>(max_bytes_ / kBytesOfCandidate);
    const std::int64_t boards = std::max<std::int64_t>(1, count.integer("boards"));
    return count.integer("n") <= room ? 0 : std::max<std::int64_t>(1, room / boards);
  }

  std::int64_t largest_board() {
    Query rows(database_, "SELECT max(n) AS n FROM (SELECT count(*) AS n FROM standings AS s "
                          "JOIN leaderboard_groups AS g ON g.id = s.group_id "
                          "WHERE g.run_id IS NULL GROUP BY g.id)");
    rows.next();
    return std::max<std::int64_t>(2, rows.integer("n"));
  }

  /// Reads the parts that no page goes without. False if these are too large; then fewer
  /// candidates are needed.
  bool fits(std::int64_t top) {
    top_ = top;
    selection_ = {};
    placed_.clear();
    chunks_.clear();
    read_leaderboard();
    read_candidates();
    read_races();
    read_shapes();
    const std::string index = document();
    bytes_ = index.size() +
             kEscapeBytes *
                 static_cast<std::size_t>(std::count_if(index.begin(), index.end(), is_escaped)) +
             kSpareBytes;
    const bool packed = add("results", selection_.all, &CandidateReader::result) &&
                        add("kernels", selection_.correct, &CandidateReader::kernel_file) &&
                        add("samples", selection_.leaders, &CandidateReader::samples);
    return packed || top == 1; // one row of each board is the least
  }

  void add_optional_parts() {
    const bool all = add("kernels", selection_.incorrect, &CandidateReader::kernel_file);
    if (!all) {
      dropped_.emplace_back("kernel files of incorrect candidates");
    }
    const bool talks = all && (!options_.with_prompts || add("conversations", selection_.all,
                                                             &CandidateReader::conversation));
    if (!talks && options_.with_prompts) {
      dropped_.emplace_back("prompts and replies");
    }
    if (!talks || !add("samples", selection_.others, &CandidateReader::samples)) {
      dropped_.emplace_back(
          fmt::format("samples of candidates below the first {} of their board", kLeaders));
    }
    if (top_ > 0) {
      dropped_.emplace_back(fmt::format("candidates below the first {} rows of their board", top_));
    }
  }

  bool add(const char* name, const std::vector<RowId>& candidates,
           std::string (CandidateReader::*value)(RowId)) {
    const std::size_t room = max_bytes_ > bytes_ ? max_bytes_ - bytes_ : 0;
    auto packed =
        pack_part({name, candidates, [&](RowId id) { return (candidates_.*value)(id); }}, room);
    if (!packed) {
      return false;
    }
    for (BoardChunk& chunk : *packed) {
      bytes_ += chunk.packed.size() + kChunkElementBytes;
      chunks_.push_back(std::move(chunk));
    }
    return true;
  }

  std::string store_name() const { return to_valid_utf8(database_.path().filename().string()); }

  /// The rows of `leaderboard --json` without the names of their members.
  void read_leaderboard() {
    LeaderboardQuery query = options_.query;
    query.top = top_;
    std::vector<LeaderboardRow> rows = store_.leaderboard(query);
    facts_ = leaderboard_json(
        {}, board_facts(store_, query, rows, options_.names_folder ? "" : store_name()));
    leaderboard_ = R"({"columns":)" + json_line(leaderboard_columns()) + R"(,"rows":[)";
    for (std::size_t begin = 0; begin < rows.size(); begin += kSlice) {
      const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last =
          rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), begin + kSlice));
      const json slice = leaderboard_json({first, last}, {});
      for (const json& row : slice["rows"]) {
        leaderboard_ += (leaderboard_.back() == '[' ? "\n" : ",\n") + values_of(row);
      }
    }
    leaderboard_ += "]}";
    select_leaders(rows);
  }

  static json leaderboard_columns() {
    const json sample = leaderboard_json({LeaderboardRow{}}, {});
    json names = json::array();
    for (const auto& [name, value] : sample["rows"][0].items()) {
      names.push_back(name);
    }
    return names;
  }

  static std::string values_of(const json& row) {
    json values = json::array();
    for (const auto& [name, value] : row.items()) {
      values.push_back(value);
    }
    return json_line(values);
  }

  void select_leaders(const std::vector<LeaderboardRow>& rows) {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      position = i > 0 && same_group(rows[i - 1], rows[i]) ? position + 1 : 0;
      if (position < kLeaders) {
        selection_.leaders.push_back(rows[i].candidate_id);
      }
      if (position < kShown) {
        selection_.shown.push_back(rows[i].candidate_id);
      }
      placed_.insert(rows[i].candidate_id);
    }
    Query others(database_, "SELECT id FROM candidates WHERE origin <> 'model'");
    while (top_ > 0 && others.next()) {
      placed_.insert(others.integer("id"));
    }
    std::sort(selection_.leaders.begin(), selection_.leaders.end());
  }

  void read_candidates() {
    const bool all = top_ == 0;
    Query query(database_,
                kCandidates + kAskedFor + (all ? "" : kListed) + " ORDER BY o.candidate_id");
    if (all) {
      query.bind(options_.query.run, options_.query.task, options_.query.device);
    } else {
      query.bind(options_.query.run, options_.query.task, options_.query.device,
                 json_line(json(placed_)));
    }
    candidate_columns_ = query.columns();
    candidate_rows_.clear();
    kernels_.clear();
    while (query.next()) {
      const RowId id = query.integer("candidate_id");
      select(id, query.text("verdict") == "correct");
      kernels_.insert(query.text("kernel"));
      candidate_rows_ += (candidate_rows_.empty() ? "\n" : ",\n") + json_line(values_json(query));
    }
  }

  void select(RowId id, bool correct) {
    selection_.all.push_back(id);
    (correct ? selection_.correct : selection_.incorrect).push_back(id);
    if (!std::binary_search(selection_.leaders.begin(), selection_.leaders.end(), id)) {
      selection_.others.push_back(id);
    }
  }

  void read_shapes() {
    Query shapes(database_, kShapes), profiles(database_, kProfiles);
    json shape_rows = json::array(), profile_rows = json::array();
    for (const RowId id : selection_.shown) {
      for (json& row : objects_json(shapes.bind(id))) {
        shape_rows.push_back(std::move(row));
      }
      for (json& row : objects_json(profiles.bind(id))) {
        profile_rows.push_back(std::move(row));
      }
    }
    shapes_ = json_line(shape_rows);
    profiles_ = json_line(profile_rows);
  }

  /// What every document has, however many candidates it shows.
  void read_facts() {
    verdict_counts_ = verdict_counts();
    runs_ = rows_of(kRuns);
  }

  /// The races between kernels that the document shows, the newest first. Looks each kernel up,
  /// because most races of a large store are between others.
  void read_races() {
    std::vector<json> races;
    const auto take = [&](Query& query) {
      for (json& race : objects_json(query)) {
        if (kernels_.contains(race.at("kernel").get<std::string>()) &&
            kernels_.contains(race.at("rival").get<std::string>())) {
          races.push_back(std::move(race));
        }
      }
    };
    Query finals(database_, kRaces + std::string("sitting_id IS NOT NULL"));
    Query asked(database_, kAskedRaces);
    take(finals);
    take(asked);
    Query judged(database_, kRaces + std::string("kernel = ? AND sitting_id IS NULL"));
    for (const std::string& kernel : kernels_) {
      take(judged.bind(kernel));
    }
    std::stable_sort(races.begin(), races.end(), is_newer_race);
    races_ = json_line(json(std::move(races)));
  }

  std::string rows_of(const std::string& sql) const {
    Query query(database_, sql);
    query.bind(options_.query.run);
    return json_line(objects_json(query));
  }

  json verdict_counts() const { return records_json(store_.verdict_counts(options_.query)); }

  std::string chunk_table() const {
    json list = json::array();
    for (const BoardChunk& chunk : chunks_) {
      list.push_back({{"part", chunk.part}, {"first", chunk.first}, {"last", chunk.last}});
    }
    return json_line(list);
  }

  json head() const {
    return {{"schema", "winnow.board"},
            {"version", 1},
            {"made_at", utc_now()},
            {"winnow", options_.winnow_version},
            {"store", store_name()},
            {"with_prompts", options_.with_prompts},
            {"live_version", options_.live_version.empty() ? json() : json(options_.live_version)},
            {"max_bytes", options_.max_bytes},
            {"dropped", dropped_},
            {"baselines", facts_.at("baselines")},
            {"gpu_spreads", facts_.at("gpu_spreads")},
            {"summaries", facts_.at("summaries")},
            {"not_ranked", facts_.at("not_ranked")},
            {"verdict_counts", verdict_counts_}};
  }

  std::string document() const {
    std::string text = json_line(head());
    text.pop_back();
    const auto member = [&](const char* name, const std::string& value) {
      text += fmt::format(",\n\"{}\":", name) + value;
    };
    member("leaderboard", leaderboard_);
    member("candidates", R"({"columns":)" + json_line(candidate_columns_) + R"(,"rows":[)" +
                             candidate_rows_ + "]}");
    member("suite", options_.suite.empty() ? "null" : options_.suite);
    member("shapes", shapes_);
    member("profiles", profiles_);
    member("runs", runs_);
    member("tasks", rows_of("SELECT id AS task_id, name, title, category, digest FROM tasks "
                            "WHERE ?1 IS NOT NULL ORDER BY id"));
    member("models", json_line(model_means(database_, options_.query)));
    member(
        "measurements",
        rows_of("SELECT e.candidate_id, e.asked_by, e.started_at, e.speedup, e.speedup_low, "
                "e.speedup_high, e.score_ns FROM evaluations AS e "
                "JOIN candidates AS c ON c.id = e.candidate_id JOIN runs AS r ON r.id = c.run_id "
                "WHERE e.asked_by <> '' AND ?1 IN ('', r.name) ORDER BY e.id"));
    member("races", races_);
    member("ceilings", rows_of("SELECT device_name, uuid, driver, content, measured_at "
                               "FROM ceilings WHERE ?1 IS NOT NULL ORDER BY id"));
    member(
        "sittings",
        rows_of("SELECT s.id AS sitting_id, s.run_id, s.task_id, s.device_name, s.rounds, "
                "s.baseline_spread, s.widening, s.started_at, s.seconds, " +
                columns<tasks::SittingRow>({"verdict detail times races held_out_speedup"}, "f.") +
                ", " + final_held_out("f") +
                " AS held_out_speedup, v.name AS verdict, e.candidate_id FROM sittings AS s "
                "JOIN sitting_rows AS f ON f.sitting_id = s.id "
                "JOIN verdicts AS v ON v.number = f.verdict "
                "JOIN evaluations AS e ON e.id = f.evaluation_id "
                "WHERE ?1 IN ('', (SELECT name FROM runs WHERE id = s.run_id)) "
                "ORDER BY s.id, f.position"));
    member("held_out",
           rows_of("SELECT h.run_id, h.task_id, h.device_name, h.candidate_id, v.name AS verdict, "
                   "h.speedup, h.judged_at FROM held_out_results AS h "
                   "JOIN verdicts AS v ON v.number = h.verdict "
                   "WHERE ?1 IN ('', (SELECT name FROM runs WHERE id = h.run_id))"));
    member("chunks", chunk_table());
    return text + "}";
  }

  const RunStore& store_;
  const Database& database_;
  const BoardOptions& options_;
  std::size_t max_bytes_, bytes_ = 0;
  CandidateReader candidates_;
  std::int64_t top_ = 0;
  Selection selection_;
  std::set<RowId> placed_;
  json facts_;                    ///< what a leaderboard's document has beside its rows
  std::set<std::string> kernels_; ///< of the candidates that are shown
  json verdict_counts_;
  std::string leaderboard_, candidate_rows_, shapes_, profiles_, races_, runs_;
  std::vector<std::string> candidate_columns_, dropped_;
  std::vector<BoardChunk> chunks_;
};

} // namespace

BoardData read_board(const RunStore& store, const Database& database, const BoardOptions& options,
                     std::size_t max_bytes) {
  return BoardReader(store, database, options, max_bytes).read();
}

} // namespace winnow::store
