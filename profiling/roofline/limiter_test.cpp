#include "profiling/roofline/limiter.h"

#include <initializer_list>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::profiling {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A kernel of 100 us with half-busy units, many warps and evenly spread stalls. Only the last rule
/// names a limiter for it. `changes` overwrite counters.
LimiterFacts full(std::initializer_list<std::pair<const char*, double>> changes) {
  LimiterFacts facts;
  facts.time_ns = 100'000;
  facts.launch_overhead_ns = 2'000;
  facts.multiprocessors = 132;
  facts.blocks = 132 * 8 * 4;
  facts.blocks_per_multiprocessor = 8;
  facts.theoretical_occupancy = 1;
  facts.counters.provider = "cupti";
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, double>>{{"sm_cycles", 180'000},
                                                             {"dram_throughput_pct", 30},
                                                             {"dram_read_bytes", 50e6},
                                                             {"dram_write_bytes", 50e6},
                                                             {"l2_throughput_pct", 30},
                                                             {"l2_read_bytes", 60e6},
                                                             {"l2_write_bytes", 60e6},
                                                             {"l1_throughput_pct", 30},
                                                             {"load_sectors_per_request", 4},
                                                             {"store_sectors_per_request", 4},
                                                             {"shared_load_bank_conflicts", 0},
                                                             {"shared_store_bank_conflicts", 0},
                                                             {"local_load_bytes", 0},
                                                             {"local_store_bytes", 0},
                                                             {"tensor_pipe_pct", 0},
                                                             {"fma_pipe_pct", 20},
                                                             {"fp16_pipe_pct", 0},
                                                             {"fp64_pipe_pct", 0},
                                                             {"alu_pipe_pct", 20},
                                                             {"warps_active_pct", 85},
                                                             {"issue_active_pct", 40},
                                                             {"threads_per_instruction", 32},
                                                             {"stall_long_scoreboard", 1},
                                                             {"stall_short_scoreboard", 1},
                                                             {"stall_mio_throttle", 1},
                                                             {"stall_lg_throttle", 1},
                                                             {"stall_barrier", 1},
                                                             {"stall_wait", 1}}) {
    facts.counters.counters[key].value = value;
  }
  for (const auto& [key, value] : changes) {
    facts.counters.counters[key].value = value;
  }
  return facts;
}

LimiterFacts fast(std::initializer_list<std::pair<const char*, double>> values) {
  LimiterFacts facts;
  facts.time_ns = 100'000;
  facts.counters.provider = "cupti";
  for (const auto& [key, value] : values) {
    facts.counters.counters[key].value = value;
  }
  return facts;
}

/// For a kernel of 100 us: a copy of its bytes, or its operations, take this share of the time.
SpeedOfLight copy(double share, double bytes = 100e6) {
  SpeedOfLight speed;
  speed.fraction = share / 2;
  speed.bound = "DRAM's peak";
  speed.rate = 4.8e12;
  speed.bytes = bytes;
  speed.copy_ns = share * 100'000;
  speed.copy_level = "DRAM";
  return speed;
}

SpeedOfLight arithmetic(double share, const char* kind) {
  SpeedOfLight speed = copy(0.01);
  speed.rate_ns = share * 100'000;
  speed.rate_kind = kind;
  return speed;
}

LimiterFinding first(const LimiterFacts& facts) {
  return limiter_of(facts).at(0);
}

std::vector<Limiter> all(const LimiterFacts& facts) {
  std::vector<Limiter> limiters;
  for (const LimiterFinding& finding : limiter_of(facts)) {
    limiters.push_back(finding.limiter);
  }
  return limiters;
}

/// The CPU device's counters for a transpose through shared memory at 1 % of the memory bandwidth.
LimiterFacts counted_transpose() {
  LimiterFacts facts;
  facts.time_ns = 1'300'000;
  facts.counters.provider = "cpu";
  facts.speed_of_light = copy(0.13, 524'288);
  facts.speed_of_light->operations = 65'536;
  for (const auto& [key, value] :
       {std::pair{"global_bytes_read", 262'144.0}, std::pair{"global_bytes_written", 262'144.0},
        std::pair{"load_sectors_per_request", 4.0}, std::pair{"store_sectors_per_request", 4.0},
        std::pair{"shared_bank_conflicts", 0.0}, std::pair{"shared_wavefronts", 4096.0}}) {
    facts.counters.counters[key].value = value;
  }
  return facts;
}

TEST(Limiter, OfACopyIsDram) {
  LimiterFacts facts = full({{"dram_throughput_pct", 91}, {"l2_throughput_pct", 45}});
  facts.speed_of_light = copy(0.97);
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Dram));
  const LimiterFinding dram = first(facts);
  EXPECT_EQ(dram.because, "DRAM throughput 91 % of its peak: 50.0 MB read, 50.0 MB written");
  EXPECT_THAT(dram.counters,
              ElementsAre("dram_throughput_pct", "dram_read_bytes", "dram_write_bytes"));
}

TEST(Limiter, TellsBytesThatTheTaskDoesNotNeed) {
  LimiterFacts facts = full({{"dram_throughput_pct", 88}, {"dram_read_bytes", 250e6}});
  facts.speed_of_light = copy(0.3);
  EXPECT_THAT(first(facts).because, HasSubstr("3.0 times what the task needs"));
}

// All 32 rows of a tile are in the same bank: 31 of 32 wavefronts are conflicts.
TEST(Limiter, OfATransposeWithBankConflictsIsSharedMemory) {
  const double wavefronts = 0.93 * 180'000 * 132;
  const LimiterFacts facts = full({{"l1_throughput_pct", 93},
                                   {"shared_load_bank_conflicts", wavefronts * 0.9},
                                   {"dram_throughput_pct", 24},
                                   {"stall_mio_throttle", 14},
                                   {"stall_short_scoreboard", 9}});
  EXPECT_THAT(all(facts), ElementsAre(Limiter::SharedMemory));
  const LimiterFinding shared = first(facts);
  EXPECT_EQ(shared.because, "data pipe of shared memory and L1 93 % busy; bank conflicts are 90 % "
                            "of its work; 82 % of stalls wait for it");
  EXPECT_THAT(shared.counters, Contains("shared_load_bank_conflicts"));
}

TEST(Limiter, SeesConflictsBelowTheBusyThreshold) {
  const double wavefronts = 0.5 * 180'000 * 132;
  const auto conflicting = {std::pair{"l1_throughput_pct", 50.0},
                            std::pair{"shared_store_bank_conflicts", wavefronts * 0.6},
                            std::pair{"stall_short_scoreboard", 12.0}};
  EXPECT_EQ(first(full(conflicting)).limiter, Limiter::SharedMemory);
  LimiterFacts elsewhere = full(conflicting); // warps wait for something else
  elsewhere.counters.counters["stall_short_scoreboard"].value = 0;
  elsewhere.counters.counters["stall_barrier"].value = 20;
  EXPECT_EQ(first(elsewhere).limiter, Limiter::Latency);
}

TEST(Limiter, OfAnUncoalescedTransposeIsL2) {
  const LimiterFacts facts = full({{"store_sectors_per_request", 32},
                                   {"l2_throughput_pct", 48},
                                   {"stall_lg_throttle", 20},
                                   {"dram_throughput_pct", 35}});
  EXPECT_THAT(all(facts), ElementsAre(Limiter::L2));
  EXPECT_EQ(first(facts).because,
            "L2 throughput 48 %; uncoalesced: stores touch 32 sectors per request (a warp needs 4 "
            "for 4-byte accesses and 16 for 16-byte accesses)");
  EXPECT_THAT(first(facts).counters, Contains("store_sectors_per_request"));
}

TEST(Limiter, DoesNotBlameWideOrRareAccesses) {
  const auto l2_is_blamed = [](const LimiterFacts& facts) {
    return testing::Matches(Contains(Limiter::L2))(all(facts));
  };
  EXPECT_FALSE(l2_is_blamed(full({{"load_sectors_per_request", 16}, {"stall_lg_throttle", 20}})));
  EXPECT_FALSE(l2_is_blamed(full(
      {{"load_sectors_per_request", 32}, {"l2_throughput_pct", 10}, {"stall_lg_throttle", 20}})));
  EXPECT_FALSE(l2_is_blamed(full({{"load_sectors_per_request", 32}, {"stall_barrier", 50}})));
}

TEST(Limiter, NamesUncoalescedAccessesSecondWhereDramIsBusier) {
  EXPECT_THAT(all(full({{"load_sectors_per_request", 32},
                        {"l2_throughput_pct", 65},
                        {"dram_throughput_pct", 82}})),
              ElementsAre(Limiter::Dram, Limiter::L2));
}

TEST(Limiter, OfATensorGemmIsTensor) {
  LimiterFacts facts = full({{"tensor_pipe_pct", 84},
                             {"warps_active_pct", 18},
                             {"l1_throughput_pct", 62},
                             {"stall_gmma", 9}});
  facts.theoretical_occupancy = 0.19; // few warps with many registers, on purpose
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Tensor, Limiter::SharedMemory));
  EXPECT_EQ(first(facts).because, "tensor pipe 84 % active (near its peak)");
}

TEST(Limiter, OfAnF32GemmIsThePipeThatDoesIt) {
  const LimiterFinding gemm = first(full({{"fma_pipe_pct", 78}, {"issue_active_pct", 84}}));
  EXPECT_EQ(gemm.limiter, Limiter::FloatingPoint);
  EXPECT_EQ(gemm.because, "FMA pipe 78 % active");
  EXPECT_THAT(gemm.counters, Contains("fma_pipe_pct"));
  EXPECT_THAT(first(full({{"fp64_pipe_pct", 93}})).because, HasSubstr("FP64 pipe 93 %"));
}

TEST(Limiter, OfManyInstructionsIsTheirIssue) {
  const LimiterFinding issue =
      first(full({{"issue_active_pct", 88}, {"threads_per_instruction", 9}}));
  EXPECT_EQ(issue.limiter, Limiter::FloatingPoint);
  EXPECT_EQ(issue.because,
            "instruction issue slots 88 % busy; only 9 of 32 threads take part (divergence)");
}

TEST(Limiter, OfATinyKernelIsTheLaunch) {
  LimiterFacts facts = full({});
  facts.time_ns = 3'500;
  EXPECT_EQ(first(facts).limiter, Limiter::Launch);
  EXPECT_EQ(first(facts).because, "the kernel takes 3.50 us, an empty launch 2.00 us");
  facts.time_ns = 4'500;
  EXPECT_THAT(all(facts), Not(Contains(Limiter::Launch)));
}

TEST(Limiter, OfTooFewBlocksIsTheLaunch) {
  LimiterFacts facts = full({});
  facts.blocks = 24;
  EXPECT_EQ(first(facts).limiter, Limiter::Launch);
  EXPECT_EQ(first(facts).because, "24 blocks for 132 multiprocessors: 108 are idle");
  facts = full({{"dram_throughput_pct", 85}});
  facts.blocks = 131; // one idle SM does not matter if memory is busy
  EXPECT_EQ(first(facts).limiter, Limiter::Dram);
}

TEST(Limiter, SeesALastWaveThatIsNearlyEmpty) {
  LimiterFacts facts = full({});
  facts.blocks = 132 * 8 + 10;
  EXPECT_EQ(first(facts).limiter, Limiter::Launch);
  EXPECT_THAT(first(facts).because, HasSubstr("1066 blocks are 1.01 waves"));
  facts.blocks = 132 * 8 * 10 + 10;
  EXPECT_EQ(first(facts).limiter, Limiter::Latency);
}

TEST(Limiter, OfASpillingKernelIsWaitingForItsSpills) {
  const LimiterFinding spills = first(full(
      {{"local_load_bytes", 150e6}, {"local_store_bytes", 50e6}, {"stall_long_scoreboard", 9}}));
  EXPECT_EQ(spills.limiter, Limiter::Latency);
  EXPECT_EQ(spills.because,
            "registers are spilled: 200 MB of local memory moved, 62 % of all bytes");
  EXPECT_THAT(spills.counters, Contains("local_load_bytes"));
  EXPECT_THAT(first(full({{"local_load_bytes", 1e6}})).because, Not(HasSubstr("spilled")));
}

TEST(Limiter, HintsAtSpillsThatWereNotCounted) {
  LimiterFacts facts = fast({{"dram_throughput_pct", 80}});
  facts.spill_bytes_per_thread = 96;
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Dram, Limiter::Latency));
  EXPECT_THAT(limiter_of(facts)[1].because, HasSubstr("96 bytes per thread"));
}

TEST(Limiter, OfLowOccupancyIsWhatAllowsNoMore) {
  LimiterFacts facts = full({{"warps_active_pct", 12}, {"stall_long_scoreboard", 12}});
  facts.theoretical_occupancy = 0.125;
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Occupancy, Limiter::Latency));
  EXPECT_EQ(first(facts).because,
            "registers, shared memory or block size allow 12 % of an SM's warps, 12 % are active; "
            "67 % of stalls wait for memory");
  facts.counters.counters["stall_long_scoreboard"].value = 0; // warps do not wait for memory
  EXPECT_EQ(first(facts).limiter, Limiter::Latency);
}

TEST(Limiter, OfWarpsWithRolesIsNotTheirNumber) {
  LimiterFacts facts = full({{"warps_active_pct", 12}, {"stall_long_scoreboard", 12}});
  facts.theoretical_occupancy = 0.125;
  facts.has_roles_of_warps = true;
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Latency));
}

TEST(Limiter, OfWarpsWithRolesIsTheTensorPipeThatTheyFeed) {
  LimiterFacts facts = full({{"tensor_pipe_pct", 58}, {"stall_gmma", 3}});
  EXPECT_EQ(first(facts).limiter, Limiter::Latency);
  facts.has_roles_of_warps = true;
  EXPECT_EQ(first(facts).limiter, Limiter::Tensor);
  EXPECT_THAT(first(facts).because, HasSubstr("58 % active and idles the rest of the time (DRAM"));
}

TEST(Limiter, OfManyExponentialsIsTheirPipe) {
  const LimiterFinding found = first(full({{"xu_pipe_pct", 83}, {"tensor_pipe_pct", 55}}));
  EXPECT_EQ(found.limiter, Limiter::FloatingPoint);
  EXPECT_EQ(found.because, "special-function (XU) pipe 83 % active (near its peak)");
}

TEST(Limiter, IsLatencyWhereNothingIsBusy) {
  const LimiterFinding latency = first(full({{"stall_barrier", 15}}));
  EXPECT_EQ(latency.limiter, Limiter::Latency);
  EXPECT_EQ(latency.because,
            "no unit is 60 % busy (DRAM 30 %, L2 30 %, shared memory and L1 30 %, tensor pipe 0 %, "
            "issue 40 %); warps wait for barriers (71 % of stalls)");
  EXPECT_EQ(latency.counters.at(0), "stall_barrier");
}

TEST(Limiter, WorksWithFastCounters) {
  EXPECT_EQ(first(fast({{"dram_throughput_pct", 85}, {"issue_active_pct", 20}})).limiter,
            Limiter::Dram);
  EXPECT_EQ(first(fast({{"dram_throughput_pct", 15}, {"tensor_pipe_pct", 77}})).limiter,
            Limiter::Tensor);
  EXPECT_EQ(first(fast({{"dram_throughput_pct", 15}, {"issue_active_pct", 70}})).limiter,
            Limiter::FloatingPoint);
  LimiterFacts quiet =
      fast({{"dram_throughput_pct", 15}, {"tensor_pipe_pct", 0}, {"issue_active_pct", 20}});
  EXPECT_EQ(first(quiet).limiter, Limiter::Unknown);
  EXPECT_THAT(first(quiet).because, HasSubstr("full counters would show"));
  quiet.speed_of_light = arithmetic(0.8, "f32"); // not counted, but the roofline shows it
  EXPECT_EQ(first(quiet).limiter, Limiter::FloatingPoint);
}

TEST(Limiter, GoesByTheRooflineWithoutCounters) {
  LimiterFacts facts;
  facts.time_ns = 100'000;
  facts.counters.unavailable = "ERR_NVGPUCTRPERM";
  facts.speed_of_light = copy(0.82);
  EXPECT_EQ(first(facts).limiter, Limiter::Dram);
  EXPECT_EQ(first(facts).because, "a plain copy of the task's bytes would take 82 % of the "
                                  "kernel's time (no counters: ERR_NVGPUCTRPERM)");
  EXPECT_THAT(first(facts).counters, IsEmpty());
  facts.speed_of_light->copy_level = "L3";
  EXPECT_EQ(first(facts).limiter, Limiter::L2);
  facts.speed_of_light = arithmetic(0.7, "f16_tensor");
  EXPECT_EQ(first(facts).limiter, Limiter::Tensor);
  facts.speed_of_light = arithmetic(0.7, "f32");
  EXPECT_EQ(first(facts).limiter, Limiter::FloatingPoint);
}

TEST(Limiter, IsNoBoundThatWasPassed) {
  LimiterFacts facts = counted_transpose();
  facts.speed_of_light->copy_ns = 2.33 * facts.time_ns;
  EXPECT_THAT(first(facts).because, HasSubstr("this access pattern"));
  facts.counters = {};
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Unknown));
  facts.speed_of_light->copy_ns = 1.05 * facts.time_ns; // a copy is not a lower bound
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Dram));
}

TEST(Limiter, IsUnknownWhereNothingTells) {
  LimiterFacts facts;
  facts.counters.unavailable = "cannot load libcupti.so.13";
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Unknown));
  EXPECT_EQ(first(facts).because, "no speed of light to compare with, and no counters: cannot load "
                                  "libcupti.so.13");
  facts.speed_of_light = copy(0.2);
  EXPECT_EQ(first(facts).because, "at 10 % of the speed of light (DRAM's peak, 4.80 TB/s), and no "
                                  "counters: cannot load libcupti.so.13");
}

TEST(Limiter, BelievesACounterBeforeTheRoofline) {
  LimiterFacts facts = full({{"dram_throughput_pct", 10}}); // all data in caches
  facts.speed_of_light = copy(0.9);
  EXPECT_THAT(all(facts), Not(Contains(Limiter::Dram)));
}

TEST(Limiter, DoesNotTakeAMissingCounterForZero) {
  LimiterFacts facts = full({});
  facts.counters.counters["l2_throughput_pct"] = {std::nullopt, "this GPU has none"};
  EXPECT_EQ(first(facts).limiter, Limiter::Unknown); // L2 may be the limiter
  EXPECT_THAT(first(facts).because, Not(HasSubstr("L2 0 %")));
}

TEST(Limiter, SurvivesJson) {
  for (int number = 0; number <= static_cast<int>(Limiter::Launch); ++number) {
    const auto limiter = static_cast<Limiter>(number);
    EXPECT_EQ(limiter_from_string(to_string(limiter)), limiter);
  }
  EXPECT_EQ(limiter_from_string("gremlins"), Limiter::Unknown);
  const LimiterFinding finding = first(full({{"dram_throughput_pct", 91}}));
  const LimiterFinding again = nlohmann::json(finding).get<LimiterFinding>();
  EXPECT_EQ(again.limiter, finding.limiter);
  EXPECT_EQ(again.because, finding.because);
  EXPECT_EQ(again.counters, finding.counters);
}

TEST(Limiter, CountedConflictsAreEvidenceWhereNoPipeIsMeasured) {
  LimiterFacts facts;
  facts.time_ns = 100'000;
  facts.counters.provider = "cpu";
  facts.counters.counters["shared_bank_conflicts"].value = 63'488;
  facts.counters.counters["shared_wavefronts"].value = 67'584;
  EXPECT_EQ(limiter_of(facts).front().limiter, Limiter::SharedMemory);
  EXPECT_THAT(limiter_of(facts).front().because, testing::HasSubstr("94 %"));
  facts.counters.counters["shared_bank_conflicts"].value = 0;
  EXPECT_NE(limiter_of(facts).front().limiter, Limiter::SharedMemory);
}

TEST(Limiter, GoesByThePatternWhereNoUnitIsMeasured) {
  const LimiterFinding memory = first(counted_transpose());
  EXPECT_EQ(memory.limiter, Limiter::Dram);
  EXPECT_EQ(memory.because, "this access pattern keeps a GPU's memory busy longest: 524 kB moved, "
                            "coalesced; 4096 wavefronts of shared memory; 65536 operations");
  EXPECT_THAT(memory.counters, Contains("global_bytes_read"));
  LimiterFacts of_cpu = counted_transpose(); // nobody knows the speed of light there
  of_cpu.work = {of_cpu.speed_of_light->bytes, of_cpu.speed_of_light->operations, "f32", true};
  of_cpu.speed_of_light.reset();
  EXPECT_EQ(first(of_cpu).because, memory.because);

  LimiterFacts gemm = counted_transpose(); // two loads from shared memory per multiply-add
  gemm.speed_of_light->operations = 2.0 * 128 * 128 * 128;
  gemm.counters.counters["global_bytes_read"].value = 6e5; // tiles; caches hold part of them
  gemm.counters.counters["shared_wavefronts"].value = 2.0 * 128 * 128 * 128 / 32;
  EXPECT_THAT(all(gemm), ElementsAre(Limiter::SharedMemory));
  gemm.counters.counters["shared_wavefronts"].value = 0; // operands in registers
  gemm.speed_of_light->operations *= 20;
  EXPECT_THAT(all(gemm), ElementsAre(Limiter::FloatingPoint));
}

TEST(Limiter, IsNotMemoryWhereThePatternSaysOtherwise) {
  LimiterFacts facts = counted_transpose();
  facts.counters.counters["shared_bank_conflicts"].value = 4000;
  EXPECT_THAT(all(facts), ElementsAre(Limiter::SharedMemory));
  facts = counted_transpose();
  facts.counters.counters["store_sectors_per_request"].value = 32;
  facts.counters.counters["store_access_bytes"].value = 8;
  EXPECT_THAT(all(facts), ElementsAre(Limiter::L2));
  EXPECT_THAT(first(facts).because, HasSubstr("(8-byte accesses of a warp need 8)"));
  facts = counted_transpose();
  facts.counters.counters["global_bytes_read"].value = 7e5; // the second read hits L2
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Dram));
  facts.counters.counters["global_bytes_read"].value = 8e6; // memory and L2 may take equally long
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Unknown));
  facts = counted_transpose();
  facts.counters.counters["shared_wavefronts"].value = 20'000; // about as long as memory
  EXPECT_THAT(all(facts), ElementsAre(Limiter::Unknown));
}

} // namespace
} // namespace winnow::profiling
