#include "evaluators/timing/timed_case.h"
#include "harness/report/kernel_pair_report.h"
#include "harness/report/testing/report_fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

KernelPair full_report() {
  KernelPair report{"axpy", {"fast.cu", "d1", timed_evaluation(10)}, std::nullopt};
  add_profiles(report.kernel.evaluation, {full_profile("1", 92), full_profile("2", 71)});
  return report;
}

KernelPair compared_report() {
  KernelPair report = full_report();
  report.kernel.evaluation.cases = timed_evaluation(10, 1.25).cases;
  report.kernel.evaluation.race = tasks::RaceResult{"d2", "faster", 1.25, {1.24, 1.26}, 20};
  report.against = JudgedKernel{"slow.cu", "d2", timed_evaluation(12.5)};
  add_profiles(report.against->evaluation, {full_profile("1", 80), full_profile("2", 71)});
  return report;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ProfileReport, HasAColumnForEachShape) {
  const std::string text = profile_text(profile_json(full_report()));
  for (const char* line : {"shape +n=1000 +n=2000\n",
                           "median, cold caches +10.01 us +10.01 us\n",
                           "95 % interval +10.00 to 10.02 us",
                           "baseline's median, cold +20.02 us",
                           "speedup over the baseline +2.000x",
                           "95 % interval +1.980 to 2.020",
                           "speed of light +87 % of DRAM's peak +87 % of DRAM's peak\n",
                           "least time +8.700 us",
                           "a plain copy of the task's bytes +9.900 us",
                           "an empty launch +2.100 us",
                           "limiter +DRAM bandwidth",
                           "registers a thread +40",
                           "occupancy, in theory +75 %",
                           "energy a run +12.3 mJ",
                           "average power +350.0 W",
                           "SM clock +1980 MHz",
                           "temperature +41 C",
                           "launches left out, GPU clock too low +3",
                           "DRAM throughput, of its peak +92 % +71 %\n",
                           "DRAM bytes read +4.00 MB",
                           "long scoreboard. +12.3 warps",
                           "Barriers +262144"}) {
    EXPECT_THAT(text, ContainsRegex(line));
  }
  EXPECT_THAT(text, HasSubstr("n=1000: limiter: DRAM bandwidth: DRAM throughput is high\n"));
  EXPECT_THAT(text, HasSubstr("energy: NVML total energy over 1234 launches"));
  EXPECT_THAT(text, HasSubstr("counters: cupti, 7 passes in 120 ms"));
  EXPECT_THAT(text, HasSubstr("fast.cu: correct, 2.000x the speed of baseline.cu: 1.980 to 2.020"));
  KernelPair versus_eager = full_report();
  versus_eager.speedup_versus = tasks::kVersusEager;
  const std::string other = profile_text(profile_json(versus_eager));
  EXPECT_THAT(other,
              HasSubstr("2.000x the speed of PyTorch eager: 1.980 to 2.020 (95 %) (timed in"));
  EXPECT_THAT(other, HasSubstr("speedup over PyTorch eager"));
  EXPECT_THAT(other, Not(HasSubstr("baseline")));
}

// In earlier versions the speed of light was relative to the rate of a copy.
TEST(ProfileReport, TellsNoSpeedOfLightOfAnEarlierVersion) {
  KernelPair report = full_report();
  json profiles = json::parse(report.kernel.evaluation.profile);
  for (json& profile : profiles) {
    profile["speed_of_light"] = {{"fraction", 1.06}, {"floor_ns", 10'600}};
  }
  report.kernel.evaluation.profile = profiles.dump();
  const std::string text = profile_text(profile_json(report));
  EXPECT_THAT(text,
              HasSubstr("not known: speed of light (an earlier version of Winnow measured it)"));
  EXPECT_THAT(text, Not(HasSubstr("106 %")));
}

TEST(ProfileReport, LeavesOutWhatNobodyKnows) {
  const std::string text = profile_text(profile_json(full_report()));
  for (const char* absent :
       {"warm caches", "memory clock", "throttled by", "change", "not known"}) {
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  }
}

TEST(ProfileReport, GroupsCountersInTheOrderOfATable) {
  const std::string text = profile_text(profile_json(full_report()));
  const std::size_t dram = text.find("\nDRAM\n");
  const std::size_t stalls = text.find("\nStalls (");
  const std::size_t work = text.find("\nWork\n");
  ASSERT_NE(dram, std::string::npos);
  EXPECT_LT(dram, stalls);
  EXPECT_LT(stalls, work);
  EXPECT_NE(work, std::string::npos);
}

TEST(ProfileReport, NamesCountersThatAreZeroInOneLine) {
  KernelPair report = full_report();
  evaluators::ProfiledShape profile = full_profile("1", 92);
  profile.shape.counters.counters["shared_load_bank_conflicts"] = {0.0, {}};
  profile.shape.counters.counters["shared_bank_conflicts"] = {0.0, {}};
  profile.shape.counters.counters["access_sample_pct"] = {25.0, {}};
  report.kernel.evaluation.cases.pop_back(); // shape 2
  report.kernel.evaluation.cases.front().conditions.median_clock_mhz = 0;
  add_profiles(report.kernel.evaluation, {profile});
  const std::string text = profile_text(profile_json(report));
  EXPECT_THAT(text,
              HasSubstr("counters that are 0: Bank conflicts of shared loads; Bank conflicts of "
                        "shared memory, in all\n"));
  EXPECT_THAT(text, ContainsRegex("Accesses whose pattern was looked at +25 %\n"));
  EXPECT_THAT(text, Not(HasSubstr("clock too low"))) << "of a device that has none";
}

TEST(ProfileReport, SaysOnceWhyThereAreNoCounters) {
  KernelPair report = full_report();
  std::vector<evaluators::ProfiledShape> profiles{full_profile("1", 92), full_profile("2", 71)};
  for (evaluators::ProfiledShape& profile : profiles) {
    profile.shape.counters = {};
    profile.shape.counters.unavailable = "profiling is not permitted; load nvidia with ...=0";
    profile.energy = {};
    profile.energy.reason = "no NVML";
  }
  add_profiles(report.kernel.evaluation, profiles);
  const std::string text = profile_text(profile_json(report));
  EXPECT_EQ(count_of(text, "profiling is not permitted"), 1U) << text;
  EXPECT_THAT(text, HasSubstr("not known: all counters (profiling is not permitted; load"));
  EXPECT_THAT(text, HasSubstr("not known: energy (no NVML)\n"));
  EXPECT_THAT(text, Not(HasSubstr("energy a run")));
  EXPECT_THAT(text, HasSubstr("median, cold caches"));
}

TEST(ProfileReport, CollapsesTheReasonsOfSingleCounters) {
  KernelPair report = full_report();
  evaluators::ProfiledShape profile = full_profile("1", 92);
  profile.shape.counters.counters["fma_pipe_pct"] = {std::nullopt, "this chip has none"};
  profile.shape.counters.counters["alu_pipe_pct"] = {std::nullopt, "this chip has none"};
  add_profiles(report.kernel.evaluation, {profile});
  const std::string text = profile_text(profile_json(report));
  EXPECT_THAT(text, HasSubstr("not known: ALU pipe active (integer, logic), FMA pipe active (this "
                              "chip has none)\n"));
  EXPECT_THAT(text, Not(HasSubstr("\nPipes\n")));
  EXPECT_THAT(text, HasSubstr("the counters are off or could not be read")) << "of the other shape";
}

TEST(ProfileReport, ShowsTheOtherKernelAndTheChange) {
  const std::string text = profile_text(profile_json(compared_report()));
  for (const char* line :
       {"n=1000 +kernel +against +change\n", "median, cold caches +10.01 us +12.51 us +-20.0 %\n",
        "speedup over the baseline +2.000x +1.600x +.25.0 %\n",
        "DRAM throughput, of its peak +92 % +80 % +.12.0 points\n",
        "registers a thread +40 +40 +.0.0 %\n"}) {
    EXPECT_THAT(text, ContainsRegex(line));
  }
  EXPECT_THAT(text, HasSubstr("n=2000, against: limiter: DRAM bandwidth"));
  EXPECT_THAT(text, HasSubstr("kernel is 1.250x as fast as against: 1.240 to 1.260 (99 %), 20 "
                              "blocks of four launches; faster at 2 of 2 shapes; verdict: faster"));
}

TEST(ProfileReport, KnowsNoRatioWhereAShapeHadTooFewLaunches) {
  KernelPair report = compared_report();
  tasks::CaseResult& shape = report.kernel.evaluation.cases[0];
  shape.samples_ns.resize(1);
  shape.incumbent_samples_ns.resize(1);
  report.kernel.evaluation.race = evaluators::race_of(report.kernel.evaluation.cases, "d2");
  const json document = profile_json(report);
  EXPECT_EQ(document["race"]["ratio"], nullptr);
  EXPECT_EQ(document["shapes"][0]["ratio"], nullptr);
  EXPECT_GT(document["shapes"][1]["ratio"], 1);
  EXPECT_THAT(profile_text(document), HasSubstr("no ratio of kernel and against is known"));
}

TEST(ProfileReport, ShowsAKernelThatIsNotCorrectAsEvalDoes) {
  KernelPair report = compared_report();
  report.against->evaluation.verdict = tasks::Verdict::Wrong;
  report.against->evaluation.detail = "y[0] = 3, expected 4";
  const std::string text = profile_text(profile_json(report));
  EXPECT_THAT(text, HasSubstr("no profile: slow.cu is not correct"));
  EXPECT_THAT(text, HasSubstr("y[0] = 3, expected 4"));
  EXPECT_THAT(text, Not(HasSubstr("DRAM throughput")));
  EXPECT_EQ(profile_json(report)["shapes"], json::array());
}

TEST(ProfileReport, HidesHiddenShapes) {
  KernelPair report = full_report();
  tasks::CaseResult hidden = report.kernel.evaluation.cases.front();
  hidden.set = tasks::ShapeSet::Promotion;
  hidden.shape = "n=1021";
  report.kernel.evaluation.cases.push_back(hidden);
  EXPECT_THAT(profile_text(profile_json(report)), Not(HasSubstr("1021")));
  EXPECT_THAT(profile_json(report).dump(), Not(HasSubstr("1021")));
}

TEST(ProfileReport, JsonHasValuesAndNulls) {
  const json document = profile_json(compared_report());
  EXPECT_EQ(document["schema"], "winnow.profile");
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["kernel"]["file"], "fast.cu");
  EXPECT_EQ(document["race"]["verdict"], "faster");
  ASSERT_EQ(document["shapes"].size(), 2U);
  const json& shape = document["shapes"][0];
  EXPECT_EQ(shape["shape_id"], "search/1");
  EXPECT_DOUBLE_EQ(shape["ratio"], 1.25);
  EXPECT_DOUBLE_EQ(shape["kernel"]["median_ns"], 10'010);
  EXPECT_DOUBLE_EQ(shape["against"]["median_ns"], 12'512.5);
  EXPECT_EQ(shape["kernel"]["warm_median_ns"], nullptr);
  EXPECT_EQ(shape["kernel"]["profile"]["counters"]["counters"]["dram_throughput_pct"]["value"], 92);
  EXPECT_EQ(profile_json(full_report())["against"], nullptr);
  EXPECT_EQ(profile_json(full_report())["shapes"][0]["ratio"], nullptr);
}

} // namespace
} // namespace winnow::harness
