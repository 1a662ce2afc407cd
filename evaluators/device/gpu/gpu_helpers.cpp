#include "evaluators/device/gpu/gpu_helpers.h"

#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/inspect/gpu_module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

constexpr std::uint64_t kBlockThreads = 256; // at most kMostThreads in compare.cu
constexpr std::uint64_t kBlocksPerMultiprocessor = 8;

constexpr std::size_t kTotals = sizeof(ErrorTotals) / sizeof(std::uint64_t);

std::uint64_t words_of(DeviceRange range) {
  return (range.bytes + 7) / 8;
}

} // namespace

Helpers::Helpers(GpuDriver& driver, const std::filesystem::path& module)
    : driver_(driver), multiprocessors_(static_cast<std::uint64_t>(driver.facts().sm_count)) {
  const GpuModuleFile file = read_gpu_module(module);
  if (file.architecture != driver_.facts().architecture) {
    throw Error(fmt::format("the helper kernels in {} are for {}, but this device is {}",
                            module.string(), file.architecture, driver_.facts().architecture));
  }
  for (const std::string& kernel : gpu_helper_kernels()) {
    if (file.symbols.count(kernel) == 0) {
      throw Error(fmt::format("the helper kernels in {} lack {}", module.string(), kernel));
    }
  }
  module_ = driver_.load_module(file.image);
  try {
    for (const std::string& kernel : gpu_helper_kernels()) {
      kernels_.emplace(kernel, driver_.find_kernel(module_, file.symbols.at(kernel)));
    }
    reserve_results(1);
  } catch (const GpuError&) {
    release();
    throw;
  }
}

Helpers::~Helpers() {
  release();
}

void Helpers::release() {
  try {
    if (results_ != 0) {
      driver_.release(results_);
    }
    driver_.unload_module(module_);
  } catch (const GpuError&) { // the context is lost, and its resources with it
  }
}

template <typename... Arguments>
void Helpers::launch(const char* kernel, std::uint64_t threads, Arguments... arguments) {
  if (threads == 0) {
    return;
  }
  GpuLaunch launch;
  launch.kernel = kernels_.at(kernel);
  launch.grid[0] = static_cast<unsigned>(std::min((threads + kBlockThreads - 1) / kBlockThreads,
                                                  multiprocessors_ * kBlocksPerMultiprocessor));
  launch.block[0] = kBlockThreads;
  launch.arguments = {&arguments...};
  driver_.launch(launch);
}

void Helpers::generate(DeviceRange range, const Draw& draw) {
  const auto element_bytes = static_cast<int>(tasks::size_bytes(draw.dtype));
  const std::uint64_t count = range.bytes / tasks::size_bytes(draw.dtype);
  const auto [kind, a, b, c, csr] = tasks::drawn(draw.generator, draw.seed, draw.name_hash);
  launch("winnow_generate", count, range.begin, count, static_cast<int>(draw.dtype), element_bytes,
         static_cast<int>(kind), a, b, c, csr.rows, csr.columns, csr.pointers_hash, draw.seed,
         draw.name_hash);
}

void Helpers::fill(DeviceRange range, std::uint64_t pattern) {
  launch("winnow_fill", words_of(range), range.begin, std::uint64_t{range.bytes}, pattern);
}

void Helpers::fill_guard(DeviceRange range, std::uint64_t salt) {
  launch("winnow_fill_guard", words_of(range) + 1, range.begin, std::uint64_t{range.bytes}, salt);
}

void Helpers::drive_out_of_cache(DeviceRange zeros) {
  launch("winnow_read_all", words_of(zeros), zeros.begin, std::uint64_t{zeros.bytes}, slot(0));
}

void Helpers::hold(GpuAddress released, std::uint64_t turn, std::uint64_t patience_ns,
                   GpuAddress gave_up) {
  launch("winnow_hold", 1, released, turn, patience_ns, gave_up);
}

void Helpers::stamp_clock(GpuAddress stamp) {
  launch("winnow_stamp_clock", multiprocessors_ * kBlockThreads, stamp);
}

std::uint64_t Helpers::clock_step_ns() {
  launch("winnow_clock_step", 1, slot(0));
  std::uint64_t step_ns = 0;
  driver_.download(std::as_writable_bytes(std::span(&step_ns, 1)), slot(0));
  return step_ns;
}

std::uint64_t Helpers::checksum(DeviceRange range, std::uint64_t salt) {
  driver_.fill(slot(0), 0, 4, 2);
  launch("winnow_checksum", words_of(range), range.begin, std::uint64_t{range.bytes}, salt,
         slot(0));
  std::uint64_t sum = 0;
  driver_.download(std::as_writable_bytes(std::span(&sum, 1)), slot(0));
  return sum + range.bytes;
}

void Helpers::reserve_results(std::size_t count) {
  if (count <= reserved_results_) {
    return;
  }
  reserved_results_ = 0;
  if (results_ != 0) {
    driver_.release(std::exchange(results_, 0));
  }
  results_ = driver_.allocate(count * sizeof(std::uint64_t));
  reserved_results_ = count;
}

void Helpers::begin_comparison() {
  reserve_results(kTotals);
  driver_.fill(results_, 0, 4, 2 * kTotals);
}

void Helpers::compare(DeviceRange got, tasks::DType dtype, GpuAddress expected,
                      GpuAddress magnitude, const ErrorLimits& limits) {
  const auto element_bytes = static_cast<int>(tasks::size_bytes(dtype));
  const std::uint64_t count = got.bytes / tasks::size_bytes(dtype);
  launch("winnow_compare", count, got.begin, count, static_cast<int>(dtype), element_bytes,
         expected, magnitude, limits.unit, limits.multiple, limits.rounding, limits.absolute,
         limits.nan_allowed ? 1 : 0, results_);
}

void Helpers::compare_exact(DeviceRange got, GpuAddress expected) {
  launch("winnow_count_differences", words_of(got), got.begin, expected, std::uint64_t{got.bytes},
         results_);
}

ErrorTotals Helpers::comparison() {
  std::array<std::uint64_t, kTotals> numbers{};
  driver_.download(std::as_writable_bytes(std::span(numbers)), results_);
  return std::bit_cast<ErrorTotals>(numbers);
}

void Helpers::begin_checks(std::size_t count) {
  reserve_results(count);
  checks_ = count;
  driver_.fill(results_, ~std::uint32_t{0}, 4, 2 * count);
}

void Helpers::check_drawn(std::size_t check, DeviceRange range, const Draw& draw) {
  const auto element_bytes = static_cast<int>(tasks::size_bytes(draw.dtype));
  const std::uint64_t count = range.bytes / tasks::size_bytes(draw.dtype);
  const auto [kind, a, b, c, csr] = tasks::drawn(draw.generator, draw.seed, draw.name_hash);
  launch("winnow_verify_generated", count, range.begin, count, static_cast<int>(draw.dtype),
         element_bytes, static_cast<int>(kind), a, b, c, csr.rows, csr.columns, csr.pointers_hash,
         draw.seed, draw.name_hash, slot(check));
}

void Helpers::check_guard(std::size_t check, DeviceRange range, std::uint64_t salt,
                          bool backwards) {
  launch("winnow_verify_guard", words_of(range) + 1, range.begin, std::uint64_t{range.bytes}, salt,
         backwards ? 1 : 0, slot(check));
}

std::vector<std::uint64_t> Helpers::findings() {
  std::vector<std::uint64_t> found(checks_);
  driver_.download(std::as_writable_bytes(std::span(found)), results_);
  return found;
}

} // namespace winnow::evaluators::gpu
