#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <deque>
#include <vector>

namespace winnow::evaluators::gpu {

/// The argument values of one launch, with encoded tensor maps. Throws Error for an unknown buffer,
/// and GpuError for a tensor map that the driver refuses.
class Arguments {
public:
  Arguments(GpuDriver& driver, const GpuBuffers& buffers,
            const std::vector<tasks::ResolvedArgument>& arguments);
  Arguments(const Arguments&) = delete; // pointers_ points into this object
  Arguments& operator=(const Arguments&) = delete;

  const std::vector<void*>& pointers() const { return pointers_; }

private:
  std::deque<ArgumentBytes> values_; ///< a deque does not move its elements
  std::deque<TensorMapBytes> tensor_maps_;
  std::vector<void*> pointers_;
};

} // namespace winnow::evaluators::gpu
