// docs/store.md says what there is.
#include "base/files.h"
#include "base/text.h"
#include "store/test_store.h"

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
  EXPECT_EQ(queries.size(), 4U);
  for (const std::string& query : queries) {
    EXPECT_FALSE(query_file(t.path, query).empty()) << query;
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
