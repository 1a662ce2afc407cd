#include "evaluators/device/gpu/gpu_arguments.h"

namespace winnow::evaluators::gpu {

Arguments::Arguments(GpuDriver& driver, const GpuBuffers& buffers,
                     const std::vector<tasks::ResolvedArgument>& arguments) {
  using Kind = tasks::ResolvedArgument::Kind;
  pointers_.reserve(arguments.size());
  for (const tasks::ResolvedArgument& argument : arguments) {
    if (argument.kind == Kind::TensorMap) {
      const tasks::ResolvedTensorMap& map = *argument.tensor_map;
      tensor_maps_.push_back(driver.encode(map, buffers.range(map.buffer, map.offset_bytes, 0)));
      pointers_.push_back(&tensor_maps_.back());
      continue;
    }
    if (argument.kind != Kind::Pointer) {
      values_.push_back(scalar_bytes(argument));
    } else if (argument.buffer.empty()) {
      values_.push_back({}); // a null pointer
    } else {
      values_.push_back(address_bytes(buffers.range(argument.buffer, argument.offset_bytes, 0)));
    }
    pointers_.push_back(&values_.back());
  }
}

} // namespace winnow::evaluators::gpu
