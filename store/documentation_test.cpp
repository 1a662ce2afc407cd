// Checks docs/store.md against the store.
#include "base/files.h"
#include "base/text.h"
#include "store/board/board.h"
#include "store/export.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"
#include "tests/support/json_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using testing::correct_evaluation;
using ::testing::HasSubstr;
using testing::query_file;
using testing::TestStore;
using testing::wrong_evaluation;

std::string page() {
  constexpr std::uint64_t kMaxBytes = 1U << 20U;
  return read_file(std::filesystem::path(WINNOW_SOURCE_DIR) / "docs" / "store.md", kMaxBytes);
}

std::vector<std::string> examples(const std::string& text) {
  const std::string begin = "```sql\n";
  std::vector<std::string> blocks;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

TEST(StoreDocumentation, ItsQueriesFindSomething) {
  TestStore t;
  t.store.begin_call(t.run, t.task, "a", "replay", "m", nlohmann::json::object());
  t.add("a", "1", {correct_evaluation(2)});
  t.add("b", "2", {wrong_evaluation()});
  const auto queries = examples(page());
  EXPECT_EQ(queries.size(), 5U);
  for (const std::string& query : queries) {
    const bool finds_mistakes = query.find("ratio_low") != std::string::npos;
    EXPECT_EQ(query_file(t.path, query).empty(), finds_mistakes) << query;
  }
}

TEST(StoreDocumentation, NamesEveryTableAndView) {
  const TestStore t;
  const std::string text = page();
  for (const std::string& name :
       query_file(t.path, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
                          "AND name NOT LIKE 'sqlite_%'")) {
    EXPECT_THAT(text, HasSubstr("`" + name + "`"));
  }
}

nlohmann::json datasette_database() {
  const auto path = std::filesystem::path(WINNOW_SOURCE_DIR) / "docs" / "datasette.json";
  return nlohmann::json::parse(read_file(path, 1U << 20U)).at("databases").at("quickstart");
}

TEST(DatasetteMetadata, NamesOnlyTablesAndColumnsThatExist) {
  const TestStore t;
  const nlohmann::json database = datasette_database();
  for (const auto& [table, about] : database.at("tables").items()) {
    const auto columns = query_file(t.path, "SELECT name FROM pragma_table_info('" + table + "')");
    EXPECT_FALSE(columns.empty()) << table;
    std::vector<std::string> named;
    for (const char* part : {"columns", "units"}) {
      const nlohmann::json columns_of_part = about.value(part, nlohmann::json::object());
      for (const auto& [column, text] : columns_of_part.items()) {
        named.push_back(column);
      }
    }
    const auto facets = about.value("facets", std::vector<std::string>{});
    named.insert(named.end(), facets.begin(), facets.end());
    named.push_back(about.value("sort", columns.empty() ? "" : columns.front()));
    for (const std::string& column : named) {
      EXPECT_THAT(columns, ::testing::Contains(column)) << table;
    }
  }
}

TEST(DatasetteMetadata, HasTheQueriesOfThePage) {
  std::vector<std::string> queries;
  const TestStore t;
  const nlohmann::json database = datasette_database();
  for (const auto& [name, query] : database.at("queries").items()) {
    queries.push_back(query.at("sql"));
    EXPECT_NO_THROW(query_file(t.path, queries.back())) << name;
    EXPECT_NE(query.at("title"), "");
  }
  EXPECT_THAT(queries, ::testing::UnorderedElementsAreArray(examples(page())));
}

TEST(JsonDocumentation, ListsEveryFieldOfBoardsAndExports) {
  TestStore t;
  tasks::Evaluation raced = correct_evaluation(2);
  raced.race = tasks::RaceResult{};
  raced.cases[0].libraries = {tasks::LibraryTiming{}};
  raced.device_uuid = "GPU-1";
  tasks::Evaluation elsewhere = raced;
  elsewhere.device_uuid = "GPU-2";
  t.store.add_trials(t.add("a", "1", {raced}), {elsewhere}, "", 0);
  t.add("b", "2", {wrong_evaluation()});
  raced.promoted = false;
  t.add("c", "3", {raced});
  BaselineTiming timing;
  timing.name = "torch eager";
  timing.device = raced.device;
  timing.device_name = raced.device_name;
  timing.shape_id = "search/0";
  t.store.add_baseline_timings(t.task, {timing});
  tasks::SittingRow row;
  row.kernel = t.store.leaderboard({}).front().kernel;
  row.rank = 1;
  row.races = {tasks::RaceResult{}};
  tasks::SittingResult sitting;
  sitting.rows = {row};
  t.store.add_sitting(t.run, t.task, sitting);
  const test::JsonPage json_page(WINNOW_SOURCE_DIR);
  auto rows = t.store.leaderboard({});
  const nlohmann::json board = leaderboard_json(rows, board_facts(t.store, {}, rows));
  EXPECT_EQ(board["gpu_spreads"].size(), 1U);
  EXPECT_FALSE(board["summaries"][0]["cost"].is_null());
  EXPECT_EQ(board["not_ranked"].size(), 1U);
  EXPECT_THAT(json_page.missing(board), ::testing::IsEmpty());
  const nlohmann::json exported = export_document(t.store, {});
  EXPECT_EQ(exported["sittings"].size(), 1U);
  EXPECT_FALSE(exported["baselines"].empty());
  EXPECT_THAT(json_page.missing(exported), ::testing::IsEmpty());
  t.store.add_ceilings({"a gpu", "GPU-1", "580", "{}", "2026-11-24"});
  const std::string html = board_page(t.store, {}), begin = "id=\"board\">";
  const std::size_t from = html.find(begin) + begin.size();
  const auto data = nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
  EXPECT_EQ(data["ceilings"].size(), 1U);
  EXPECT_EQ(data["sittings"].size(), 1U);
  EXPECT_THAT(json_page.missing(data), ::testing::IsEmpty());
}

TEST(JsonDocumentation, AFieldThatIsNotListedIsFound) {
  const test::JsonPage json_page(WINNOW_SOURCE_DIR);
  EXPECT_THAT(json_page.missing({{"schema", "winnow.leaderboard"}, {"rows", {{{"taks", 1}}}}}),
              ::testing::ElementsAre("rows[].taks"));
}

TEST(JsonDocumentation, AFieldOfAnotherTypeIsFound) {
  const test::JsonPage json_page(WINNOW_SOURCE_DIR);
  const nlohmann::json row{{"task", nullptr}, {"rank", 1.5}, {"tied", true}, {"shapes", {1}}};
  EXPECT_THAT(json_page.missing({{"schema", "winnow.leaderboard"}, {"rows", {row}}}),
              ::testing::ElementsAre("rows[].rank: number", "rows[].shapes[]: number",
                                     "rows[].task: null"));
}

TEST(JsonDocumentation, AllowsNullWhereNothingIsKnown) {
  LeaderboardRow row;
  LeftOutKernel left_out;
  row.parameters = left_out.parameters = "{}";
  const nlohmann::json board =
      leaderboard_json({row}, {{BaselineStanding{}}, {GpuSpread{}}, {BoardSummary{}}, {left_out}});
  EXPECT_THAT(test::JsonPage(WINNOW_SOURCE_DIR).missing(board), ::testing::IsEmpty());
}

TEST(StoreSchema, EveryViewCanBeRead) {
  TestStore t;
  t.add("a", "1", {correct_evaluation(2)});
  for (const std::string& name :
       query_file(t.path, "SELECT name FROM sqlite_schema WHERE type = 'view'")) {
    EXPECT_NO_THROW(query_file(t.path, "SELECT * FROM " + name)) << name;
  }
}

} // namespace
} // namespace winnow::store
