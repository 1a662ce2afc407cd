// `winnow lab` as users call it, and what it reads from stores.
#include "base/error.h"
#include "base/files.h"
#include "harness/cli.h"
#include "harness/commands/lab_records.h"
#include "harness/config/config.h"
#include "lab/testing/landscape_fake.h"
#include "store/run_store.h"
#include "tasks/catalogue.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

class Lab : public testing::Test {
protected:
  struct Output {
    int code = -1;
    std::string out, err;
  };

  static Output lab(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "lab");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Output result;
    result.code = run_cli(arguments);
    result.out = testing::internal::GetCapturedStdout();
    result.err = testing::internal::GetCapturedStderr();
    return result;
  }

  std::string landscape() const {
    const std::filesystem::path file = folder_.path() / "small.toml";
    write_file_atomic(file, landscape_toml(lab::usual_landscape()));
    return file.string();
  }

  /// A store with the log of a simulated search of 5 calls; `events`: how many are kept.
  std::string store(const std::string& strategy, std::size_t events = 10'000) const {
    const std::string file = (folder_.path() / "run.db").string();
    store::RunStore store(file, store::RunStore::Mode::ReadWrite);
    RunConfig config;
    config.strategy = strategy;
    config.proposals = 5;
    const store::RowId run = store.create_run("simulated", config_to_json(config), {});
    tasks::Task task =
        tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks" / "catalogue", "axpy");
    const store::RowId row = store.add_task(task);
    const lab::SessionPlan plan{{5, 0, 0}, {}, {}, true};
    const auto recorded =
        simulate(lab::usual_landscape(), search::preset(strategy).policy, plan, 1);
    for (std::size_t i = 0; i < std::min(events, recorded.events.size()); ++i) {
      const search::LogEntry entry = entry_of(recorded.events[i]);
      store.append_search_log(run, row, entry.kind, entry.detail);
    }
    return file;
  }

  TemporaryDirectory folder_{"winnow-lab-test"};
};

TEST_F(Lab, ComparesStrategies) {
  const Output result = lab({"compare", "archive", "best-of-n", "--landscape", landscape(),
                             "--seeds", "3", "--calls", "6", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document.at("reference"), "one-plus-one");
  ASSERT_EQ(document.at("landscapes").size(), 1U);
  EXPECT_EQ(document.at("landscapes")[0].at("rows").size(), 3U);
  EXPECT_EQ(document.at("landscapes")[0].at("budget").at("calls"), 6);
  const Output again = lab({"compare", "archive", "best-of-n", "--landscape", landscape(),
                            "--seeds", "3", "--calls", "6", "--json"});
  EXPECT_EQ(result.out, again.out);
  const Output all = lab({"compare", "--all", "--landscape", landscape(), "--seeds", "2", "--calls",
                          "3", "--against", "archive"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("beside archive"));
}

TEST_F(Lab, SaysWhatIsWrongWithACommandLine) {
  EXPECT_THAT(lab({"compare", "archiv", "--landscape", landscape()}).err,
              HasSubstr("unknown strategy 'archiv'"));
  EXPECT_THAT(lab({"compare", "--landscape", "nowhere"}).err, HasSubstr("no such landscape"));
  EXPECT_THAT(lab({"compare", "archive", "--all"}).err, HasSubstr("--all"));
  EXPECT_EQ(lab({"compare", "--seeds", "1"}).code, 2);
  EXPECT_THAT(lab({"fit", "nowhere.db"}).err, HasSubstr("nowhere.db: no such store"));
  EXPECT_THAT(lab({"replay", "nowhere.db"}).err, HasSubstr("nowhere.db: no such store"));
  EXPECT_EQ(lab({}).code, 2);
}

TEST_F(Lab, ReplaysARecordedSearch) {
  const Output result = lab({"replay", store("archive"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  bool found = false;
  const auto document = nlohmann::json::parse(result.out);
  for (const auto& one : document.at("replays")) {
    EXPECT_EQ(one.at("search"), "simulated/axpy");
    if (one.at("is_own").get<bool>()) {
      found = true;
      EXPECT_EQ(one.at("strategy"), "archive");
      EXPECT_EQ(one.at("replayed_calls"), 5);
      EXPECT_EQ(one.at("recorded_calls"), 5);
    }
  }
  EXPECT_TRUE(found);
}

TEST_F(Lab, AStoreWithoutALogHasNothingToRead) {
  const Output result = lab({"replay", store("archive", 0)});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("no run of this store has the log of a search"));
}

TEST_F(Lab, ALogWithoutJudgedRepliesCannotBeFitted) {
  const Output result = lab({"fit", store("archive", 1), "--base", landscape()});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("no judged reply"));
}

TEST_F(Lab, TakesPolicyAndSettingsFromTheStore) {
  const auto searches = stored_searches(store("best-of-n"), "");
  ASSERT_EQ(searches.size(), 1U);
  EXPECT_EQ(searches[0].strategy, "best-of-n");
  EXPECT_EQ(searches[0].search.settings.proposals, 5U);
  EXPECT_EQ(searches[0].search.settings.evaluator_version, 1);
  EXPECT_TRUE(searches[0].search.settings.has_baseline);
  EXPECT_THROW(stored_searches(store("best-of-n"), "other"), UsageError);
}

} // namespace
} // namespace winnow::harness
