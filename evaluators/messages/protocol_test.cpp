#include "base/error.h"
#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

TEST(Protocol, RunRequestSurvivesTheTrip) {
  RunRequest request;
  request.module = "/cache/m.so";
  request.workers = 2;
  request.deadline = std::chrono::milliseconds(1234);
  RunCase run_case;
  run_case.seed = 0xffffffffffffffffULL;
  run_case.salt = 0x7ff8fff97ff8fffbULL;
  run_case.outputs = {{"y", 64, 128}};
  run_case.inputs = {{"x", 192, 256}};
  run_case.sampling.emplace();
  run_case.sampling->max_samples = 3;
  tasks::FillStep fill;
  fill.buffer = "y";
  fill.value = -std::numeric_limits<double>::infinity();
  tasks::ResolvedPlan plan;
  plan.steps.emplace_back(fill);
  run_case.plan = plan;
  request.cases.push_back(run_case);

  request.cases[0].repeat = true;
  request.cases[0].sampling->all_judged = true;
  request.cases[0].sampling->overdraft = 16;
  request.cases[0].sampling->places = 9;
  request.cases[0].sampling->judged = 2.5;
  request.cases[0].sampling->least_baseline_ns = 20e3;
  request.cases[0].sampling->has_baseline = false;
  request.cases[0].sampling->areas = 3;
  request.cases[0].sampling->area_bytes = 4096;
  const RunRequest read = decode_run_request(encode(request));
  EXPECT_EQ(read.module, request.module);
  EXPECT_EQ(read.deadline, request.deadline);
  ASSERT_EQ(read.cases.size(), 1U);
  EXPECT_EQ(read.cases[0].seed, run_case.seed);
  EXPECT_EQ(read.cases[0].outputs.at(0).offset, 64U);
  EXPECT_EQ(read.cases[0].inputs.at(0).bytes, 256U);
  const SamplingRequest& sampling = *read.cases[0].sampling;
  EXPECT_EQ(sampling.max_samples, 3);
  EXPECT_EQ(sampling.overdraft, 16);
  EXPECT_EQ(sampling.places, 9);
  EXPECT_EQ(sampling.judged, 2.5);
  EXPECT_EQ(sampling.least_baseline_ns, 20e3);
  EXPECT_FALSE(sampling.has_baseline);
  EXPECT_EQ(sampling.areas, 3);
  EXPECT_EQ(sampling.area_bytes, 4096U);
  EXPECT_TRUE(sampling.all_judged);
  EXPECT_TRUE(read.cases[0].repeat);
  EXPECT_EQ(std::get<tasks::FillStep>(read.cases[0].plan->steps.at(0)).value, fill.value);
}

TEST(Protocol, ReportIsPutTogetherFromItsLines) {
  RunReport report;
  RunCaseReport timed;
  timed.samples_ns = {1.5, 2.5};
  timed.timed_outputs = {{4, 2, 1, 0xfedcba9876543210U, 77}};
  timed.differing = "z";
  RunCaseReport faulty;
  faulty.index = 1;
  faulty.fault = DeviceFault{tasks::Verdict::OutOfBounds, "write of 'y' \xff"};
  faulty.printed = "thread 0";
  EXPECT_TRUE(add_line(report, encode(timed)));
  EXPECT_TRUE(add_line(report, encode(faulty)));
  EXPECT_TRUE(add_line(report, encode_findings({{tasks::Verdict::Unstable, "race", false}})));
  EXPECT_FALSE(report.complete);
  EXPECT_TRUE(add_line(report, encode_end()));
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.cases.at(0).samples_ns, (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(report.cases.at(0).timed_outputs.at(0).contestant, 4U);
  EXPECT_EQ(report.cases.at(0).timed_outputs.at(0).launch, 2);
  EXPECT_EQ(report.cases.at(0).timed_outputs.at(0).area, 1);
  EXPECT_EQ(report.cases.at(0).timed_outputs.at(0).salt, 0xfedcba9876543210U);
  EXPECT_EQ(report.cases.at(0).timed_outputs.at(0).draw, 77U);
  EXPECT_EQ(report.cases.at(0).differing, "z");
  EXPECT_EQ(report.cases.at(1).printed, "thread 0");
  EXPECT_EQ(report.cases.at(1).fault->verdict, tasks::Verdict::OutOfBounds);
  EXPECT_EQ(report.cases.at(1).fault->detail, "write of 'y' \xef\xbf\xbd") << "U+FFFD";
  EXPECT_FALSE(report.findings.at(0).certain);
}

TEST(Protocol, AQuestionForInputsIsToldFromAReport) {
  const auto needed = decode_inputs_needed(encode(InputsNeeded{3, 77}));
  ASSERT_TRUE(needed);
  EXPECT_EQ(needed->index, 3U);
  EXPECT_EQ(needed->seed, 77U);
  for (const std::string& line : {std::string(), std::string("{"), encode(RunCaseReport()),
                                  std::string(R"({"needs":0})"), encode_end()}) {
    EXPECT_FALSE(decode_inputs_needed(line)) << line;
  }
}

TEST(Protocol, LinesThatAreNotOursAreRefused) {
  RunReport report;
  for (const char* line : {"", "{", "[]", "null", "{\"case\":0}", R"({"ran":"-1"})",
                           R"({"ran":"1.5"})", R"({"ran":"1" })", R"({"ran":""})",
                           "{\"case\":-1,\"samples_ns\":[],\"fault\":{\"verdict\":\"fine\"}}"}) {
    EXPECT_FALSE(add_line(report, line)) << line;
  }
  EXPECT_FALSE(report.complete);
}

TEST(Protocol, JudgeReplyKeepsNanAndInfinity) {
  JudgeReply reply;
  reply.verdict = tasks::Verdict::Wrong;
  reply.ratios = {std::numeric_limits<double>::infinity(), 0.5};
  reply.mismatch = tasks::Mismatch{};
  reply.mismatch->got = std::nan("");
  reply.mismatch->expected = 1.25e-300;
  const JudgeReply read = decode_judge_reply(encode(reply));
  EXPECT_TRUE(std::isinf(read.ratios.element));
  EXPECT_EQ(read.ratios.norm, 0.5);
  EXPECT_TRUE(std::isnan(read.mismatch->got));
  EXPECT_DOUBLE_EQ(read.mismatch->expected, 1.25e-300);
}

TEST(Protocol, AReportThatSaysNothingIsShort) {
  RunCaseReport ran;
  ran.index = 7;
  EXPECT_EQ(encode(ran), "{\"ran\":\"7\"}\n");
  RunReport report;
  EXPECT_TRUE(add_line(report, encode(ran)));
  ASSERT_EQ(report.cases.size(), 1U);
  EXPECT_EQ(report.cases[0].index, 7U);
  ran.differing = "y";
  EXPECT_TRUE(add_line(report, encode(ran)));
  EXPECT_EQ(report.cases.at(1).differing, "y");
}

TEST(Protocol, AReplyThatAllIsRightIsShort) {
  JudgeReply reply;
  reply.verdict = tasks::Verdict::Correct;
  reply.ratios = {0.1 + 0.2, 0.25};
  EXPECT_EQ(encode(reply), "{\"correct\":\"0.30000000000000004 0.25\"}\n");
  const JudgeReply read = decode_judge_reply(encode(reply));
  EXPECT_EQ(read.verdict, tasks::Verdict::Correct);
  EXPECT_EQ(read.ratios.element, reply.ratios.element);
  EXPECT_EQ(read.ratios.norm, reply.ratios.norm);
  reply.ratios.norm = std::nan("");
  EXPECT_TRUE(std::isnan(decode_judge_reply(encode(reply)).ratios.norm));
  EXPECT_THROW(decode_judge_reply(R"({"correct":"0.5"})"), std::exception);
  EXPECT_THROW(decode_judge_reply(R"({"correct":"fine"})"), std::exception);
  EXPECT_THROW(decode_judge_reply(R"({"correct":"inf"})"), std::exception);
}

TEST(Arena, IsSharedFixedInSizeAndChecked) {
  Arena arena(1U << 20U);
  const ArenaView one(arena.fd()), other(arena.fd());
  one.slice(100, 4)[0] = std::byte{42};
  EXPECT_EQ(other.slice(100, 1)[0], std::byte{42});
  EXPECT_THROW(one.slice(1U << 20U, 1), Error);
  EXPECT_THROW(one.slice(8, ~std::uint64_t{0}), Error);
  arena.clear();
  EXPECT_EQ(other.slice(100, 1)[0], std::byte{0});
}

TEST(Arena, CannotBeReachedWhileItIsHidden) {
  const Arena arena(1U << 20U);
  const ArenaView view(arena.fd());
  std::byte* data = view.slice(100, 4).data();
  *data = std::byte{42};
  view.hide();
  EXPECT_EXIT(*data = std::byte{43}, testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EQ(view.slice(100, 1)[0], std::byte{42});
}

} // namespace
} // namespace winnow::evaluators
