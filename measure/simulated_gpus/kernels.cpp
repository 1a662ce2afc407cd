#include "measure/simulated_gpus/kernels.h"

#include "measure/simulated_gpus/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <utility>

namespace winnow::simulated_gpus {
namespace {

using evaluators::HostKernel;
using std::chrono::nanoseconds;
using Bits64 = std::uint64_t;
using Time = std::function<nanoseconds(const Arguments&)>;

constexpr nanoseconds kShortest{2'200};
constexpr double kBytesPerNs = 2'810; // of axpy on an H100: 71.5 us for 16777216 elements
constexpr double kDrawnPerNs = 1'000; // bytes of drawn elements
constexpr double kClockGhz = 1.755;   // of the multiprocessors, under load
constexpr double kNoise = 0.005;      // standard deviation of a launch's time
constexpr Bits64 kClockStepNs = 32;

template <typename T> T& value(const Arguments& arguments, std::size_t index) {
  return *static_cast<T*>(arguments.at(index));
}

template <typename T> T* pointer(const Arguments& arguments, std::size_t index) {
  return value<T*>(arguments, index);
}

nanoseconds time_of(double bytes, double bytes_per_ns) {
  return std::max(kShortest, nanoseconds(std::llround(bytes / bytes_per_ns)));
}

/// The time in which argument `count`, times `bytes`, goes at this rate.
Time at_rate(double bytes_per_ns, std::size_t count, double bytes) {
  return [=](const Arguments& arguments) {
    return time_of(bytes * static_cast<double>(value<Bits64>(arguments, count)), bytes_per_ns);
  };
}

nanoseconds short_time(const Arguments&) {
  return kShortest;
}

void nothing(const Arguments&) {}

nanoseconds with_noise(nanoseconds time) {
  static std::mt19937_64 random{std::random_device{}()};
  std::normal_distribution<double> factor(1, kNoise);
  return nanoseconds(std::llround(static_cast<double>(time.count()) * factor(random)));
}

/// Calls the helper kernel for `most` elements or bytes. `count`: the argument with their number.
/// `read`: arguments that may point into the middle of a tensor.
Kernel helper(const HostKernel& kernel, std::size_t count, Bits64 most,
              const std::vector<std::size_t>& read, Time time) {
  return {kernel.parameter_bytes.size(),
          [=](const Arguments& arguments) {
            Arguments changed = arguments;
            Bits64 fewer = std::min(value<Bits64>(arguments, count), most);
            changed.at(count) = &fewer;
            std::vector<const std::byte*> elements(read.size());
            for (std::size_t i = 0; i < read.size(); ++i) {
              elements[i] = gpu().elements(value<CUdeviceptr>(arguments, read[i]));
              changed.at(read[i]) = &elements[i];
            }
            kernel.run(changed);
          },
          std::move(time)};
}

/// A kernel whose argument 0 is a tensor that it writes.
Kernel writes_tensor(Kernel kernel) {
  return {kernel.parameters,
          [run = std::move(kernel.run)](const Arguments& arguments) {
            gpu().note_tensor(value<CUdeviceptr>(arguments, 0));
            run(arguments);
          },
          std::move(kernel.time)};
}

std::int64_t computed(std::int64_t n) {
  return std::min<std::int64_t>(n, kComputedElements);
}

// Arguments: x, y, z, alpha, n.
void axpy(const Arguments& arguments) {
  const auto *x = pointer<const float>(arguments, 0), *y = pointer<const float>(arguments, 1);
  auto* z = pointer<float>(arguments, 2);
  const float alpha = value<float>(arguments, 3);
  for (std::int64_t i = 0; i < computed(value<int>(arguments, 4)); ++i) {
    z[i] = std::fma(alpha, x[i], y[i]);
  }
}

nanoseconds axpy_time(const Arguments& arguments) {
  return with_noise(time_of(12.0 * value<int>(arguments, 4), kBytesPerNs));
}

void axpy_trap(const Arguments&) {
  gpu().trapped = true;
}

// Arguments: x, y, z, magnitude, alpha, n.
void axpy_reference(const Arguments& arguments) {
  const auto *x = pointer<const float>(arguments, 0), *y = pointer<const float>(arguments, 1);
  auto *z = pointer<double>(arguments, 2), *magnitude = pointer<double>(arguments, 3);
  const double alpha = value<float>(arguments, 4);
  for (std::int64_t i = 0; i < computed(value<std::int64_t>(arguments, 5)); ++i) {
    z[i] = alpha * x[i] + y[i];
    magnitude[i] = std::fabs(alpha * x[i]) + std::fabs(static_cast<double>(y[i]));
  }
}

// Arguments of the copy: from, to, number of float4, passes.
nanoseconds copy_time(const Arguments& arguments) {
  const double bytes = 32.0 * value<int>(arguments, 2) * value<int>(arguments, 3);
  return with_noise(time_of(bytes, kBytesPerNs));
}

void stamp_clock(const Arguments& arguments) {
  const auto ns = static_cast<double>(gpu().worked().count());
  auto* stamp = pointer<Bits64>(arguments, 0);
  stamp[0] = 1 + static_cast<Bits64>(ns);
  stamp[1] = 1 + static_cast<Bits64>(ns * kClockGhz);
}

void clock_step(const Arguments& arguments) {
  *pointer<Bits64>(arguments, 0) = kClockStepNs;
}

std::map<std::string, Kernel> make_kernels() {
  const std::map<std::string, HostKernel> host = evaluators::host_helper_kernels();
  constexpr Bits64 kBytes = kComputedElements * sizeof(float);
  std::map<std::string, Kernel> kernels{
      {"axpy", {5, axpy, axpy_time}},
      {"axpy_trap", {5, axpy_trap, short_time}},
      {"axpy_reference", {6, axpy_reference, at_rate(kBytesPerNs, 5, 24)}},
      {"copy", {4, nothing, copy_time}},
      {"nothing", {1, nothing, short_time}},
      {"winnow_stamp_clock", {1, stamp_clock, short_time}},
      {"winnow_clock_step", {1, clock_step, short_time}},
      {"winnow_read_all", {3, nothing, at_rate(kBytesPerNs, 1, 1)}},
      {"winnow_fill_guard", {3, nothing, at_rate(kBytesPerNs, 1, 1)}},
      {"winnow_generate", writes_tensor(helper(host.at("winnow_generate"), 1, kComputedElements, {},
                                               at_rate(kDrawnPerNs, 1, 4)))},
      {"winnow_fill",
       writes_tensor(helper(host.at("winnow_fill"), 1, kBytes, {}, at_rate(kBytesPerNs, 1, 1)))},
      {"winnow_verify_generated", helper(host.at("winnow_verify_generated"), 1, kComputedElements,
                                         {}, at_rate(kDrawnPerNs, 1, 4))},
      {"winnow_checksum",
       helper(host.at("winnow_checksum"), 1, kBytes, {}, at_rate(kBytesPerNs, 1, 1))},
      {"winnow_compare", helper(host.at("winnow_compare"), 1, kComputedElements, {0, 4, 5},
                                at_rate(kBytesPerNs, 1, 20))},
  };
  for (const auto& [symbol, kernel] : host) {
    kernels.try_emplace(symbol, Kernel{kernel.parameter_bytes.size(), nothing, short_time});
  }
  return kernels;
}

/// "winnow_fill" of "_Z11winnow_fillPhyy": the helper kernels have mangled names.
std::string name_of(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) {
    return symbol;
  }
  std::size_t digits = 0;
  const std::string encoded = symbol.substr(2);
  const std::size_t length = std::stoul(encoded, &digits);
  return encoded.substr(digits, length);
}

} // namespace

const Kernel& kernel_called(const std::string& symbol) {
  static const std::map<std::string, Kernel> kernels = make_kernels();
  static const Kernel unknown{0, nothing,
                              [](const Arguments&) { return with_noise(nanoseconds(10'000)); }};
  const auto found = kernels.find(name_of(symbol));
  return found != kernels.end() ? found->second : unknown;
}

} // namespace winnow::simulated_gpus
