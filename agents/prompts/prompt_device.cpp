#include "agents/prompts/prompt_sections.h"
#include "tasks/plan/architecture.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::int64_t kUnlimitedThreads = std::int64_t{1} << 40;

std::string fact_line(std::string_view name, std::int64_t value, std::string_view note = "") {
  return value == 0 ? std::string() : fmt::format("- `{}` = {}{}\n", name, value, note);
}

/// The facts that expressions may use; those that are 0 are left out.
std::string fact_lines(const tasks::DeviceFacts& facts) {
  std::string lines = fact_line("sm_count", facts.sm_count) +
                      fact_line("warp_size", facts.warp_size) +
                      fact_line("max_threads_per_block", facts.max_threads_per_block) +
                      fact_line("max_shared_bytes", facts.max_shared_bytes,
                                " (static and dynamic together, a block)");
  if (facts.max_static_shared_bytes < facts.max_shared_bytes) {
    lines += fact_line("max_static_shared_bytes", facts.max_static_shared_bytes);
  }
  return lines + fact_line("shared_bytes_per_sm", facts.shared_bytes_per_sm) +
         fact_line("registers_per_sm", facts.registers_per_sm) +
         fact_line("max_threads_per_sm", facts.max_threads_per_sm) +
         fact_line("max_blocks_per_sm", facts.max_blocks_per_sm) +
         fact_line("max_cluster_blocks", facts.max_cluster_blocks) +
         fact_line("l2_bytes", facts.l2_bytes) + fact_line("has_cooperative", facts.cooperative) +
         fact_line("has_tensor_maps", facts.tensor_maps);
}

std::string limits_text(const tasks::DeviceFacts& facts) {
  std::string text = fmt::format("Largest grid: {} x {} x {} blocks", facts.max_grid_x,
                                 facts.max_grid_y, facts.max_grid_z);
  if (facts.max_threads_per_launch < kUnlimitedThreads) {
    text += fmt::format("; at most {} threads a launch", facts.max_threads_per_launch);
  }
  text += ".";
  if (facts.clock_mhz > 0) {
    text += fmt::format(" Highest clock: {:.0f} MHz.", facts.clock_mhz);
  }
  if (facts.peak_bytes_per_second > 0) {
    text += fmt::format(" Peak bandwidth of the memory: {}.",
                        quantity_text(facts.peak_bytes_per_second, "B/s"));
  }
  return text;
}

std::string_view instructions(int capability) {
  if (capability >= 120) {
    return "`mma.sync`, `ldmatrix`, `cp.async`, TMA (`cp.async.bulk`, tensor maps), `mbarrier`, "
           "clusters, named barriers";
  }
  if (capability >= 100) {
    return "`tcgen05` with tensor memory, TMA (`cp.async.bulk`, tensor maps), `mbarrier`, "
           "clusters, "
           "`setmaxnreg`, `mma.sync`, `ldmatrix`, `cp.async`, named barriers";
  }
  if (capability >= 90) {
    return "`wgmma`, TMA (`cp.async.bulk`, tensor maps), `mbarrier`, clusters, `setmaxnreg`, "
           "`mma.sync`, `ldmatrix`, `cp.async`, named barriers";
  }
  return capability >= 80 ? "`mma.sync`, `ldmatrix`, `cp.async`, `mbarrier`, named barriers"
                          : "`mma.sync`, `ldmatrix`, named barriers";
}

std::string special_text(const ShapeBound& bound) {
  return bound.special_ns > 0
             ? fmt::format("; {} for its {:.2g} calls of exp and the like, by the units for them",
                           time_text(bound.special_ns), bound.special_calls)
             : std::string();
}

/// What was seen of good kernels whose time the memory decides. How near others come to the
/// arithmetic peaks differs too much for a number.
std::string usual_text(const std::vector<ShapeBound>& bounds) {
  const bool of_memory = std::any_of(bounds.begin(), bounds.end(), [](const ShapeBound& bound) {
    return bound.limiter.find("DRAM") != std::string::npos;
  });
  return of_memory ? " Where the memory decides, good kernels take 1.1 to 1.4 times as long." : "";
}

std::string bound_lines(const std::vector<ShapeBound>& bounds) {
  std::string lines;
  for (const ShapeBound& bound : bounds) {
    lines += fmt::format("- {}: {}{}{}{}{}\n", bound.shape, time_text(bound.least_ns),
                         bound.limiter.empty() ? "" : fmt::format(" ({})", bound.limiter),
                         bound.other.empty() ? "" : "; " + bound.other, special_text(bound),
                         bound.measured.empty() ? "" : "; measured here: " + bound.measured);
  }
  return lines;
}

} // namespace

MaybeValues render_device(const ProposalContext& context) {
  return Values{{"device", context.device},
                {"device_name", context.device_name},
                {"facts", fact_lines(context.facts)},
                {"limits", limits_text(context.facts)}};
}

MaybeValues render_cuda(const ProposalContext& context) {
  if (context.device != "cuda") {
    return std::nullopt;
  }
  const std::string& target = context.facts.architecture;
  return Values{
      {"architecture", target.empty() ? "that of the GPU" : target},
      {"instructions", std::string(instructions(tasks::compute_capability(target)))},
      {"boundary", "1 to 2 us"},
      {"static_shared", fmt::format("{} KiB", context.facts.max_static_shared_bytes >> 10)}};
}

MaybeValues render_hip(const ProposalContext& context) {
  if (context.device != "hip") {
    return std::nullopt;
  }
  return Values{{"architecture", context.facts.architecture},
                {"warp_size", std::to_string(context.facts.warp_size)},
                {"boundary", "a few microseconds"}};
}

MaybeValues render_bounds(const ProposalContext& context) {
  if (context.bounds.empty()) {
    return std::nullopt;
  }
  std::string ceilings;
  for (const DeviceCeiling& ceiling : context.ceilings) {
    ceilings += fmt::format("- {}: {}\n", ceiling.name, quantity_text(ceiling.value, ceiling.unit));
  }
  return Values{
      {"ceilings", ceilings},
      {"whose", context.task->torch
                    ? "a kernel that does all operations of the module (algebra, or zeros that "
                      "need no work, may save some)"
                    : "any kernel"},
      {"bounds", bound_lines(context.bounds)},
      {"usual", usual_text(context.bounds)}};
}

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e3) {
    return fmt::format("{:.0f} ns", nanoseconds);
  }
  if (nanoseconds < 1e6) {
    return fmt::format("{:.3g} us", nanoseconds / 1e3);
  }
  return nanoseconds < 1e9 ? fmt::format("{:.3g} ms", nanoseconds / 1e6)
                           : fmt::format("{:.3g} s", nanoseconds / 1e9);
}

std::string quantity_text(double value, std::string_view unit) {
  if (unit == "ns") {
    return time_text(value);
  }
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (value >= 1e3 && prefix + 1 < kPrefixes.size()) {
    value /= 1e3;
    ++prefix;
  }
  return fmt::format("{:.3g} {}{}", value, kPrefixes[prefix], unit);
}

} // namespace winnow::agents
