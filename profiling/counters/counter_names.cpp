#include "profiling/counters/counter_names.h"

#include "base/text/number_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

namespace winnow::profiling {
namespace {

constexpr CounterSet kFast = CounterSet::Fast;
constexpr CounterSet kFull = CounterSet::Full;
constexpr double kSectorBytes = 32;

// The L2 bytes are those that SMs request. Other sector counts include a second time each transfer
// between the two halves of a large L2. The value of a stall is the number of warps that waited for
// this reason per issue, as in ncu's warp states.
constexpr CounterName kNames[] = {
    {"gpu_time_ns", "gpu__time_duration.sum", "", "ns", "GPU time", kFast},
    {"sm_cycles", "sm__cycles_elapsed.max", "", "cycles", "SM cycles", kFast},
    {"dram_throughput_pct", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "", "%",
     "DRAM throughput, of its peak", kFast},
    {"dram_read_bytes", "dram__bytes_read.sum", "dram__bytes_op_read.sum", "B", "DRAM bytes read",
     kFast},
    {"dram_write_bytes", "dram__bytes_write.sum", "dram__bytes_op_write.sum", "B",
     "DRAM bytes written", kFast},
    {"l2_throughput_pct", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "", "%",
     "L2 throughput (sectors)", kFull},
    {"l2_read_bytes", "lts__t_sectors_srcunit_tex_op_read.sum", "", "B", "L2 bytes read by SMs",
     kFull, kSectorBytes},
    {"l2_write_bytes", "lts__t_sectors_srcunit_tex_op_write.sum", "", "B",
     "L2 bytes written by SMs", kFull, kSectorBytes},
    {"l2_hit_rate_pct", "lts__t_sector_hit_rate.pct", "", "%", "L2 hit rate", kFull},
    {"l1_throughput_pct", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "",
     "%", "L1 and shared memory throughput (wavefronts)", kFull},
    {"l1_hit_rate_pct", "l1tex__t_sector_hit_rate.pct", "", "%", "L1 hit rate", kFast},
    {"load_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "", "sectors",
     "Sectors per global load", kFull},
    {"store_sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "", "sectors",
     "Sectors per global store", kFull},
    {"shared_load_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
     "1", "Bank conflicts of shared loads", kFull},
    {"shared_store_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
     "1", "Bank conflicts of shared stores", kFull},
    {"local_load_bytes", "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "", "B",
     "Local memory loaded (spills)", kFull},
    {"local_store_bytes", "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", "", "B",
     "Local memory stored (spills)", kFull},
    {"sm_throughput_pct", "sm__inst_executed.avg.pct_of_peak_sustained_elapsed", "", "%",
     "SM throughput (instructions)", kFull},
    {"tensor_pipe_pct", "sm__pipe_tensor_cycles_active_v2.avg.pct_of_peak_sustained_active",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%", "Tensor pipe active",
     kFast},
    {"fma_pipe_pct", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", "", "%",
     "FMA pipe active", kFull},
    {"fp16_pipe_pct", "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active",
     "sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active", "%", "FP16 pipe active",
     kFull},
    {"fp64_pipe_pct", "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", "", "%",
     "FP64 pipe active", kFull},
    {"alu_pipe_pct", "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", "", "%",
     "ALU pipe active (integer, logic)", kFull},
    {"xu_pipe_pct", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "", "%",
     "Special-function pipe busy (XU)", kFull},
    {"lsu_pipe_pct", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "", "%",
     "Load/store pipe busy (LSU)", kFull},
    {"warps_active_pct", "sm__warps_active.avg.pct_of_peak_sustained_active", "", "%",
     "Warps active (achieved occupancy)", kFast},
    {"warps_eligible", "smsp__warps_eligible.avg.per_cycle_active", "", "warps",
     "Warps eligible per scheduler", kFull},
    {"issue_active_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active", "", "%",
     "Issue slots busy", kFast},
    {"threads_per_instruction", "smsp__average_thread_inst_executed_per_inst_executed.ratio", "",
     "threads", "Threads per instruction", kFull},
    {"stall_long_scoreboard",
     "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "", "warps",
     "Stall: global or local memory (long scoreboard)", kFull},
    {"stall_short_scoreboard",
     "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", "", "warps",
     "Stall: shared memory (short scoreboard)", kFull},
    {"stall_mio_throttle", "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
     "", "warps", "Stall: shared memory queue full (MIO throttle)", kFull},
    {"stall_lg_throttle", "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
     "", "warps", "Stall: global memory queue full (LG throttle)", kFull},
    {"stall_barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "",
     "warps", "Stall: barrier", kFull},
    {"stall_math_pipe_throttle",
     "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "", "warps",
     "Stall: pipe busy (math pipe throttle)", kFull},
    {"stall_wait", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "", "warps",
     "Stall: fixed latency (wait)", kFull},
    {"stall_gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "", "warps",
     "Stall: warpgroup matrix multiply (GMMA)", kFull},
};

// Counters that only the CPU device has; no metric of a GPU.
constexpr CounterName kCpuNames[] = {
    {"global_bytes_read", "", "", "B", "Global memory read by threads", kFull},
    {"global_bytes_written", "", "", "B", "Global memory written by threads", kFull},
    {"load_access_bytes", "", "", "B", "Bytes of a thread's global load", kFull},
    {"store_access_bytes", "", "", "B", "Bytes of a thread's global store", kFull},
    {"shared_bytes_read", "", "", "B", "Shared memory read by threads", kFull},
    {"shared_bytes_written", "", "", "B", "Shared memory written by threads", kFull},
    {"shared_wavefronts", "", "", "1", "Wavefronts of shared memory", kFull},
    {"shared_bank_conflicts", "", "", "1", "Bank conflicts of shared memory, in all", kFull},
    {"access_sample_pct", "", "", "%", "Accesses whose pattern was looked at", kFull},
};

constexpr double kStep = 1e3;

// Three digits, in the largest unit that gives at least 1.
std::string scaled(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (std::abs(value) >= kStep && unit + 1 < units.size()) {
    value /= kStep;
    ++unit;
  }
  const int decimals = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
  return number_text(value, decimals) + " " + units[unit];
}

} // namespace

std::span<const CounterName> counter_names() {
  return kNames;
}

std::vector<CounterName> counters_in(CounterSet set) {
  std::vector<CounterName> chosen;
  std::copy_if(std::begin(kNames), std::end(kNames), std::back_inserter(chosen),
               [set](const CounterName& name) {
                 return set == CounterSet::Full || name.first == CounterSet::Fast;
               });
  return chosen;
}

const CounterName* find_counter(std::string_view key) {
  const auto named = [key](const CounterName& name) { return name.key == key; };
  const auto* gpu = std::find_if(std::begin(kNames), std::end(kNames), named);
  const auto* cpu = std::find_if(std::begin(kCpuNames), std::end(kCpuNames), named);
  return gpu != std::end(kNames) ? gpu : cpu != std::end(kCpuNames) ? cpu : nullptr;
}

std::string counter_text(double value, std::string_view unit) {
  constexpr const char* kBytes[] = {"B", "kB", "MB", "GB", "TB"};
  constexpr const char* kTimes[] = {"ns", "us", "ms", "s"};
  if (unit == "B") {
    return scaled(value, kBytes);
  }
  if (unit == "ns") {
    return scaled(value, kTimes);
  }
  if (unit == "%") {
    return number_text(value, std::abs(value) < 10 ? 1 : 0) + " %";
  }
  return fmt::format("{:.3g}", value);
}

} // namespace winnow::profiling
