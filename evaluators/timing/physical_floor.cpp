#include "evaluators/timing/physical_floor.h"

#include "tasks/plan/architecture.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace winnow::evaluators {
namespace {

using tasks::Precision;

constexpr std::string_view kNvidia = "sm_";
constexpr double kCpuBytesPerNs = 128 * 6.0;
constexpr double kCpuOperationsPerNs = 64 * 6.0;
// An MI300X reads its Infinity Cache at 3.3 times the rate of its DRAM.
constexpr double kUnreportedCaches = 4;
constexpr double kUnknownClockGhz = 3.5;
// Each f32 factor (24 bits) is a sum of two f16 values of 11 bits; the smallest of the four
// products is left out.
constexpr double kProductsOfF32 = 3;
// Each f64 factor (53 bits) is a sum of five f16 values of 11 bits; 15 is the upper triangle of the
// products.
constexpr double kProductsOfF64 = 15;

/// Dense matrix operations of a multiprocessor per clock cycle. Sparse rates (2:4) do not apply,
/// because they need zeros in the data. Source: the white papers of V100, Turing, A100, GA102,
/// AD102, H100, Blackwell: TFLOP/s / (SMs * clock).
struct TensorRate {
  int first = 0; ///< compute capability * 10, up to `last`
  int last = 0;
  double of_16_bits = 8192;
  double of_8_bits = 16384;
  double over_clock = 1.3; ///< consumer boards run above the clock that the driver reports
};

constexpr std::array<TensorRate, 7> kTensorRates{{
    {70, 75, 1024, 2048, 1.3},
    {80, 80, 2048, 4096, 1},
    {86, 86, 1024, 2048, 1.3},
    {89, 89, 1024, 2048, 1.3},
    {90, 90, 4096, 8192, 1},
    {100, 110, 8192, 16384, 1},
    {120, 121, 1024, 2048, 1.3},
}};

/// The rates of the architecture; the largest known rates if the architecture is not in the table.
TensorRate tensor_rate(std::string_view architecture) {
  const int capability = tasks::compute_capability(architecture);
  const auto* const found =
      std::find_if(kTensorRates.begin(), kTensorRates.end(), [&](const TensorRate& one) {
        return one.first <= capability && capability <= one.last;
      });
  return found == kTensorRates.end() ? TensorRate{} : *found;
}

/// The largest measured rate of these kinds, per nanosecond.
double measured_rate(const std::optional<profiling::Ceilings>& measured,
                     std::initializer_list<std::string_view> kinds) {
  double most = 0;
  for (const std::string_view kind : kinds) {
    most = std::max(most, measured ? measured->rate(kind).value_or(0) : 0);
  }
  return most * 1e-9;
}

double gpu_operations_per_ns(Precision precision, const tasks::DeviceFacts& facts,
                             const std::optional<profiling::Ceilings>& measured) {
  const TensorRate rate = tensor_rate(facts.architecture);
  const double clocks_per_ns = static_cast<double>(facts.sm_count) * rate.over_clock *
                               (facts.clock_mhz > 0 ? facts.clock_mhz * 1e-3 : kUnknownClockGhz);
  const double of_16_bits = std::max(rate.of_16_bits * clocks_per_ns,
                                     measured_rate(measured, {"f16_tensor", "bf16_tensor"}));
  switch (precision) {
  case Precision::F64:
    return std::max(of_16_bits / kProductsOfF64, measured_rate(measured, {"f64"}));
  case Precision::F32:
    return std::max(of_16_bits / kProductsOfF32, measured_rate(measured, {"f32"}));
  case Precision::TF32: // TF32 has the mantissa of f16
  case Precision::F16:
  case Precision::BF16:
    return of_16_bits;
  case Precision::F8E4M3:
  case Precision::F8E5M2:
  case Precision::Int:
    break;
  }
  return std::max(rate.of_8_bits * clocks_per_ns,
                  measured_rate(measured, {"f8_tensor", "i8_tensor"}));
}

std::string peak_of(Precision precision) {
  switch (precision) {
  case Precision::F64:
    return "tensor peak, f64 by 15 f16 products";
  case Precision::F32:
    return "tensor peak, f32 by 3 f16 products";
  case Precision::TF32:
    return "tensor peak of tf32 at f16's rate";
  case Precision::F16:
  case Precision::BF16:
    return "16-bit tensor peak";
  case Precision::F8E4M3:
  case Precision::F8E5M2:
  case Precision::Int:
    break;
  }
  return "8-bit tensor peak";
}

void set_nvidia_memory(const TaskWork& work, const tasks::DeviceFacts& facts,
                       const std::optional<profiling::Ceilings>& measured, PhysicalFloor& floor) {
  const double stays = static_cast<double>(facts.l2_bytes);
  const auto dram = measured ? measured->dram() : std::nullopt;
  const double peak =
      std::max(facts.peak_bytes_per_second, dram ? dram->bytes_per_second : 0) * 1e-9;
  floor.bytes = work.read_bytes + std::max(0.0, work.written_bytes - stays);
  floor.memory_ns = floor.bytes / peak;
  floor.memory_peak = "DRAM's peak";
}

} // namespace

TaskWork stated_work(const tasks::Task& task, const tasks::Shape& shape) {
  tasks::Scope scope;
  tasks::bind_shape(task, shape, scope);
  TaskWork work;
  work.precision = task.tolerance.precision;
  work.operations = task.operations.evaluate_float(scope);
  for (const tasks::TensorSpec& tensor : task.tensors) {
    if (tensor.role != tasks::Role::Input) {
      work.written_bytes += tasks::tensor_bytes(tensor, shape);
    }
    if (tensor.role != tasks::Role::Output && tasks::size_bytes(tensor.dtype) == 1) {
      work.precision = Precision::Int;
    }
  }
  work.read_bytes = std::max(0.0, task.bytes.evaluate_float(scope) - work.written_bytes);
  return work;
}

TaskWork least_work(const tasks::Task& task, const tasks::Shape& shape) {
  TaskWork work = stated_work(task, shape);
  if (task.torch) {
    work.operations = 0;
  }
  return work;
}

PhysicalFloor physical_floor(const TaskWork& work, const tasks::DeviceFacts& facts,
                             const std::optional<profiling::Ceilings>& measured) {
  const auto units = static_cast<double>(std::max<std::int64_t>(1, facts.sm_count));
  PhysicalFloor floor;
  floor.bytes = work.read_bytes + work.written_bytes;
  floor.memory_ns = floor.bytes / (kCpuBytesPerNs * units); // holds for the L1 cache of a GPU, too
  floor.memory_peak = "the assumed peak of the caches";
  if (facts.architecture.empty()) {
    floor.arithmetic_ns = work.operations / (kCpuOperationsPerNs * units);
    floor.arithmetic_peak = "the assumed peak of the cores";
    return floor;
  }
  floor.arithmetic_ns = work.operations / gpu_operations_per_ns(work.precision, facts, measured);
  floor.arithmetic_peak = peak_of(work.precision);
  if (facts.peak_bytes_per_second <= 0) {
    return floor;
  }
  if (facts.architecture.starts_with(kNvidia)) {
    set_nvidia_memory(work, facts, measured, floor);
  } else {
    floor.memory_ns = floor.bytes / (kUnreportedCaches * facts.peak_bytes_per_second * 1e-9);
    floor.memory_peak = "four times DRAM's peak";
  }
  return floor;
}

} // namespace winnow::evaluators
