#include "base/error.h"
#include "search/counsel.h"
#include "search/policy.h"
#include "search/testing/archive_search_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::search {
namespace {

using tasks::Verdict;
using test::failed;
using test::fast;
using test::kACall;
using test::kFirst;
using test::kThisEvaluator;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kAdvice = R"({"bottleneck": "DRAM"})";
const std::string kAccept = R"({"verdict": "accept", "findings": []})";
const std::string kReject =
    R"({"verdict": "reject", "findings": [{"line": 1, "reason": "memory", "text": "x"}]})";

/// A search of the task "axpy" with roles, whose baseline is judged.
class CounselTest : public testing::Test {
protected:
  void begin(const std::string& strategy, std::vector<std::string> roles,
             std::size_t proposals = 30) {
    settings_.task = "axpy";
    settings_.proposals = proposals;
    settings_.seeds = 1;
    settings_.evaluator_version = kThisEvaluator;
    settings_.roles = std::move(roles);
    search_ = make_search(strategy, settings_);
    search_->apply(Added{kFirst, "", 0});
    measure(kFirst, fast(1));
  }

  /// Carries the decision out. Fails if there is none of this kind.
  template <typename Kind> Kind decide(const Capacity& capacity = kACall) {
    const auto action = search_->decide(capacity);
    EXPECT_TRUE(action && std::holds_alternative<Kind>(*action));
    if (!action || !std::holds_alternative<Kind>(*action)) {
      return {};
    }
    search_->apply(Decided{*action, capacity});
    return std::get<Kind>(*action);
  }
  Ask ask() { return decide<Ask>(); }

  void measure(CandidateId candidate, const Outcome& outcome) {
    EXPECT_EQ(decide<Evaluate>({}).candidate, candidate);
    search_->apply(Evaluated{candidate, outcome});
  }
  CandidateId add(const Ask& ask) {
    search_->apply(Added{++last_, ask.key, 0.02});
    return last_;
  }
  void advise(const Ask& ask, const std::string& advice, double dollars = 0.01) {
    search_->apply(Advised{ask.key, advice, dollars, 2});
  }
  RoleStanding standing(std::size_t at = 0) const { return search_->roles().at(at); }

  /// A candidate of a new call that is (or is not) drawn for an audit.
  CandidateId add_drawn(bool is_audited) {
    while (runs_anyway(settings_, last_ + 1) != is_audited) {
      ++last_;
    }
    return add(ask());
  }

  Settings settings_;
  std::unique_ptr<Search> search_;
  CandidateId last_ = kFirst;
};

TEST_F(CounselTest, TheJudgeSpeaksAboutTheParentBeforeTheCall) {
  begin("one-plus-one", {"judge"});
  const Ask judge = ask();
  EXPECT_EQ(judge.key, "axpy/judge/0");
  EXPECT_EQ(judge.op, "judge");
  EXPECT_THAT(judge.parents, ElementsAre(kFirst));
  EXPECT_EQ(search_->asks(), 1U) << "the waiting call counts, the judge's call does not";
  EXPECT_FALSE(search_->decide(kACall)) << "the lineage waits for its call";
  advise(judge, kAdvice);
  EXPECT_FALSE(search_->decide({})) << "there is no room for a call";
  const Ask call = ask();
  EXPECT_EQ(call.key, "axpy/0/0");
  EXPECT_EQ(call.op, "improve");
  EXPECT_EQ(call.advice, judge.key);
  measure(add(call), fast(2));
  EXPECT_EQ(search_->find(last_)->ask->advice, judge.key);
  EXPECT_THAT(ask().parents, ElementsAre(last_)) << "the next advice is about the new kernel";
  EXPECT_EQ(standing().calls, 2);
  EXPECT_EQ(standing().useful, 1);
  EXPECT_DOUBLE_EQ(standing().dollars, 0.01);
}

TEST_F(CounselTest, ACallThatWaitsKeepsItsParent) {
  begin("archive", {"judge"});
  const CandidateId kernel = add(ask()); // a seed, which no judge sees
  measure(kernel, fast(2));
  const Ask judge = ask();
  EXPECT_THAT(judge.parents, ElementsAre(kernel));
  const Ask other = ask(); // the search goes on while the judge thinks
  EXPECT_NE(other.waiting_key, judge.waiting_key);
  advise(other, kAdvice);
  measure(add(ask()), fast(5)); // a new leader
  advise(judge, kAdvice);
  const Ask call = ask();
  EXPECT_EQ(call.key, judge.waiting_key);
  EXPECT_EQ(call.op, judge.waiting_op);
  EXPECT_THAT(call.parents, ElementsAre(kernel));
  EXPECT_EQ(call.best->candidate, kernel) << "as it was when the judge was asked";
}

TEST_F(CounselTest, AJudgeWithoutAUsefulReplyHoldsNothingBack) {
  begin("best-of-n", {"judge"});
  const Ask first = ask();
  search_->apply(Unanswered{first.key});
  EXPECT_EQ(ask().advice, "");
  const Ask second = ask();
  advise(second, "");
  EXPECT_EQ(ask().advice, "");
  EXPECT_EQ(standing().useful, 0);
  search_->apply(Resumed{});
  EXPECT_EQ(ask().op, "judge");
}

TEST_F(CounselTest, NoJudgeForSeedsAndRepairs) {
  begin("archive", {"judge"});
  const Ask seed = ask();
  EXPECT_EQ(seed.op, "seed");
  measure(add(seed), failed(Verdict::CompileError));
  EXPECT_EQ(ask().op, "repair");
}

TEST_F(CounselTest, TheVerifierReadsACandidateBeforeItRuns) {
  begin("best-of-n", {"verifier"});
  const CandidateId candidate = add_drawn(false);
  EXPECT_FALSE(search_->decide({})) << "there is no room for the verifier's call";
  const Ask verify = ask();
  EXPECT_EQ(verify.key, "axpy/verify/0");
  EXPECT_THAT(verify.parents, ElementsAre(candidate));
  EXPECT_FALSE(search_->decide({})) << "the verifier has not answered";
  advise(verify, kAccept);
  measure(candidate, fast(2));
  EXPECT_EQ(search_->find(candidate)->outcome->speedup, 2);
}

TEST_F(CounselTest, ARejectedCandidateDoesNotRun) {
  begin("best-of-n", {"verifier"});
  const CandidateId candidate = add_drawn(false);
  advise(ask(), kReject);
  EXPECT_FALSE(search_->decide({}));
  search_->apply(Evaluated{candidate, failed(Verdict::Refused)});
  EXPECT_EQ(search_->find(candidate)->outcome->verdict, Verdict::Refused);
  EXPECT_EQ(ask().op, "improve") << "the search goes on";
}

TEST_F(CounselTest, AnAuditRunsARejectedCandidate) {
  begin("best-of-n", {"verifier"});
  const CandidateId candidate = add_drawn(true);
  advise(ask(), kReject);
  measure(candidate, fast(2));
}

TEST_F(CounselTest, OneOfTenRejectedCandidatesIsAudited) {
  Settings settings;
  settings.task = "axpy";
  int drawn = 0;
  constexpr int kCandidates = 10'000;
  for (CandidateId candidate = 1; candidate <= kCandidates; ++candidate) {
    drawn += runs_anyway(settings, candidate) ? 1 : 0;
  }
  EXPECT_NEAR(drawn, kAuditShare * kCandidates, 100) << "3.3 standard deviations";
}

TEST_F(CounselTest, AFaultOfTheMachineAsksNoVerifierAgain) {
  begin("best-of-n", {"verifier"});
  const CandidateId candidate = add_drawn(false);
  advise(ask(), kAccept);
  decide<Evaluate>({});
  search_->apply(Faulted{candidate});
  measure(candidate, fast(2));
}

TEST_F(CounselTest, ACandidateRunsWithoutAVerifierThatDoesNotAnswer) {
  begin("best-of-n", {"verifier"});
  const CandidateId first = add_drawn(false);
  search_->apply(Unanswered{ask().key});
  measure(first, fast(2));
  const CandidateId second = add_drawn(false);
  advise(ask(), ""); // a reply of no use
  measure(second, fast(2));
}

TEST_F(CounselTest, AVerifierThatCostsMoreThanItSavesIsSwitchedOff) {
  begin("best-of-n", {"verifier"});
  for (int i = 0; i < kVerifierTrial; ++i) {
    EXPECT_EQ(standing().off, "") << i;
    const CandidateId candidate = add(ask());
    advise(ask(), kAccept);
    measure(candidate, fast(2));
  }
  EXPECT_THAT(standing().off, HasSubstr("8 answers have cost $0.0933"))
      << "8 calls for $0.01, and 16 s in which the device waited, at $3 an hour";
  const CandidateId candidate = add(ask());
  measure(candidate, fast(2));
  EXPECT_EQ(standing().calls, kVerifierTrial);
}

TEST_F(CounselTest, AVerifierThatSavesDeviceTimeStays) {
  begin("best-of-n", {"verifier"});
  for (int i = 0; i < 2 * kVerifierTrial; ++i) {
    const CandidateId candidate = add(ask());
    advise(ask(), kReject);
    Outcome outcome = failed(runs_anyway(settings_, candidate) ? Verdict::Wrong : Verdict::Refused);
    if (runs_anyway(settings_, candidate)) {
      outcome.device_seconds = 36'000; // of thirty dollars
      measure(candidate, outcome);
    } else {
      search_->apply(Evaluated{candidate, outcome});
    }
    const auto ask_next = search_->decide(kACall);
    ASSERT_TRUE(ask_next);
  }
  EXPECT_EQ(standing().off, "");
}

TEST_F(CounselTest, TheMetaPrompterWritesAVersionThatCallsUse) {
  begin("best-of-n", {"meta-prompter"});
  for (std::size_t i = 0; i < Counsel::kCallsPerVariant; ++i) {
    const Ask call = ask();
    EXPECT_EQ(call.variant, "");
    measure(add(call), fast(1));
  }
  const Ask meta = ask();
  EXPECT_EQ(meta.key, "axpy/meta/0");
  const Ask meanwhile = ask();
  EXPECT_EQ(meanwhile.op, "improve") << "nothing waits for the meta-prompter";
  advise(meta, R"({"words": "use float4"})");
  const Ask call = ask();
  EXPECT_EQ(call.variant, meta.key) << "an arm without children is tried";
  measure(add(call), fast(4));
  EXPECT_EQ(search_->find(last_)->ask->variant, meta.key);
  EXPECT_EQ(ask().variant, meta.key) << "its child has gained";
}

TEST_F(CounselTest, TheNumberOfVersionsIsLimited) {
  begin("best-of-n", {"meta-prompter"}, 200);
  int versions = 0;
  while (const auto action = search_->decide(kACall)) {
    search_->apply(Decided{*action, kACall});
    const Ask& call = std::get<Ask>(*action);
    if (call.op == "meta") {
      ++versions;
      advise(call, R"({"words": "w"})");
    } else {
      measure(add(call), fast(1));
    }
  }
  EXPECT_EQ(versions, static_cast<int>(Counsel::kMostVariants));
  EXPECT_EQ(search_->asks(), 200U);
}

TEST_F(CounselTest, AMetaPrompterWhoseRepliesAreOfNoUseIsNotAskedForever) {
  begin("best-of-n", {"meta-prompter"}, 100);
  while (const auto action = search_->decide(kACall)) {
    search_->apply(Decided{*action, kACall});
    const Ask& call = std::get<Ask>(*action);
    EXPECT_EQ(call.variant, "");
    if (call.op == "meta") {
      advise(call, "");
    } else {
      measure(add(call), fast(1));
    }
  }
  EXPECT_EQ(standing().calls, Counsel::kMostVariants);
  EXPECT_EQ(standing().useful, 0);
}

TEST_F(CounselTest, MemoryIsAnArm) {
  begin("best-of-n", {"memory"}, 60);
  int with = 0;
  for (int i = 0; i < 40; ++i) {
    const Ask call = ask();
    with += call.memory ? 1 : 0;
    measure(add(call), call.memory ? fast(2) : fast(1));
  }
  EXPECT_GT(with, 30) << "only calls with lessons gain";
  EXPECT_LE(with, 40 - PromptArms::kTrial) << "calls without lessons are tried, too";
}

TEST_F(CounselTest, AnExemplarIsAnArm) {
  begin("best-of-n", {"exemplar"}, 60);
  int with = 0;
  for (int i = 0; i < 40; ++i) {
    const Ask call = ask();
    EXPECT_FALSE(call.memory);
    with += call.exemplar ? 1 : 0;
    measure(add(call), call.exemplar ? fast(1) : fast(2));
  }
  EXPECT_LT(with, 10) << "only calls without a kernel of another task gain";
  EXPECT_GE(with, PromptArms::kTrial);
}

/// Six calls of an archive that gain nothing, for $0.02 each. A doubling is worth a dollar, and the
/// next call still promises 5 % of one.
class RolePricesTest : public CounselTest {
protected:
  std::string why_done_with(std::vector<std::string> roles, double dollars) {
    settings_.value_of_doubling = 1;
    begin("archive", std::move(roles));
    std::size_t kernels = 0;
    while (kernels < 12 && search_->why_done().empty()) {
      const auto action = search_->decide(kACall);
      search_->apply(Decided{*action, kACall});
      const auto* call = std::get_if<Ask>(&*action);
      if (call == nullptr) {
        search_->apply(Evaluated{std::get<Evaluate>(*action).candidate, fast(1)});
      } else if (call->op == "judge" || call->op == "verify" || call->op == "meta") {
        advise(*call,
               call->op == "judge"    ? kAdvice
               : call->op == "verify" ? kAccept
                                      : R"({"words": "w"})",
               dollars);
      } else {
        add(*call);
        ++kernels;
      }
    }
    return search_->why_done();
  }
};

TEST_F(RolePricesTest, ACallPaysForItsJudgeAndItsVerifier) {
  EXPECT_EQ(why_done_with({}, 0), "");
  EXPECT_EQ(why_done_with({"judge"}, 0), "");
  EXPECT_THAT(why_done_with({"judge"}, 0.5), HasSubstr("worth less than its price"));
  EXPECT_EQ(why_done_with({"verifier"}, 0), "");
  EXPECT_THAT(why_done_with({"verifier"}, 0.5), HasSubstr("worth less than its price"));
}

TEST_F(RolePricesTest, NoSingleCallPaysForTheMetaPrompter) {
  EXPECT_EQ(why_done_with({"meta-prompter"}, 5), "");
}

TEST_F(CounselTest, RefusesAnUnknownRoleAndATwin) {
  EXPECT_THROW(begin("archive", {"jugde"}), UsageError);
  EXPECT_THROW(begin("archive", {"judge", "judge"}), UsageError);
}

TEST_F(CounselTest, RefusesAdviceWithoutACall) {
  begin("archive", {"judge"});
  EXPECT_THROW(search_->apply(Advised{"axpy/judge/7", kAdvice, 0, 0}), Error);
}

TEST_F(CounselTest, ARoleHasAModelOfItsOwn) {
  settings_.models = {"cheap", "dear"};
  settings_.role_models = {{"judge", "wise"}};
  begin("best-of-n", {"judge", "verifier"});
  const Ask judge = ask();
  EXPECT_EQ(judge.model, "wise");
  advise(judge, kAdvice);
  const Ask call = ask();
  EXPECT_EQ(call.model, "cheap");
  add(call);
  EXPECT_EQ(ask().model, "cheap") << "the verifier asks the kernel's model";
}

} // namespace
} // namespace winnow::search
