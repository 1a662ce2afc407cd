#include "tasks/plan/resolve/plan_launch.h"

#include "base/text.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/occupancy.h"
#include "tasks/plan/resolve/plan_buffers.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::string_view kAxisNames = "xyz";

using Extents = std::array<std::int64_t, 3>;

std::string dtype_name(const PlanContext& context, std::string_view tensor, SourcePosition at,
                       const std::vector<Buffer>& buffers) {
  if (const Buffer* buffer = find_named(buffers, tensor)) {
    return std::string(device_type_name(buffer->dtype));
  }
  std::vector<std::string> known;
  known.reserve(buffers.size());
  for (const Buffer& buffer : buffers) {
    known.push_back(buffer.name);
  }
  context.fail(
      at,
      fmt::format("unknown buffer '{}' in the kernel's name{}", tensor, suggestion(tensor, known)),
      "{dtype:x}, where x is a tensor or scratch buffer");
}

std::string value_text(const PlanContext& context, std::string_view name, SourcePosition at,
                       const Scope& scope) {
  const Value* value = scope.find(name);
  if (value == nullptr) {
    context.fail(at,
                 fmt::format("unknown name '{}' in the kernel's name{}", name,
                             suggestion(name, scope.names())),
                 "{NAME}, where NAME is a parameter, axis, integer scalar or let binding");
  }
  if (std::holds_alternative<Unknown>(*value)) {
    context.fail(at, fmt::format("'{}' in the kernel's name depends on a device constant", name),
                 "a value that is known before compiling");
  }
  const auto* integer = std::get_if<std::int64_t>(value);
  if (integer == nullptr) {
    context.fail(at, fmt::format("'{}' in the kernel's name is a float", name), "an integer");
  }
  return std::to_string(*integer);
}

// The product of three factors of at least 1; nullopt on overflow.
std::optional<std::int64_t> product(const Extents& factors) {
  std::int64_t result = factors[0];
  const bool overflow = __builtin_mul_overflow(result, factors[1], &result) ||
                        __builtin_mul_overflow(result, factors[2], &result);
  return overflow ? std::nullopt : std::optional(result);
}

std::string times(const Extents& factors) {
  return fmt::format("{} x {} x {}", factors[0], factors[1], factors[2]);
}

class DimensionResolver {
public:
  DimensionResolver(const PlanContext& context, const KernelLaunch& launch, SourcePosition at,
                    const Scope& scope, const KernelSignature* signature)
      : context_(context), facts_(context.facts()), launch_(launch), at_(at), scope_(scope),
        resources_(signature != nullptr && signature->resources ? &*signature->resources
                                                                : nullptr) {}

  LaunchStep resolve() {
    set_block();
    set_shared_bytes();
    check_registers();
    set_cluster();
    set_grid();
    check_threads();
    check_cluster_fits();
    check_cooperative();
    return std::move(step_);
  }

private:
  /// `numbers`, or an empty string for a hidden shape.
  std::string unless_hidden(const std::string& numbers) const {
    return context_.hidden() ? std::string() : numbers;
  }

  void set_block() {
    const std::array limits{facts_.max_threads_per_block, facts_.max_threads_per_block,
                            std::min(facts_.max_block_z, facts_.max_threads_per_block)};
    for (std::size_t i = 0; i < launch_.block.size(); ++i) {
      const std::string what = fmt::format("block[{}]", i);
      const std::int64_t value = context_.integer(launch_.block[i], scope_, what);
      if (value < 1 || value > limits[i]) {
        context_.fail(launch_.block[i].at,
                      context_.statement(launch_.block[i], scope_, what, std::to_string(value)),
                      value < 1 ? "at least 1" : too_many_threads(launch_.block[i], limits[i]));
      }
      step_.block[i] = value;
    }
    block_threads_ = step_.block[0] * step_.block[1] * step_.block[2];
    if (block_threads_ > facts_.max_threads_per_block) {
      context_.fail(
          launch_.block[0].at,
          fmt::format("block{} is too large for {}",
                      unless_hidden(fmt::format(" = {} = {}", times(step_.block), block_threads_)),
                      context_.shape_text()),
          fmt::format("at most {} threads in a block", facts_.max_threads_per_block));
    }
  }

  // The most frequent mistake: the block is as wide as an axis, which works only for a small axis.
  std::string too_many_threads(const PlanExpression& block, std::int64_t limit) const {
    const std::vector<std::string> names = block.expression.names();
    const bool of_axis = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return context_.shape().axes.count(name) != 0;
    });
    const std::string most = fmt::format("at most {} threads", limit);
    return of_axis ? fmt::format("{}: use min({}, {}) and let each thread loop over the elements",
                                 most, truncate_text(block.expression.text(), 60), limit)
                   : most;
  }

  void set_shared_bytes() {
    const std::int64_t limit = facts_.max_shared_bytes;
    const std::int64_t declared = resources_ == nullptr ? 0 : resources_->static_shared_bytes;
    if (declared > facts_.max_static_shared_bytes) {
      context_.fail(at_,
                    fmt::format("kernel '{}' declares {} bytes of __shared__ arrays",
                                launch_.kernel, declared),
                    fmt::format("at most {}: use extern __shared__ memory and \"shared_bytes\"",
                                facts_.max_static_shared_bytes));
    }
    if (launch_.shared_bytes.expression.empty()) {
      return;
    }
    step_.shared_bytes =
        context_.integer_in(launch_.shared_bytes, scope_, "shared_bytes", 0, limit,
                            fmt::format("0 to {} bytes of shared memory in a block", limit));
    if (step_.shared_bytes > limit - declared) {
      context_.fail(launch_.shared_bytes.at,
                    context_.statement(launch_.shared_bytes, scope_, "shared_bytes",
                                       std::to_string(step_.shared_bytes)),
                    fmt::format("at most {}: a block has {} bytes of shared memory, and kernel "
                                "'{}' declares {} itself",
                                limit - declared, limit, launch_.kernel, declared));
    }
  }

  void check_registers() const {
    if (resources_ == nullptr) {
      return;
    }
    const auto registers = registers_of_block(facts_, *resources_, block_threads_);
    if (registers && *registers > facts_.registers_per_block) {
      context_.fail(
          launch_.block[0].at,
          fmt::format("kernel '{}' uses {} registers per thread, too many for the block{} for {}",
                      launch_.kernel, resources_->registers,
                      unless_hidden(
                          fmt::format(" of {} threads ({} registers)", block_threads_, *registers)),
                      context_.shape_text()),
          fmt::format("at most {} registers in a block: fewer threads, or __launch_bounds__",
                      facts_.registers_per_block));
    }
  }

  void set_cluster() {
    for (std::size_t i = 0; i < launch_.cluster.size(); ++i) {
      step_.cluster[i] =
          context_.integer_in(launch_.cluster[i], scope_, fmt::format("cluster[{}]", i), 1,
                              std::numeric_limits<std::int64_t>::max(), "at least 1 block");
    }
    const auto blocks = product(step_.cluster);
    if (blocks == 1) {
      return;
    }
    if (facts_.max_cluster_blocks == 0) {
      context_.fail_unsupported(launch_.cluster[0].at,
                                fmt::format("the launch of '{}' has a cluster: this device has "
                                            "no thread block clusters",
                                            launch_.kernel));
    }
    if (!blocks || *blocks > facts_.max_cluster_blocks) {
      const std::string total = blocks ? std::to_string(*blocks) : "over 2^63";
      context_.fail(
          launch_.cluster[0].at,
          fmt::format("cluster{} is too large for {}",
                      unless_hidden(fmt::format(" = {} = {} blocks", times(step_.cluster), total)),
                      context_.shape_text()),
          fmt::format("at most {} blocks in a cluster", facts_.max_cluster_blocks));
    }
  }

  void set_grid() {
    Scope inner(&scope_);
    if (uses_resident_blocks()) {
      inner.set(kResidentBlocks, resident_blocks());
    }
    const std::array limits{facts_.max_grid_x, facts_.max_grid_y, facts_.max_grid_z};
    for (std::size_t i = 0; i < launch_.grid.size(); ++i) {
      const std::string what = fmt::format("grid[{}]", i);
      const std::int64_t value = context_.integer(launch_.grid[i], inner, what);
      if (value < 1 || value > limits[i]) {
        context_.fail(launch_.grid[i].at,
                      context_.statement(launch_.grid[i], inner, what, std::to_string(value)),
                      value < 1 ? "at least 1"
                                : fmt::format("at most {} blocks in {}", limits[i], kAxisNames[i]));
      }
      step_.grid[i] = value;
    }
  }

  bool uses_resident_blocks() const {
    return std::any_of(launch_.grid.begin(), launch_.grid.end(), [](const PlanExpression& value) {
      return value.expression.column_of(kResidentBlocks) != 0;
    });
  }

  // The value is known after compiling. It is one block per multiprocessor if the device does not
  // report its limits.
  Value resident_blocks() const {
    if (context_.compiled() == nullptr) {
      return Unknown();
    }
    const auto known = known_resident_blocks();
    if (known == 0) {
      context_.fail(at_,
                    fmt::format("no block of kernel '{}' fits on a multiprocessor for {}",
                                launch_.kernel, context_.shape_text()),
                    "a smaller block, fewer registers or less shared memory");
    }
    return known.value_or(facts_.sm_count);
  }

  std::optional<std::int64_t> known_resident_blocks() const {
    const bool known = resources_ != nullptr &&
                       registers_of_block(facts_, *resources_, block_threads_).has_value();
    return known ? std::optional(facts_.sm_count * resident_blocks_per_sm(facts_, *resources_,
                                                                          block_threads_,
                                                                          step_.shared_bytes))
                 : std::nullopt;
  }

  void check_threads() const {
    const auto blocks = product(step_.grid);
    std::int64_t total = 0;
    const bool overflow = !blocks || __builtin_mul_overflow(*blocks, block_threads_, &total);
    if (overflow || total > facts_.max_threads_per_launch) {
      context_.fail(launch_.grid.empty() ? at_ : launch_.grid[0].at,
                    fmt::format("the launch of '{}'{} is too large for {}", launch_.kernel,
                                unless_hidden(fmt::format(" of {} blocks of {} threads",
                                                          times(step_.grid), block_threads_)),
                                context_.shape_text()),
                    fmt::format("at most {} threads in a launch on this device",
                                facts_.max_threads_per_launch));
    }
  }

  void check_cluster_fits() const {
    for (std::size_t i = 0; i < step_.cluster.size(); ++i) {
      if (step_.grid[i] % step_.cluster[i] == 0) {
        continue;
      }
      context_.fail(
          i < launch_.grid.size() ? launch_.grid[i].at : launch_.cluster[i].at,
          fmt::format("grid[{0}]{1} is not a multiple of cluster[{0}]{2} for {3}", i,
                      unless_hidden(fmt::format(" = {}", step_.grid[i])),
                      unless_hidden(fmt::format(" = {}", step_.cluster[i])), context_.shape_text()),
          "whole clusters: round the grid up with align_up and let the extra blocks do nothing");
    }
  }

  void check_cooperative() {
    step_.cooperative = launch_.cooperative;
    if (!launch_.cooperative) {
      return;
    }
    if (!facts_.cooperative) {
      context_.fail_unsupported(at_, fmt::format("the launch of '{}' is cooperative: this device "
                                                 "has no grid-wide barriers",
                                                 launch_.kernel));
    }
    const std::int64_t blocks = *product(step_.grid); // check_threads() has checked for overflow
    const auto resident = known_resident_blocks();
    if (resident && blocks > *resident) {
      context_.fail(
          launch_.grid[0].at,
          fmt::format("the cooperative launch of '{}'{} for {}", launch_.kernel,
                      context_.hidden()
                          ? " has more blocks than can be resident at once"
                          : fmt::format(" has {} blocks, but {} can be resident at once", blocks,
                                        *resident),
                      context_.shape_text()),
          "\"grid\": [\"min(..., resident_blocks)\"], with blocks that loop over the work");
    }
  }

  const PlanContext& context_;
  const DeviceFacts& facts_;
  const KernelLaunch& launch_;
  SourcePosition at_;
  const Scope& scope_;
  const KernelResources* resources_;
  LaunchStep step_;
  std::int64_t block_threads_ = 1;
};

} // namespace

std::string instantiated_name(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const std::vector<Buffer>& buffers) {
  constexpr std::string_view kDType = "dtype:";
  return replace_placeholders(
      launch.kernel, [&](std::string_view inside) -> std::optional<std::string> {
        if (inside.starts_with(kDType)) {
          return dtype_name(context, trim(inside.substr(kDType.size())), at, buffers);
        }
        return is_identifier(inside) ? std::optional(value_text(context, inside, at, scope))
                                     : std::nullopt;
      });
}

LaunchStep resolve_dimensions(const PlanContext& context, const KernelLaunch& launch,
                              SourcePosition at, const Scope& scope,
                              const KernelSignature* signature) {
  return DimensionResolver(context, launch, at, scope, signature).resolve();
}

} // namespace winnow::tasks
