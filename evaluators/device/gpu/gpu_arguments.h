#pragma once

#include "evaluators/device/argument_bytes.h"
#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_driver.h"

#include <deque>
#include <vector>

namespace winnow::evaluators::gpu {

/// The values of a launch's arguments, tensor maps encoded. Throws Error for an unknown buffer,
/// GpuError for a tensor map that the driver refuses.
class Arguments {
public:
  Arguments(GpuDriver& driver, const GpuBuffers& buffers,
            const std::vector<tasks::ResolvedArgument>& arguments);
  Arguments(const Arguments&) = delete; // the pointers point into it
  Arguments& operator=(const Arguments&) = delete;

  const std::vector<void*>& pointers() const { return pointers_; }

private:
  std::deque<ArgumentBytes> values_; ///< deques: elements stay where they are
  std::deque<TensorMapBytes> tensor_maps_;
  std::vector<void*> pointers_;
};

} // namespace winnow::evaluators::gpu
