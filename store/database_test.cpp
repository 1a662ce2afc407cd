#include "base/files.h"
#include "store/database.h"
#include "tasks/result/verdict.h"

#include <cmath>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct QueryTest : ::testing::Test {
  TemporaryDirectory directory{"database-test"};
  Database database{directory.path() / "store.db", OpenMode::ReadWrite, {}};

  static constexpr std::int64_t kCorrect = static_cast<std::int64_t>(tasks::Verdict::Correct);

  /// "what; remedy" of the Error on reading the text of a column.
  std::string error_of(const std::string& sql, const char* column) {
    try {
      database.read([&] {
        Query query(database, sql);
        query.next();
        query.text(column);
      });
    } catch (const Error& e) {
      return std::string(e.what()) + "; " + e.remedy();
    }
    return "no error";
  }
};

TEST_F(QueryTest, ReadsTheSameValuesInAnyOrderOfTheColumns) {
  for (const char* columns :
       {"v.name, v.number, s.name AS stage, length(s.name) * 0.5 AS half, NULL AS absent",
        "NULL AS absent, length(s.name) * 0.5 AS half, s.name AS stage, v.number, v.name"}) {
    SCOPED_TRACE(columns);
    database.read([&] {
      Query query(database, std::string("SELECT ") + columns +
                                " FROM verdicts AS v JOIN stages AS s ON s.name = 'tiny' "
                                "WHERE v.name = ?");
      ASSERT_TRUE(query.bind("correct").next());
      EXPECT_EQ(query.text("name"), "correct");
      EXPECT_EQ(query.integer("number"), kCorrect);
      EXPECT_EQ(query.optional_integer("number"), kCorrect);
      EXPECT_EQ(query.text("stage"), "tiny");
      EXPECT_EQ(query.real("half"), 2);
      EXPECT_EQ(query.optional_real("half"), 2);
      EXPECT_FALSE(query.is_null("half"));
      EXPECT_TRUE(query.is_null("absent"));
    });
  }
}

TEST_F(QueryTest, ReadsNullAsDocumented) {
  database.read([&] {
    Query query(database, "SELECT NULL AS absent");
    ASSERT_TRUE(query.next());
    EXPECT_EQ(query.integer("absent"), 0);
    EXPECT_EQ(query.optional_integer("absent"), std::nullopt);
    EXPECT_TRUE(std::isnan(query.real("absent")));
    EXPECT_EQ(query.real_or_zero("absent"), 0);
    EXPECT_EQ(query.optional_real("absent"), std::nullopt);
    EXPECT_EQ(query.text("absent"), "");
  });
}

TEST_F(QueryTest, AnUnknownColumnIsAnErrorThatNamesColumnAndQuery) {
  EXPECT_THAT(error_of("SELECT name FROM verdicts", "nam"),
              AllOf(HasSubstr("no column 'nam'"), HasSubstr("SELECT name FROM verdicts"),
                    HasSubstr("add the column")));
}

TEST_F(QueryTest, TwoColumnsOfOneNameAreAnError) {
  EXPECT_THAT(error_of("SELECT v.name, s.name FROM verdicts AS v, stages AS s", "name"),
              AllOf(HasSubstr("two columns 'name'"), HasSubstr("SELECT v.name, s.name FROM"),
                    HasSubstr("with AS")));
}

} // namespace
} // namespace winnow::store
