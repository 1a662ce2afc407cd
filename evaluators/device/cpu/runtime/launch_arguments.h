#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <cstddef>
#include <vector>

namespace winnow::evaluators::cpu {

/// The argument values of a launch in the layout that the kernel reads. Throws Error for an unknown
/// buffer.
class LaunchArguments {
public:
  LaunchArguments(const std::vector<tasks::ResolvedArgument>& arguments,
                  const GuardedBuffers& buffers);
  LaunchArguments(const LaunchArguments&) = delete; // pointers_ points into this object
  LaunchArguments& operator=(const LaunchArguments&) = delete;

  void* const* pointers() const { return pointers_.data(); }
  /// Whether the bytes are in the memory from which a kernel loads its arguments.
  bool contains(const void* begin, std::size_t bytes = 1) const;

private:
  std::vector<ArgumentBytes> values_;
  std::vector<void*> pointers_;
};

/// Fills `bytes` bytes with copies of a value of `value_bytes` (a power of two, at most 8).
void fill_repeating(std::byte* data, std::size_t bytes, const void* value, std::size_t value_bytes);

} // namespace winnow::evaluators::cpu
