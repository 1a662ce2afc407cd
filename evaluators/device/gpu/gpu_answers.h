#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/pinned_arena.h"
#include "evaluators/device/kept_answer.h"

#include <cstddef>
#include <memory>
#include <span>

namespace winnow::evaluators::gpu {

/// The answers that a GPU keeps for its judge, in allocations of their own. Throws GpuError.
class Answers {
public:
  static constexpr std::size_t kStagingBytes = std::size_t{64} << 20U;

  /// Outputs are uploaded in parts of `staging_bytes`, a multiple of 8.
  Answers(GpuDriver& driver, Helpers& helpers, PinnedArena& arena,
          std::size_t staging_bytes = kStagingBytes);
  ~Answers();
  Answers(const Answers&) = delete; // owns device memory
  Answers& operator=(const Answers&) = delete;

  /// Copies; `magnitude` may be empty. nullptr when that would take more than a share of the
  /// device's memory, or more than there is. The result must not outlive this object.
  std::unique_ptr<KeptAnswer> keep(DeviceRange expected, DeviceRange magnitude);

private:
  class Kept;

  bool has_room(std::size_t bytes) const;
  DeviceRange allocate(std::size_t bytes);
  DeviceRange copy_of(DeviceRange range);
  void release(DeviceRange range);
  DeviceRange stage(std::span<const std::byte> bytes);

  GpuDriver& driver_;
  Helpers& helpers_;
  PinnedArena& arena_;
  std::size_t staging_bytes_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  DeviceRange staging_; ///< of a part of a candidate's output; from the first keep() on
};

} // namespace winnow::evaluators::gpu
