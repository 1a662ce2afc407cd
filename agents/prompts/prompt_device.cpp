#include "agents/prompts/prompt_sections.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::string_view kNvidia = "sm_";
/// Operations for each byte that must move, above which the arithmetic decides.
constexpr double kMostlyArithmetic = 50;
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

/// Compute capability * 10; 0 if the device is no NVIDIA GPU.
int capability(const tasks::DeviceFacts& facts) {
  int number = 0;
  if (facts.architecture.starts_with(kNvidia)) {
    const char* const digits = facts.architecture.data() + kNvidia.size();
    std::from_chars(digits, facts.architecture.data() + facts.architecture.size(), number);
  }
  return number;
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

/// The design that comes near the peak of products on these tensor cores.
std::string_view tensor_design(int capability) {
  if (capability >= 120 || capability < 90) {
    return "the tensor cores by `mma.sync`, with tiles of 128 x 128 or more for a block, operands "
           "brought by asynchronous copies through three or more stages of swizzled shared memory "
           "and read by `ldmatrix`.";
  }
  return capability >= 100
             ? "the tensor cores by `tcgen05.mma`, with sums in tensor memory and operands brought "
               "by TMA through several stages of shared memory with mbarriers. `mma.sync` and "
               "plain "
               "arithmetic reach a small part of the peak."
             : "the tensor cores by `wgmma`, with operands in swizzled shared memory that one "
               "producer warp fills by TMA, three or more stages ahead (mbarriers), while two "
               "other "
               "warpgroups multiply a tile of 128 x 256 or so; the blocks stay and walk over the "
               "tiles. `mma.sync` reaches about 60 % of the peak, plain arithmetic a few per cent.";
}

constexpr std::string_view kFloatDesign =
    "the f32 units, with a tile of 8 x 8 sums or more in the registers of each thread and operands "
    "brought by asynchronous copies through several stages of shared memory. Tensor cores pass "
    "only "
    "with factors that are split into several parts.";

/// The most operations for a byte at the search shapes.
double intensity(const ProposalContext& context) {
  double most = 0;
  for (const tasks::Shape& shape :
       context.task->shapes_of(tasks::ShapeSet::Search, context.device)) {
    tasks::Scope scope;
    tasks::bind_shape(*context.task, shape, scope);
    const double bytes = context.task->bytes.evaluate_float(scope);
    if (bytes > 0) {
      most = std::max(most, context.task->operations.evaluate_float(scope) / bytes);
    }
  }
  return most;
}

std::string bound_lines(const std::vector<ShapeBound>& bounds) {
  std::string lines;
  for (const ShapeBound& bound : bounds) {
    lines += fmt::format("- {}: {}{}{}\n", bound.shape, time_text(bound.least_ns),
                         bound.limiter.empty() ? "" : fmt::format(" ({})", bound.limiter),
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
      {"instructions", std::string(instructions(capability(context.facts)))},
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

MaybeValues render_products(const ProposalContext& context) {
  if (context.task == nullptr) {
    return std::nullopt;
  }
  const tasks::Precision precision = context.task->tolerance.precision;
  if (context.device != "cuda" || precision == tasks::Precision::F64) {
    return std::nullopt;
  }
  const double operations = intensity(context);
  if (operations < kMostlyArithmetic) {
    return std::nullopt;
  }
  return Values{{"intensity", fmt::format("up to {:.0f} operations for a byte", operations)},
                {"design", std::string(precision == tasks::Precision::F32
                                           ? kFloatDesign
                                           : tensor_design(capability(context.facts)))}};
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
      {"bounds", bound_lines(context.bounds)}};
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
