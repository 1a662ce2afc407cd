#include "harness/suite/suite_scores.h"
#include "tests/support/json_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using store::SuiteCall;
using tasks::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

tasks::SuiteTask problem(const std::string& folder, const std::string& name,
                         std::vector<std::string> flags = {}) {
  tasks::SuiteTask one;
  one.folder = folder;
  one.task.name = name;
  one.task.digest = "digest of " + name;
  one.task.source.flags = std::move(flags);
  return one;
}

SuiteCall call(const std::string& task, Verdict verdict, double speedup = 0) {
  SuiteCall call;
  call.task = task;
  call.task_digest = "digest of " + task;
  call.model = "m";
  call.prompt_tokens = 100;
  call.completion_tokens = 10;
  call.dollars = 0.25;
  call.is_made = true;
  call.is_answered = true;
  call.candidate = 1;
  call.verdict = verdict;
  call.stage = verdict == Verdict::CompileError ? tasks::Stage::Compile : tasks::Stage::Done;
  call.device_name = "H100";
  call.digest = "kernel of " + task;
  call.speedup = speedup;
  call.speedup_bounds = {speedup * 0.9, speedup / 0.9};
  return call;
}

/// Four problems; the last one is flagged, and the third has no reply.
class SuiteScores : public testing::Test {
protected:
  json document() const { return suite_json("kb", tasks_, {run_}); }
  json folder(const std::string& name) const {
    const json folders = document().at("runs").at(0).at("folders");
    for (const json& folder : folders) {
      if (folder.at("folder") == name) {
        return folder;
      }
    }
    return {};
  }
  static std::vector<int> fast(const json& score) {
    std::vector<int> counts;
    for (const json& one : score.at("fast")) {
      counts.push_back(one.at("problems").get<int>());
    }
    return counts;
  }

  std::vector<tasks::SuiteTask> tasks_{problem("level1", "a"), problem("level1", "b", {"scaled"}),
                                       problem("level2", "c"),
                                       problem("level2", "d", {"scaled", "passes: zeros"})};
  SuiteRun run_{1,
                "bench",
                "finished",
                "best-of-n",
                2,
                false,
                {call("a", Verdict::Correct, 1), call("b", Verdict::CompileError),
                 call("d", Verdict::Correct, 8), call("a", Verdict::Correct, 2),
                 call("b", Verdict::Wrong), call("d", Verdict::Wrong)},
                {{{"a", "digest of a"}, 2}, {{"d", "digest of d"}, 1}}};
};

TEST_F(SuiteScores, FastPCountsAllProblemsAndOnlyFasterKernels) {
  const json all = folder("all");
  EXPECT_EQ(all.at("problems"), 4);
  EXPECT_EQ(all.at("flagged"), 1);
  EXPECT_EQ(all.at("scaled"), 2);
  const json& first = all.at("scores").at(0);
  EXPECT_EQ(first.at("replies"), "first");
  EXPECT_EQ(first.at("answered"), 3);
  EXPECT_EQ(first.at("compiled_share"), 0.5);
  EXPECT_EQ(first.at("correct_share"), 0.5);
  EXPECT_THAT(fast(first), ElementsAre(2, 2, 2, 1, 1, 1)) << "1.00x is not faster than 1";
  EXPECT_EQ(first.at("fast").at(3).at("share"), 0.25);
  const json& best = all.at("scores").at(1);
  EXPECT_EQ(best.at("replies"), "best");
  EXPECT_EQ(best.at("compiled_share"), 0.75) << "the second reply for b compiles";
  EXPECT_THAT(fast(best), ElementsAre(2, 2, 2, 2, 2, 1)) << "2.00x is not faster than 2";
  EXPECT_NEAR(best.at("speedup").get<double>(), 4, 1e-9);
  EXPECT_NEAR(best.at("speedup_low").get<double>(), 4 * std::pow(0.9, std::sqrt(0.5)), 1e-9);
}

TEST_F(SuiteScores, LeavesFlaggedProblemsOut) {
  const json level2 = folder("level2");
  ASSERT_EQ(level2.at("scores").size(), 4U);
  EXPECT_THAT(fast(level2.at("scores").at(0)), ElementsAre(1, 1, 1, 1, 1, 1));
  const json& unflagged = level2.at("scores").at(2);
  EXPECT_EQ(unflagged.at("without_flagged"), true);
  EXPECT_EQ(unflagged.at("problems"), 1);
  EXPECT_THAT(fast(unflagged), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_TRUE(unflagged.at("speedup").is_null());
  EXPECT_EQ(folder("level1").at("scores").size(), 2U) << "no problem of level 1 is flagged";
}

TEST_F(SuiteScores, PassAtKNeedsIndependentReplies) {
  EXPECT_DOUBLE_EQ(pass_at(1, 4, 1), 0.25);
  EXPECT_DOUBLE_EQ(pass_at(2, 4, 1), 0.5);
  EXPECT_DOUBLE_EQ(pass_at(2, 4, 3), 1);
  EXPECT_DOUBLE_EQ(pass_at(4, 4, 0), 0);
  const json pass = folder("level1").at("pass");
  ASSERT_EQ(pass.size(), 2U);
  EXPECT_EQ(pass.at(0).at("share"), 0.5) << "both replies for a are correct, none for b is";
  run_.strategy = "archive";
  EXPECT_THAT(folder("level1").at("pass"), IsEmpty());
  run_.strategy = "external:sampler"; // of somebody else, who states it
  EXPECT_THAT(folder("level1").at("pass"), IsEmpty());
  run_.states_independence = true;
  EXPECT_EQ(folder("level1").at("pass"), pass);
  EXPECT_FALSE(document().at("comparison").at("rows").at(0).at("pass_at_1").at("value").is_null());
}

TEST_F(SuiteScores, ProficiencyNeedsTenIndependentReplies) {
  const auto level = [&] {
    return document().at("runs").at(0).at("problems").at(0).at("proficiency");
  };
  EXPECT_TRUE(level().is_null()) << "there are two replies for a";
  run_.calls.assign(9, call("a", Verdict::Correct, 2));
  run_.calls.push_back(call("a", Verdict::BadPlan));
  EXPECT_EQ(level(), 0.5) << "a kernel file with a mistake";
  run_.calls[9] = call("a", Verdict::BadReply);
  EXPECT_EQ(level(), 0.25) << "no kernel file";
  run_.calls[9].is_answered = false;
  EXPECT_TRUE(level().is_null()) << "a call that failed is no suggestion";
  run_.calls[9] = call("a", Verdict::Correct, 2);
  EXPECT_EQ(level(), 1) << "ten times the same kernel file";
  run_.calls[9].digest = "of another kernel file";
  EXPECT_EQ(level(), 0.75);
  run_.strategy = "one-plus-one";
  EXPECT_TRUE(level().is_null()) << "each reply saw the earlier ones";
}

TEST_F(SuiteScores, SumsCostsAndIgnoresOtherRevisionsOfATask) {
  run_.calls.push_back(call("c", Verdict::Correct, 3));
  run_.calls.back().task_digest = "of an earlier revision";
  run_.device_seconds = {{{"a", "digest of a"}, 2},
                         {{"b", "digest of b"}, 1.5},
                         {{"c", "of an earlier revision"}, 64}};
  run_.calls[0].price_unknown = true;
  run_.calls[0].dollars.reset();
  const json all = folder("all");
  EXPECT_EQ(all.at("calls"), 6);
  EXPECT_EQ(all.at("prompt_tokens"), 600);
  EXPECT_EQ(all.at("dollars"), 1.25);
  EXPECT_EQ(all.at("calls_without_price"), 1);
  EXPECT_EQ(all.at("device_seconds"), 3.5);
  EXPECT_EQ(all.at("scores").at(0).at("answered"), 3);
}

TEST_F(SuiteScores, CountNoCallThatNobodyHasAnswered) {
  for (SuiteCall& call : run_.calls) {
    call.price_unknown = true;
    call.dollars.reset();
  }
  SuiteCall unanswered;
  unanswered.task = "a";
  unanswered.task_digest = "digest of a";
  run_.calls.insert(run_.calls.end(), 40, unanswered);
  EXPECT_EQ(folder("all").at("calls"), 6);
  EXPECT_TRUE(folder("all").at("dollars").is_null()) << "no call has a price";
  EXPECT_EQ(document().at("runs").at(0).at("problems").at(0).at("calls"), 2);
  EXPECT_EQ(document().at("comparison").at("rows").at(0).at("calls"), 6);
}

TEST_F(SuiteScores, SayWhatIsOnlyEstimated) {
  EXPECT_THAT(suite_text(document(), false), Not(HasSubstr("at least")));
  run_.calls[0].unconfirmed_tokens = 500;
  run_.calls[0].unconfirmed_dollars = 0.125;
  EXPECT_EQ(folder("all").at("estimated_tokens"), 500);
  EXPECT_EQ(folder("all").at("estimated_dollars"), 0.125);
  EXPECT_THAT(suite_text(document(), false),
              AllOf(HasSubstr("at least $1.50"), HasSubstr(", estimated $0.125")));
}

TEST_F(SuiteScores, TokensThatNobodyCountedAreNotZero) {
  for (SuiteCall& call : run_.calls) {
    call.prompt_tokens = call.completion_tokens = 0;
  }
  EXPECT_EQ(folder("all").at("prompt_tokens"), 0) << "all replies are from a record";
  run_.calls[1].tokens_unknown = true;
  EXPECT_TRUE(folder("all").at("prompt_tokens").is_null());
  EXPECT_TRUE(folder("all").at("completion_tokens").is_null());
  EXPECT_THAT(suite_text(document(), true), testing::ContainsRegex(" -  +-  +3\\.0 "));
  run_.calls[0].prompt_tokens = 100;
  EXPECT_EQ(folder("all").at("prompt_tokens"), 100) << "a lower bound";
}

TEST_F(SuiteScores, ARunThatHasJudgedNothingNamesNoDevice) {
  for (SuiteCall& call : run_.calls) {
    call.device_name.clear();
  }
  EXPECT_THAT(suite_text(document(), false), HasSubstr("run bench (m), best-of-n and "));
}

TEST_F(SuiteScores, SaysAgainstWhatAndWhatIsMissing) {
  run_.calls[2].speedup_versus_compiled = 0.5;
  run_.calls[2].speedup_versus_best = 0.25;
  run_.calls[2].best_alternative = "cuDNN";
  const std::string text = suite_text(document(), true);
  EXPECT_THAT(text, HasSubstr("suite kb: speedups are against PyTorch eager\n"));
  EXPECT_THAT(text, HasSubstr("run bench (m) on H100, best-of-n and 2 calls a problem\n"));
  EXPECT_THAT(text, HasSubstr("level2*"));
  EXPECT_THAT(text, HasSubstr("*: with 2 problems whose sizes are smaller"));
  EXPECT_THAT(text, HasSubstr("problems without a reply: 1; they count as wrong"));
  EXPECT_THAT(text, HasSubstr("against torch.compile:\n"));
  EXPECT_THAT(text, HasSubstr("against the best alternative:\n"));
  EXPECT_THAT(text, testing::ContainsRegex("0\\.25x +cuDNN"));
  EXPECT_THAT(text, HasSubstr("scaled; passes: zeros"));
  EXPECT_THAT(suite_text(document(), false), Not(HasSubstr("passes: zeros")));
  EXPECT_THAT(text, HasSubstr("comparison at 3 problems (1 problem with a flag left out)"));
  EXPECT_THAT(text, HasSubstr("m, best-of-n"));
  EXPECT_THAT(suite_text(suite_json("kb", tasks_, {}), false), HasSubstr("no run of this store"));
}

TEST_F(SuiteScores, EveryFieldIsInTheJsonPage) {
  run_.calls[2].speedup_versus_compiled = run_.calls[2].speedup_versus_best = 0.5;
  EXPECT_THAT(::winnow::test::JsonPage(WINNOW_SOURCE_DIR).missing(document()), IsEmpty());
}

} // namespace
} // namespace winnow::harness
