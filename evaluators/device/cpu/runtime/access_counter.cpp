#include "evaluators/device/cpu/runtime/access_counter.h"

#include "evaluators/device/cpu/runtime/block_scheduler.h"
#include "evaluators/device/cpu/runtime/module.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace winnow::evaluators::cpu {
namespace {

constexpr std::uint64_t kSampledBlocks = 64;
// Limit per place in the code and lane, between two synchronisations of the warp. A long loop
// repeats itself.
constexpr std::uint16_t kMaxOccurrences = 256;
constexpr std::size_t kMaxKept = std::size_t{2} << 20U; // 48 MB
constexpr std::size_t kMaxAccessBytes = 16;             // per lane and instruction
// The alignment of cudaMalloc. A buffer here ends at a guard page, so it can begin at any multiple
// of 16.
constexpr std::size_t kGpuAlignment = 256;

using Range = BlockAccesses::Range;
using Kept = BlockAccesses::Kept;

const Range* find_range(const std::vector<Range>& ranges, const std::byte* address) {
  const auto found = std::find_if(ranges.begin(), ranges.end(), [address](const Range& range) {
    return address >= range.begin && address < range.end;
  });
  return found != ranges.end() ? &*found : nullptr;
}

/// Blocks from the whole grid. Their distances vary, because a fixed distance might always hit the
/// same column.
std::vector<std::uint64_t> sample_of(std::uint64_t blocks) {
  std::vector<std::uint64_t> sample;
  const std::uint64_t count = std::min(blocks, kSampledBlocks);
  constexpr double kGolden = 0.6180339887498949;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto step = static_cast<double>(i);
    const double shift = count == blocks ? 0 : step * kGolden - std::floor(step * kGolden);
    const double at = (step + shift) / static_cast<double>(count) * static_cast<double>(blocks);
    sample.push_back(count == blocks ? i : std::min(static_cast<std::uint64_t>(at), blocks - 1));
  }
  return sample;
}

} // namespace

void AccessCounter::begin_launch(const Launch& launch) {
  sample_ = sample_of(launch.blocks());
  globals_.clear();
  for (const GuardedBuffer& buffer : buffers_.all()) {
    const auto shift = reinterpret_cast<std::uintptr_t>(buffer.data) % kGpuAlignment;
    globals_.push_back({buffer.data, buffer.data + buffer.bytes, shift});
  }
  for (const ModuleVariable& variable : launch.module->image().globals) {
    const std::byte* begin = launch.module->load_address() + variable.offset;
    globals_.push_back({begin, begin + variable.bytes});
  }
}

void AccessCounter::begin_block(BlockScheduler& scheduler) {
  BlockAccesses& block = scheduler.accesses();
  give_up(block);
  block.sampled = std::binary_search(sample_.begin(), sample_.end(), scheduler.block_index());
  block.warps.resize((scheduler.launch()->threads() + kWarpSize - 1) / kWarpSize);
  block.shared.clear();
  const Module& module = *scheduler.launch()->module;
  const std::byte* arrays = module.thread_local_block();
  for (const ModuleVariable& array : module.image().shared) {
    block.shared.push_back({arrays + array.offset, arrays + array.offset + array.bytes});
  }
  const GuardedBuffer& dynamic = scheduler.shared();
  block.shared.push_back({dynamic.data, dynamic.data + dynamic.bytes});
}

void AccessCounter::access(BlockScheduler& scheduler, const void* site, const void* address,
                           std::size_t bytes, Kind kind) {
  BlockAccesses& block = scheduler.accesses();
  const auto* first = static_cast<const std::byte*>(address);
  const Range* range = find_range(block.shared, first);
  const bool shared = range != nullptr;
  range = shared ? range : find_range(globals_, first);
  if (range == nullptr) {
    return; // memory of a single thread
  }
  if (kind == Kind::Atomic) {
    ++atomics_;
    return;
  }
  const std::size_t inside = std::min(bytes, static_cast<std::size_t>(range->end - first));
  const std::uint32_t index = site_index(site, shared, kind == Kind::Write);
  bytes_[sites_[index].kind()] += inside;
  for (std::size_t at = 0; at < inside; at += kMaxAccessBytes) {
    ++sites_[index].accesses;
    if (block.sampled) {
      Kept access;
      access.address = reinterpret_cast<std::uintptr_t>(first + at) - range->shift;
      access.site = index;
      access.bytes = static_cast<std::uint8_t>(std::min(inside - at, kMaxAccessBytes));
      keep(block, scheduler.thread_index(), access);
    }
  }
}

std::uint32_t AccessCounter::site_index(const void* site, bool shared, bool write) {
  Site fresh;
  fresh.shared = shared;
  fresh.write = write;
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(site) * kKinds + fresh.kind();
  const auto [found, is_new] = site_of_.emplace(key, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back(fresh);
  }
  return found->second;
}

void AccessCounter::keep(BlockAccesses& block, unsigned thread, const Kept& access) {
  BlockAccesses::Warp& warp = block.warps[thread / kWarpSize];
  const std::size_t lane = thread % kWarpSize;
  const std::size_t counter = access.site * std::size_t{kWarpSize} + lane;
  if (warp.occurrences.size() <= counter) {
    warp.occurrences.resize(sites_.size() * kWarpSize);
  }
  if (warp.occurrences[counter] == kMaxOccurrences) {
    return;
  }
  if (kept_ == kMaxKept) { // half of a warp's access would give a wrong count
    give_up(block);
    block.sampled = false;
    return;
  }
  Kept kept = access;
  kept.order = static_cast<std::uint32_t>(warp.kept.size());
  kept.occurrence = warp.occurrences[counter]++;
  kept.lane = static_cast<std::uint8_t>(lane);
  warp.kept.push_back(kept);
  ++kept_;
}

/// Drops the accesses that are kept but not counted yet.
void AccessCounter::give_up(BlockAccesses& block) {
  for (BlockAccesses::Warp& warp : block.warps) {
    kept_ -= warp.kept.size();
    warp.kept.clear();
    warp.occurrences.clear();
  }
}

void AccessCounter::meet(BlockAccesses& block, unsigned warp) {
  BlockAccesses::Warp& one = block.warps[warp];
  count_warp(one.kept);
  kept_ -= one.kept.size();
  one.kept.clear();
  one.occurrences.clear();
}

void AccessCounter::meet(BlockAccesses& block) {
  for (unsigned i = 0; i < block.warps.size(); ++i) {
    meet(block, i);
  }
}

void AccessCounter::count_warp(std::vector<Kept>& kept) {
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
    return std::tie(a.site, a.occurrence, a.lane) < std::tie(b.site, b.occurrence, b.lane);
  });
  const auto together = [](const Kept& a, const Kept& b) {
    return a.site == b.site && a.occurrence == b.occurrence;
  };
  // Order and first access of each request
  std::vector<std::pair<std::uint32_t, std::size_t>> requests;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i == 0 || !together(kept[i - 1], kept[i])) {
      requests.emplace_back(kept[i].order, i);
    }
  }
  std::sort(requests.begin(), requests.end()); // in program order
  std::array<Open, kKinds> open;
  for (const auto& [order, first] : requests) {
    Open request;
    request.site = kept[first].site;
    for (std::size_t i = first; i < kept.size() && together(kept[first], kept[i]); ++i) {
      request.lanes.push_back({kept[i].address, kept[i].lane, kept[i].bytes});
    }
    sites_[request.site].sampled += request.lanes.size();
    Open& before = open[sites_[request.site].kind()];
    if (before.site == request.site || !extend_access(before.lanes, request.lanes)) {
      count_request(before);
      before = std::move(request);
    }
  }
  for (const Open& last : open) {
    count_request(last);
  }
}

void AccessCounter::count_request(const Open& open) {
  if (open.lanes.empty()) {
    return;
  }
  Site& site = sites_[open.site];
  ++site.requests;
  site.lanes += open.lanes.size();
  if (site.shared) {
    const SharedCost cost = shared_cost(open.lanes);
    site.transactions += cost.wavefronts;
    site.ideal += cost.ideal;
  } else {
    site.transactions += global_sectors(open.lanes);
  }
}

AccessCounts AccessCounter::counts() const {
  std::array<AccessTotals, kKinds> totals;
  std::array<std::uint64_t, kKinds> seen{}; // accesses at sites with at least one sample
  for (const Site& site : sites_) {
    AccessTotals& total = totals[site.kind()];
    total.accesses += site.accesses;
    total.sampled += site.sampled;
    if (site.sampled != 0) {
      const double scale = static_cast<double>(site.accesses) / static_cast<double>(site.sampled);
      total.requests += scale * static_cast<double>(site.requests);
      total.transactions += scale * static_cast<double>(site.transactions);
      total.ideal += scale * static_cast<double>(site.ideal);
      total.lanes += scale * static_cast<double>(site.lanes);
      seen[site.kind()] += site.accesses;
    }
  }
  for (std::size_t i = 0; i < kKinds; ++i) {
    totals[i].bytes = bytes_[i];
    if (seen[i] != 0) {
      const double scale = static_cast<double>(totals[i].accesses) / static_cast<double>(seen[i]);
      totals[i].requests *= scale;
      totals[i].transactions *= scale;
      totals[i].ideal *= scale;
      totals[i].lanes *= scale;
    }
  }
  return {totals[0], totals[1], totals[2], totals[3], atomics_};
}

} // namespace winnow::evaluators::cpu
