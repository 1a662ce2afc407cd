#include "evaluators/device/cpu/runtime/counted_run.h"

namespace winnow::evaluators::cpu {
namespace {

using profiling::CounterValue;
using Counters = std::map<std::string, CounterValue>;

constexpr const char* kNeedsInstrumentation =
    "the module is not instrumented: compile the kernel in check mode and count that";
constexpr const char* kInstrumentedKeys[] = {"global_bytes_read",
                                             "global_bytes_written",
                                             "shared_bytes_read",
                                             "shared_bytes_written",
                                             "atomics",
                                             "load_sectors_per_request",
                                             "store_sectors_per_request",
                                             "load_access_bytes",
                                             "store_access_bytes",
                                             "shared_wavefronts",
                                             "shared_load_bank_conflicts",
                                             "shared_store_bank_conflicts",
                                             "shared_bank_conflicts",
                                             "access_sample_pct"};

CounterValue known(std::uint64_t value) {
  return {static_cast<double>(value), {}};
}

CounterValue ratio(double numerator, double denominator, const char* why_none) {
  return denominator > 0 ? CounterValue{numerator / denominator, {}}
                         : CounterValue{std::nullopt, why_none};
}

/// `value`, or the reason if the sample has none of the accesses from which it is extrapolated.
CounterValue extrapolated(double value, std::initializer_list<const AccessTotals*> from) {
  for (const AccessTotals* totals : from) {
    if (totals->accesses != 0 && totals->sampled == 0) {
      return {std::nullopt, "no block of the sample makes such accesses"};
    }
  }
  return {value, {}};
}

CounterValue sectors_per_request(const AccessTotals& totals, const char* why_none) {
  const CounterValue value = extrapolated(0, {&totals});
  return value.value ? ratio(totals.transactions, totals.requests, why_none) : value;
}

CounterValue access_bytes(const AccessTotals& totals, const char* why_none) {
  const CounterValue value = extrapolated(0, {&totals});
  return value.value ? ratio(static_cast<double>(totals.bytes), totals.lanes, why_none) : value;
}

double conflicts(const AccessTotals& totals) {
  return totals.transactions - totals.ideal;
}

void add_accesses(const AccessCounts& counts, Counters& counters) {
  const AccessTotals& reads = counts.shared_reads;
  const AccessTotals& writes = counts.shared_writes;
  counters["global_bytes_read"] = known(counts.global_reads.bytes);
  counters["global_bytes_written"] = known(counts.global_writes.bytes);
  counters["shared_bytes_read"] = known(reads.bytes);
  counters["shared_bytes_written"] = known(writes.bytes);
  counters["atomics"] = known(counts.atomics);
  const char* const no_loads = "nothing is loaded from global memory";
  const char* const no_stores = "nothing is stored to global memory";
  counters["load_sectors_per_request"] = sectors_per_request(counts.global_reads, no_loads);
  counters["store_sectors_per_request"] = sectors_per_request(counts.global_writes, no_stores);
  counters["load_access_bytes"] = access_bytes(counts.global_reads, no_loads);
  counters["store_access_bytes"] = access_bytes(counts.global_writes, no_stores);
  counters["shared_wavefronts"] =
      extrapolated(reads.transactions + writes.transactions, {&reads, &writes});
  counters["shared_load_bank_conflicts"] = extrapolated(conflicts(reads), {&reads});
  counters["shared_store_bank_conflicts"] = extrapolated(conflicts(writes), {&writes});
  counters["shared_bank_conflicts"] =
      extrapolated(conflicts(reads) + conflicts(writes), {&reads, &writes});
  double all = 0;
  double sampled = 0;
  for (const AccessTotals& totals : {counts.global_reads, counts.global_writes, reads, writes}) {
    all += static_cast<double>(totals.accesses);
    sampled += static_cast<double>(totals.sampled);
  }
  counters["access_sample_pct"] = ratio(100 * sampled, all, "there are no loads and stores");
}

} // namespace

CountedRun::CountedRun(const GuardedBuffers& buffers, bool instrumented) {
  if (instrumented) {
    accesses_.emplace(buffers);
  }
}

void CountedRun::begin_launch(Launch& launch) {
  launch.facts = &facts_;
  facts_.add({.launches = 1});
  if (accesses_) {
    launch.checker = nullptr;
    launch.accesses = &*accesses_;
    accesses_->begin_launch(launch);
  }
}

profiling::CounterReport CountedRun::report() const {
  profiling::CounterReport report;
  report.provider = "cpu";
  const RunFacts facts = facts_.get();
  Counters& counters = report.counters;
  counters["launches"] = known(facts.launches);
  counters["blocks"] = known(facts.blocks);
  counters["threads"] = known(facts.threads);
  counters["barriers"] = known(facts.barriers);
  counters["grid_barriers"] = known(facts.grid_barriers);
  counters["warp_operations"] = known(facts.warp_operations);
  if (accesses_) {
    add_accesses(accesses_->counts(), counters);
  } else {
    for (const char* key : kInstrumentedKeys) {
      counters[key] = {std::nullopt, kNeedsInstrumentation};
    }
  }
  return report;
}

} // namespace winnow::evaluators::cpu
