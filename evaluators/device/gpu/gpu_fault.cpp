#include "evaluators/device/gpu/gpu_fault.h"

#include <array>
#include <variant>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

using tasks::Verdict;

std::string size_text(const std::array<std::int64_t, 3>& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

std::string describe_step(const tasks::LaunchStep& step) {
  constexpr std::array<std::int64_t, 3> kNone{1, 1, 1};
  return fmt::format(
      "kernel '{}' (grid {}, block {}{}{}{})", step.kernel, size_text(step.grid),
      size_text(step.block), step.cluster != kNone ? ", cluster " + size_text(step.cluster) : "",
      step.shared_bytes > 0 ? fmt::format(", {} bytes of dynamic shared memory", step.shared_bytes)
                            : "",
      step.cooperative ? ", cooperative" : "");
}

std::string describe_step(const tasks::FillStep& step) {
  return "the fill of '" + step.buffer + "'";
}

std::string describe_step(const tasks::CopyStep& step) {
  return "the copy from '" + step.from + "' to '" + step.to + "'";
}

std::string describe_step(const tasks::LibraryStep& step) {
  const std::string batch = step.batch > 1 ? fmt::format(", {} times", step.batch) : "";
  return fmt::format("{} {} ({} x {} x {}{})", step.library, step.operation, step.m, step.n, step.k,
                     batch);
}

struct Meaning {
  Verdict verdict;
  std::string_view text; ///< text that follows `where`
};

Meaning meaning_of(GpuFailure failure) {
  switch (failure) {
  case GpuFailure::InvalidLaunch:
    return {Verdict::LaunchError, "was refused by the driver"};
  case GpuFailure::IllegalAddress:
    return {Verdict::OutOfBounds, "accessed an address outside of all buffers"};
  case GpuFailure::Misaligned:
    return {Verdict::Crashed,
            "accessed an address that is not a multiple of the size of the access"};
  case GpuFailure::Assertion:
    return {Verdict::LaunchError, "failed an assertion"};
  case GpuFailure::Trap:
    return {Verdict::LaunchError, "was stopped by a trap, an invalid instruction, a stack overflow "
                                  "or an access outside of shared memory"};
  case GpuFailure::CooperativeSize:
    return {Verdict::LaunchError,
            "has more blocks than can be resident at once, but a cooperative launch needs all its "
            "blocks resident: use min(..., resident_blocks) in the grid"};
  case GpuFailure::LaunchTimeout:
    return {Verdict::Timeout, "ran longer than the driver allows"};
  case GpuFailure::OutOfMemory:
    return {Verdict::OverLimit, "needs more device memory than is free (large stack frames and "
                                "device variables need device memory, too)"};
  case GpuFailure::BadModule:
    return {Verdict::LaunchError, "is not code for this device"};
  case GpuFailure::DeviceLost:
    return {Verdict::Infrastructure, "ran when the device was lost"};
  case GpuFailure::Other:
    break;
  }
  return {Verdict::Infrastructure, "met a failure of the driver"};
}

} // namespace

std::string describe(const tasks::Step& step) {
  return std::visit([](const auto& one) { return describe_step(one); }, step);
}

DeviceFault fault_of(const GpuError& error, const std::string& where) {
  const Meaning meaning = meaning_of(error.failure());
  return {meaning.verdict, fmt::format("{} {}: {}", where, meaning.text, error.what())};
}

} // namespace winnow::evaluators::gpu
