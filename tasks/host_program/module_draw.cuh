// What extension.py needs of the inputs to check itself.
namespace plan {

inline char* data_of(std::int64_t pointer) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(pointer));
}
inline std::vector<Buffer> task_buffers(const Shape<Sizes>& shape,
                                        const std::vector<std::int64_t>& pointers) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < kTensors.size(); ++i) {
    buffers.push_back({kTensors[i].name, kTensors[i].dtype, kTensors[i].element_bytes,
                       shape.tensors[i].count, data_of(pointers.at(i))});
  }
  return buffers;
}

} // namespace plan

/// Draws the inputs. `pointers`: of the task's tensors in order; those of outputs are not used.
void check_draw(std::int64_t shape, std::int64_t seed, std::vector<std::int64_t> pointers,
                bool also_static) {
  const plan::Shape<plan::Sizes>& at = kShapes.at(static_cast<std::size_t>(shape));
  plan::draw(at, kTensors.data(), plan::task_buffers(at, pointers).data(),
             static_cast<unsigned long long>(seed), also_static);
  PLAN_CHECK(cudaDeviceSynchronize());
}
