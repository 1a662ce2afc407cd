#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "tasks/plan/plan_resolve.h"

#include <cstddef>
#include <vector>

namespace winnow::evaluators::cpu {

/// The values of a launch's arguments as a kernel takes them. Throws Error for an unknown buffer.
class LaunchArguments {
public:
  LaunchArguments(const std::vector<tasks::ResolvedArgument>& arguments,
                  const GuardedBuffers& buffers);
  LaunchArguments(const LaunchArguments&) = delete; // the pointers point into it
  LaunchArguments& operator=(const LaunchArguments&) = delete;

  void* const* pointers() const { return pointers_.data(); }
  /// Whether a kernel that loads its arguments reads there.
  bool contains(const void* address) const;

private:
  std::vector<ArgumentBytes> values_;
  std::vector<void*> pointers_;
};

/// Repeats a value of `value_bytes` (a power of two, at most 8) over `bytes`.
void fill_repeating(std::byte* data, std::size_t bytes, const void* value, std::size_t value_bytes);

} // namespace winnow::evaluators::cpu
