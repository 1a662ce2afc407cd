// The leaders of a finished run are timed against each other, and again by `winnow reverify`.
#include "base/files.h"
#include "tests/e2e/finished_run.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

std::int64_t number(const std::string& store, const std::string& query) {
  return SQLite::Database(store, SQLite::OPEN_READONLY).execAndGet(query).getInt64();
}

// One run for all tests: each works on a copy of its store.
class Final : public testing::Test {
protected:
  void SetUp() override {
    store_ = own_.path() / "run.db";
    std::filesystem::copy_file(finished_run().store, store_);
  }

  /// The kernel file of the task's first is another from now on.
  std::int64_t change_first(const std::string& task, const std::string& from,
                            const std::string& to) const {
    const std::int64_t first = number(
        store_,
        fmt::format("SELECT candidate_id FROM leaderboard WHERE task = '{}' AND rank = 1", task));
    const int changed =
        SQLite::Database(store_, SQLite::OPEN_READWRITE)
            .exec(fmt::format("UPDATE kernel_files SET text = replace(text, '{}', '{}') WHERE id = "
                              "(SELECT kernel_file_id FROM candidates WHERE id = {})",
                              from, to, first));
    EXPECT_EQ(changed, 1);
    return first;
  }
  std::int64_t ranked(std::int64_t candidate) const {
    return number(store_, fmt::format("SELECT count(*) FROM leaderboard WHERE candidate_id = {} "
                                      "AND rank IS NOT NULL",
                                      candidate));
  }

  TemporaryDirectory own_{"final-copy"};
  std::string store_;
};

TEST_F(Final, OrdersTheBoardsOfARunWhenItEnds) {
  const std::string& out = finished_run().out;
  EXPECT_NE(out.find("held-out"), std::string::npos) << out;
  EXPECT_NE(out.find("sure: a final at "), std::string::npos) << out;
  EXPECT_EQ(out.find("no final yet"), std::string::npos) << out;
  EXPECT_EQ(number(store_, "SELECT count(*) FROM sittings"), 2) << "one a task";
  EXPECT_EQ(number(store_,
                   "SELECT count(*) FROM leaderboard WHERE speedup > 0.12 AND (rank IS NULL "
                   "OR flag <> '')"),
            0)
      << "all but those that take ten times the baseline's time";
  EXPECT_EQ(number(store_, "SELECT count(*) FROM leaderboard AS l JOIN sitting_rows AS f "
                           "ON f.sitting_id = l.sitting_id AND f.kernel = l.kernel "
                           "WHERE (l.held_out_speedup IS NULL) = EXISTS (SELECT 1 FROM "
                           "json_each(f.times) AS t WHERE t.value->>'shape' LIKE 'held_out/%' "
                           "AND t.value->>'counts')"),
            0)
      << "a held-out speedup is of the shapes that count";
  EXPECT_EQ(number(store_, "SELECT count(*) FROM leaderboard WHERE speedup < speedup_low OR "
                           "speedup > speedup_high"),
            0);
  EXPECT_EQ(number(store_, "SELECT count(*) FROM leaderboard AS a JOIN races AS r ON r.kernel = "
                           "a.kernel JOIN leaderboard AS b ON b.kernel = r.rival AND b.group_id = "
                           "a.group_id WHERE a.speedup / b.speedup NOT BETWEEN r.ratio_low AND "
                           "r.ratio_high"),
            0);
  EXPECT_EQ(number(store_, "SELECT count(*) FROM races WHERE sitting_id IS NULL"), 0);
}

TEST_F(Final, IsMadeOnceByResumeWhereItIsMissing) {
  SQLite::Database(store_, SQLite::OPEN_READWRITE)
      .exec("DELETE FROM sitting_rows; DELETE FROM sittings");
  const std::int64_t last = number(store_, "SELECT id FROM runs");
  const std::vector<std::string> resume{"resume", std::to_string(last), "--store", store_};
  const ProgramResult first = run_winnow(resume);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(number(store_, "SELECT count(*) FROM sittings"), 2);
  EXPECT_EQ(run_winnow(resume).exit_code, 0);
  EXPECT_EQ(number(store_, "SELECT count(*) FROM sittings"), 2);
}

TEST_F(Final, IsHeldAgainByReverifyWithoutJudgingAnew) {
  const ProgramResult again = run_winnow({"reverify", "--store", store_, "--task", "reduce_sum"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_NE(again.out.find("held-out"), std::string::npos) << again.out;
  EXPECT_EQ(number(store_, "SELECT count(*) FROM sittings"), 3);
  EXPECT_EQ(number(store_, "SELECT count(*) FROM evaluations WHERE superseded_by IS NOT NULL"), 0);
  EXPECT_EQ(number(store_, "SELECT count(DISTINCT sitting_id) FROM leaderboard WHERE task = "
                           "'reduce_sum' AND sitting_id = 3"),
            1);
}

TEST_F(Final, WhatAnOlderEvaluatorSaidIsJudgedAgainBefore) {
  SQLite::Database(store_, SQLite::OPEN_READWRITE)
      .exec("DELETE FROM sitting_rows; DELETE FROM sittings; UPDATE evaluations SET "
            "evaluator_version = evaluator_version - 1; UPDATE leaderboard_groups SET "
            "evaluator_version = evaluator_version - 1");
  const ProgramResult again =
      run_winnow({"reverify", "--store", store_, "--task", "reduce_sum", "--top", "2"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_EQ(number(store_, "SELECT count(*) FROM evaluations WHERE superseded_by IS NOT NULL"), 2);
  EXPECT_EQ(number(store_, "SELECT count(*) FROM sitting_rows WHERE rank IS NOT NULL"), 2);
}

TEST_F(Final, WhoIsWrongOnHeldOutShapesLosesItsPlace) {
  const std::int64_t first = change_first("row_softmax", "sum", "largest");
  const ProgramResult again = run_winnow({"reverify", "--store", store_, "--task", "row_softmax"});
  EXPECT_EQ(again.exit_code, 10) << again.out << again.err;
  EXPECT_NE(again.out.find(fmt::format("candidate {} has lost its place", first)),
            std::string::npos)
      << again.out;
  EXPECT_EQ(ranked(first), 0);
}

// The kernel is right at the three held-out shapes, which are launched once each before the final,
// and wrong in later launches. Nothing tells the kernel which launch will be judged. A final judges
// a few launches of each kernel. On a busy machine a final has so few launches that it may judge
// none of the wrong ones, so there are up to four finals.
TEST_F(Final, WhoIsWrongInATimedLaunchLosesItsPlace) {
  change_first("reduce_sum", "extern", "__device__ int launches; extern");
  const std::int64_t first = change_first("reduce_sum", "out[0] = (float)total",
                                          "out[0] = ++launches > 3 ? 0.0f : (float)total");
  ProgramResult again;
  for (int finals = 0; finals < 4 && again.exit_code != 10; ++finals) {
    again = run_winnow({"reverify", "--store", store_, "--task", "reduce_sum"});
  }
  EXPECT_EQ(again.exit_code, 10) << again.out << again.err;
  EXPECT_NE(again.out.find("right in earlier runs, wrong"), std::string::npos) << again.out;
  EXPECT_EQ(ranked(first), 0);
  EXPECT_GT(number(store_, "SELECT count(*) FROM leaderboard WHERE task = 'reduce_sum' AND "
                           "rank IS NOT NULL"),
            0)
      << "the others keep their times";
}

TEST(Precheck, HasTheFirstWord) {
  const std::string file = "tasks/catalogue/blas/axpy/baseline.cu";
  const auto eval = [&](const std::string& command) {
    return run_winnow(
        {"eval", "axpy", file, "--device", "cpu", "--json", "--precheck-cmd", command});
  };
  const ProgramResult refused =
      eval("grep -q axpy && echo '{\"should_filter\": true, \"filter_reason\": \"says axpy\"}'");
  EXPECT_EQ(refused.exit_code, 10);
  EXPECT_EQ(json_output(refused).value("verdict", ""), "refused");
  EXPECT_EQ(json_output(refused).value("detail", ""), "says axpy");
  const ProgramResult missing = eval("no-such-checker");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("there is no program 'no-such-checker'"), std::string::npos)
      << missing.err;
  const ProgramResult failed = eval("exit 3");
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(json_output(failed).value("verdict", ""), "infrastructure");
  const ProgramResult passed = eval("cat > /dev/null; echo '{\"should_filter\": false}'");
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
}

} // namespace
} // namespace winnow::test
