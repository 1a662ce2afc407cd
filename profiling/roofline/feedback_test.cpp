#include "base/text.h"
#include "profiling/counters/counter_names.h"
#include "profiling/roofline/feedback.h"

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::profiling {
namespace {

using testing::HasSubstr;
using testing::Not;

ShapeProfile profile(const std::string& shape, double time_ns, double dram_pct) {
  ShapeProfile profile;
  profile.shape = shape;
  profile.time_ns = time_ns;
  profile.speed_of_light = SpeedOfLight{};
  profile.speed_of_light->fraction = 0.5;
  profile.speed_of_light->bound = "DRAM's peak";
  profile.speed_of_light->rate = 4.8e12;
  profile.speed_of_light->least_ns = 22'600;
  profile.speed_of_light->bytes = profile.speed_of_light->floor_bytes = 100e6;
  profile.speed_of_light->copy_ns = 27'000;
  profile.speed_of_light->copy_level = "DRAM";
  profile.speed_of_light->launch_ns = 2'000;
  profile.counters.counters["dram_throughput_pct"].value = dram_pct;
  profile.counters.counters["dram_read_bytes"].value = 400e6;
  LimiterFacts facts;
  facts.counters = profile.counters;
  profile.findings = limiter_of(facts);
  return profile;
}

std::string unwrapped(const std::string& text) {
  return std::regex_replace(text, std::regex("\n {5,}"), " ");
}

void expect_a_screen(const std::string& text) {
  const std::vector<std::string_view> lines = split_lines(text);
  EXPECT_LE(lines.size(), kFeedbackLines);
  for (const std::string_view line : lines) {
    EXPECT_LE(line.size(), kFeedbackColumns) << line;
  }
}

TEST(Feedback, TellsTimeSpeedLimiterAndCounters) {
  EXPECT_EQ(
      limiter_feedback({profile("n=4096", 45'200, 87)}),
      "n=4096: 45.2 us, 50 % of the speed of light (DRAM's peak, 4.80 TB/s)\n"
      "  speed of light: 22.6 us: 100 MB at DRAM's peak; an empty launch of 2.00 us\n"
      "  measured here: a plain copy of the same 100 MB (DRAM) takes 27.0 us, an empty launch "
      "2.00 us\n"
      "  limited by DRAM bandwidth: DRAM throughput 87 % of its peak\n");
}

TEST(Feedback, TellsHowBusyTheUnitsAreAndWhatWarpsWaitFor) {
  ShapeProfile one = profile("n=4096", 45'200, 87);
  const auto set = [&](const char* key, double value) { one.counters.counters[key].value = value; };
  for (const auto& [key, value] : {std::pair{"tensor_pipe_pct", 61.7},
                                   {"xu_pipe_pct", 48.2},
                                   {"fma_pipe_pct", 0.2},
                                   {"sm_cycles", 79'100},
                                   {"gpu_time_ns", 45'200},
                                   {"stall_barrier", 3},
                                   {"stall_wait", 1},
                                   {"stall_gmma", 5},
                                   {"stall_mio_throttle", 0.1}}) {
    set(key, value);
  }
  const std::string text = unwrapped(limiter_feedback({one}));
  EXPECT_THAT(
      text,
      HasSubstr(
          "  busy: tensor 62 %, special functions 48 %, DRAM 87 %, clock of this run 1.75 GHz\n"));
  EXPECT_THAT(
      text,
      HasSubstr("  warps wait for: matrix multiplies 50 %, barriers 30 %, fixed latencies 10 %\n"));
}

TEST(Feedback, TellsWhatChangedSinceTheParent) {
  ShapeProfile before = profile("n=4096", 90'400, 40);
  const std::string text = limiter_feedback({profile("n=4096", 45'200, 87)}, {before});
  EXPECT_THAT(text, HasSubstr("since the parent: time 90.4 us -> 45.2 us (-50 %)"));
  EXPECT_THAT(text, HasSubstr("limiter unknown -> DRAM bandwidth"));
  EXPECT_THAT(text, Not(HasSubstr("DRAM bytes read"))); // equal in both profiles
  EXPECT_THAT(unwrapped(text), HasSubstr("DRAM throughput, of its peak 40 % -> 87 %"));
  expect_a_screen(text);
}

TEST(Feedback, CutsNoWordOfTheSpeedOfLight) {
  ShapeProfile gemm = profile("k=4096, m=4096, n=4096, scale_a=0.5, scale_b=0.25", 17.3e6, 10);
  gemm.speed_of_light->bound = "tensor peak, f32 by 3 f16 products";
  gemm.speed_of_light->by_bytes = false;
  gemm.speed_of_light->rate = 357e12;
  gemm.speed_of_light->rate_ns = 2'690'000;
  gemm.speed_of_light->rate_kind = "f32";
  const std::string text = limiter_feedback({gemm});
  expect_a_screen(text);
  EXPECT_THAT(unwrapped(text),
              HasSubstr("the operations at the measured f32 rate 2.69 ms, an empty "
                        "launch 2.00 us\n"));
  EXPECT_THAT(text, HasSubstr("products, 357"));
}

TEST(Feedback, CutsLongTextsBetweenWords) {
  ShapeProfile gemm = profile("batch=16, k=4096, m=4096, scale_a=0.5, scale_b=0.25", 1e5, 10);
  gemm.findings[0].because.clear();
  for (int i = 0; i < 99; ++i) {
    gemm.findings[0].because += "counter" + std::string(static_cast<std::size_t>(i) % 7, '7') + " ";
  }
  const std::string text = limiter_feedback({gemm});
  expect_a_screen(text);
  EXPECT_THAT(text, HasSubstr("batch=16, k=4096, m=4096, ...: "));
  EXPECT_TRUE(std::regex_search(text, std::regex(" counter7* \\.\\.\\.\n"))) << text;
}

TEST(Feedback, KeepsEveryWordOfTheLongestLimiter) {
  LimiterFacts facts;
  facts.counters.counters["l2_throughput_pct"].value = 45;
  facts.counters.counters["load_sectors_per_request"].value = 32;
  facts.counters.counters["store_sectors_per_request"].value = 32;
  ShapeProfile scattered = profile("n=1", 1e5, 10);
  scattered.findings = limiter_of(facts);
  EXPECT_THAT(unwrapped(limiter_feedback({scattered})),
              HasSubstr(scattered.findings[0].because + "\n"));
}

TEST(Feedback, KeepsSmallChangesToItself) {
  const std::string text =
      limiter_feedback({profile("n=1", 104'000, 84)}, {profile("n=1", 100'000, 82)});
  EXPECT_THAT(text, HasSubstr("since the parent: no change of more than 5 %"));
  EXPECT_THAT(text, Not(HasSubstr("->")));
}

TEST(Feedback, ComparesOnlyTheSameShape) {
  EXPECT_THAT(limiter_feedback({profile("n=1", 1e5, 84)}, {profile("n=2", 5e5, 20)}),
              Not(HasSubstr("parent")));
}

TEST(Feedback, SaysThatTheMachineCodeIsTheSame) {
  const std::string text =
      limiter_feedback({profile("n=1", 1e5, 84)}, {profile("n=1", 5e5, 20)}, true);
  EXPECT_THAT(text, HasSubstr("the same as the parent's"));
  EXPECT_THAT(text, Not(HasSubstr("->")));
}

TEST(Feedback, FitsOnAScreenWhateverItGets) {
  std::vector<ShapeProfile> many;
  std::vector<ShapeProfile> parents;
  for (int i = 0; i < 40; ++i) {
    many.push_back(profile(std::string(300, 'n') + std::to_string(i), 1e5, 70));
    many.back().findings[0].because = std::string(90, 'x') + "\n" + std::string(400, 'y');
    many.back().findings.push_back(many.back().findings[0]);
    many.back().no_speed_of_light = std::string(500, 'z');
    many.back().speed_of_light.reset();
    parents.push_back(many.back());
    parents.back().counters.counters["dram_throughput_pct"].value = 10;
  }
  const std::string text = limiter_feedback(many, parents);
  expect_a_screen(text);
  EXPECT_THAT(text, HasSubstr("more shapes)"));
  EXPECT_EQ(text, limiter_feedback(many, parents));
}

TEST(Feedback, CutsBetweenCharacters) {
  ShapeProfile odd = profile("", 1e5, 70);
  for (int i = 0; i < 60; ++i) {
    odd.shape += "\xc3\xa9"; // two bytes
  }
  EXPECT_FALSE(find_invalid_utf8(limiter_feedback({odd})));
  expect_a_screen(limiter_feedback({odd}));
}

TEST(Feedback, FillsTheScreenToTheLastLine) {
  const std::vector<ShapeProfile> eight(8, profile("n=1", 1e5, 70)); // four lines each
  const std::string text = limiter_feedback(eight);
  EXPECT_EQ(split_lines(text).size(), kFeedbackLines);
  EXPECT_THAT(text, Not(HasSubstr("more shape")));
}

TEST(Feedback, SaysWhatIsMissing) {
  ShapeProfile unknown;
  unknown.shape = "n=1";
  unknown.no_speed_of_light = "the task has no model of bytes and operations";
  EXPECT_EQ(limiter_feedback({unknown}), "n=1: not timed, speed of light unknown: the task has no "
                                         "model of bytes and operations\n");
  EXPECT_EQ(limiter_feedback({}), "");
}

TEST(CounterText, ScalesUnits) {
  EXPECT_EQ(counter_text(0, "B"), "0.00 B");
  EXPECT_EQ(counter_text(999, "B"), "999 B");
  EXPECT_EQ(counter_text(412'345'678, "B"), "412 MB");
  EXPECT_EQ(counter_text(45'200, "ns"), "45.2 us");
  EXPECT_EQ(counter_text(3.14, "%"), "3.1 %");
  EXPECT_EQ(counter_text(87.4, "%"), "87 %");
  EXPECT_EQ(counter_text(12.345, "warps"), "12.3");
}

} // namespace
} // namespace winnow::profiling
