#include "base/digest.h"
#include "store/candidate_record.h"
#include "store/test_store.h"
#include "store/training/training.h"
#include "tests/support/json_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;
using testing::correct_evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TestStore;
using testing::wrong_evaluation;

struct TrainingStore : TestStore {
  /// A candidate of a model that was asked `prompt` and answered `reply`.
  RowId answer(const std::string& key, const std::string& prompt, const std::string& reply,
               tasks::Evaluation evaluation) {
    const json request{
        {"messages",
         {{{"role", "system"}, {"content", "rules"}}, {{"role", "user"}, {"content", prompt}}}},
        {"api_key", "sk-never"}};
    const RowId call = store.begin_call(run, task, key, "replay", "m", request);
    ModelCallRow outcome;
    outcome.status = "ok";
    outcome.text = reply;
    outcome.usage.completion_tokens = static_cast<std::int64_t>(reply.size());
    store.finish_call(call, outcome);
    evaluation.build.digest = sha256_hex(key);
    evaluation.build.machine_code_digest = sha256_hex(key);
    return add(key, "// " + key, {evaluation});
  }
};

TrainingOptions options_of(TrainingSelection selection) {
  TrainingOptions options;
  options.selection = selection;
  options.split = [](std::string_view reply) {
    const std::size_t at = reply.find('|');
    return at == reply.npos
               ? TrainingReply{"", std::string(reply)}
               : TrainingReply{std::string(reply.substr(0, at)), std::string(reply.substr(at + 1))};
  };
  return options;
}

std::vector<json> lines_of(const RunStore& store, const TrainingOptions& options,
                           TrainingSummary* summary = nullptr) {
  std::vector<json> lines;
  const TrainingSummary found = write_training(
      store, options, [&](std::string_view line) { lines.push_back(json::parse(line)); });
  if (summary != nullptr) {
    *summary = found;
  }
  return lines;
}

TEST(Training, ALineSaysThatItsSpeedupIsOverEager) {
  TrainingStore t;
  tasks::Task task = testing::sample_task("softmax");
  task.baseline.clear();
  t.answer("axpy/0/0", "p", "r", correct_evaluation(2));
  t.task = t.store.add_task(task);
  t.answer("softmax/0/0", "p", "r", correct_evaluation(2));
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Rewards));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_FALSE(lines[0].contains("speedup_versus"));
  EXPECT_EQ(lines[1]["speedup_versus"], "PyTorch eager");
}

TEST(Training, ALineHasThePromptTheReplyAndTheResult) {
  TrainingStore t;
  tasks::Evaluation evaluation = correct_evaluation(2);
  evaluation.speedup_bounds = {1.5, 2.5};
  const RowId candidate = t.answer("a", "ask", "thought|answer", evaluation);
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Supervised));
  ASSERT_EQ(lines.size(), 1U);
  const json& line = lines[0];
  EXPECT_EQ(line["task"], "axpy");
  EXPECT_EQ(line["messages"], json({{{"role", "system"}, {"content", "rules"}},
                                    {{"role", "user"}, {"content", "ask"}}}));
  EXPECT_EQ(line["reasoning"], "thought");
  EXPECT_EQ(line["reply"], "answer");
  EXPECT_EQ(line["kernel_file"], "// a");
  EXPECT_EQ(line["verdict"], "correct");
  EXPECT_EQ(line["speedup_low"], 1.5);
  EXPECT_EQ(line["speedup_high"], 2.5);
  EXPECT_EQ(line["candidate_id"], candidate);
  EXPECT_EQ(line["completion_tokens"], 14);
  EXPECT_EQ(line["parents"], json::array());
}

TEST(Training, AWrongKernelHasNoSpeed) {
  TrainingStore t;
  tasks::Evaluation unseen = correct_evaluation(3);
  unseen.verdict = tasks::Verdict::WrongUnseen;
  t.answer("a", "ask", "r", unseen);
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Rewards));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["speedup"], nullptr);
  EXPECT_EQ(lines[0]["speedup_high"], nullptr);
  EXPECT_EQ(lines[0]["reward"], 0);
}

TEST(Training, NamesTheParents) {
  TrainingStore t;
  const RowId parent = t.answer("a", "ask", "r", correct_evaluation(2));
  t.store.begin_call(t.run, t.task, "b", "replay", "m", json::object());
  ModelCallRow outcome;
  outcome.status = "ok";
  t.store.finish_call(2, outcome);
  CandidateRow row;
  row.call_key = "b";
  row.origin = "model";
  row.text = "// b";
  row.parent_id = parent;
  t.store.add_evaluations(t.store.add_candidate(t.run, t.task, row), {wrong_evaluation()});
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Rewards));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1]["parents"], json::array({parent}));
  EXPECT_EQ(lines[1]["reward"], 0);
}

TEST(Training, AReplyWithoutAKernelFileHasNone) {
  TrainingStore t;
  tasks::Evaluation no_code;
  no_code.verdict = tasks::Verdict::BadReply;
  no_code.stage = tasks::Stage::Parse;
  t.answer("a", "ask", "Sorry.", no_code);
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Rewards));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["kernel_file"], nullptr);
  EXPECT_EQ(lines[0]["reasoning"], nullptr);
  EXPECT_EQ(lines[0]["speedup"], nullptr);
  EXPECT_EQ(lines[0]["reward_terms"],
            json({{"has_kernel", 0}, {"compiled", 0}, {"correct", 0}, {"speedup_low", 0}}));
}

/// Two replies to one prompt, of which the second was raced against the first and won.
void add_race(TrainingStore& t) {
  t.answer("a", "ask", "slow", correct_evaluation(2));
  const std::string rival = t.store.leaderboard({}).front().kernel;
  tasks::Evaluation faster = correct_evaluation(3);
  faster.race = tasks::RaceResult{};
  faster.race->rival = rival;
  faster.race->verdict = "faster";
  faster.race->ratio = 1.5;
  faster.race->bounds = {1.4, 1.6};
  t.answer("b", "ask", "fast", faster);
}

TEST(Training, APairHasTheFasterOfTwoRepliesFirst) {
  TrainingStore t;
  add_race(t);
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Preferences));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["chosen"]["reply"], "fast");
  EXPECT_EQ(lines[0]["rejected"]["reply"], "slow");
  EXPECT_EQ(lines[0]["ratio_low"], 1.4);
  EXPECT_EQ(lines[0]["messages"][1]["content"], "ask");
}

TEST(Training, HiddenShapesHeldOutResultsKeysAndPathsStay) {
  TrainingStore t;
  tasks::Evaluation hidden = wrong_evaluation();
  hidden.verdict = tasks::Verdict::WrongUnseen;
  hidden.detail = "n=123457: y is wrong; /home/somebody/kernel.cu";
  hidden.notes = {"n=123457"};
  hidden.build.log = "/home/somebody/kernel.cu:7: warning";
  t.answer("unseen", "ask", "r", hidden);
  add_race(t);
  tasks::SittingRow row;
  row.kernel = t.store.leaderboard({}).front().kernel;
  row.rank = 1;
  row.held_out_speedup = 765.4321;
  tasks::SittingResult sitting;
  sitting.rows = {row};
  t.store.add_sitting(t.run, t.task, sitting);
  t.store.add_event(t.run, "started", {{"file", "/home/somebody/live.toml"}});
  for (const auto selection : {TrainingSelection::Supervised, TrainingSelection::Preferences,
                               TrainingSelection::Rewards}) {
    const auto lines = lines_of(t.store, options_of(selection));
    EXPECT_FALSE(lines.empty());
    for (const json& line : lines) {
      for (const char* secret :
           {"123457", "promotion/0", "765.43", "held_out", "sk-never", "somebody", "store.db"}) {
        EXPECT_THAT(line.dump(), Not(HasSubstr(secret)));
      }
    }
  }
}

TEST(Training, ALineThatNamesAFolderOfTheMachineIsLeftOut) {
  TrainingStore t;
  t.answer("a", "ask", "see /home/somebody/notes", correct_evaluation(2));
  t.answer("b", "ask again", "r", correct_evaluation(2));
  TrainingOptions options = options_of(TrainingSelection::Supervised);
  options.secret = {"/home/somebody"};
  TrainingSummary summary;
  EXPECT_EQ(lines_of(t.store, options, &summary).size(), 1U);
  EXPECT_THAT(summary.left_out, ElementsAre(::testing::Pair("names a folder of this machine", 1)));
}

TEST(Training, BytesThatAreNoTextAreReplaced) {
  TrainingStore t;
  t.answer("a", std::string("a\0b", 3), "lone \xED\xA0\x80 \xFF", correct_evaluation(2));
  const auto lines = lines_of(t.store, options_of(TrainingSelection::Supervised));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["messages"][1]["content"], "a\uFFFDb");
  EXPECT_THAT(lines[0]["reply"].get<std::string>(), HasSubstr("lone \uFFFD"));
}

TEST(Training, OfAnEmptyStoreHasNoLine) {
  const TestStore t;
  TrainingSummary summary;
  EXPECT_THAT(lines_of(t.store, options_of(TrainingSelection::Rewards), &summary), IsEmpty());
  EXPECT_EQ(summary.replies, 0U);
}

TEST(JsonDocumentation, ListsEveryFieldOfTraining) {
  TrainingStore t;
  add_race(t);
  const test::JsonPage page(WINNOW_SOURCE_DIR);
  for (const auto selection : {TrainingSelection::Supervised, TrainingSelection::Preferences,
                               TrainingSelection::Rewards}) {
    for (const json& line : lines_of(t.store, options_of(selection))) {
      EXPECT_THAT(page.missing(line), IsEmpty());
    }
  }
}

} // namespace
} // namespace winnow::store
