// The functions of the Python module that extension.py builds. tensors_at() and sizes_of() are
// generated, and KernelPlan.
namespace plan {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<double>;

inline cudaStream_t stream_of(std::int64_t stream) {
  return reinterpret_cast<cudaStream_t>(static_cast<std::uintptr_t>(stream));
}
inline char* data_of(std::int64_t pointer) {
  return reinterpret_cast<char*>(static_cast<std::uintptr_t>(pointer));
}
/// The tensors in order, then the scratch buffers. Without pointers they have no memory.
inline std::vector<Buffer> buffers_at(const Sizes& sizes, const Integers& pointers) {
  std::vector<Buffer> buffers = tensors_at(sizes);
  KernelPlan::scratch(sizes, current_device(), buffers);
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    buffers.at(i).data = data_of(pointers[i]);
  }
  return buffers;
}

} // namespace plan

std::vector<plan::Integers> exported_shapes(plan::Integers integers, plan::Reals reals) {
  return shapes_at(sizes_of(integers, reals));
}
plan::Integers exported_scratch(plan::Integers integers, plan::Reals reals) {
  const plan::Sizes sizes = sizes_of(integers, reals);
  const std::vector<plan::Buffer> buffers = plan::buffers_at(sizes, {});
  plan::Integers bytes;
  for (std::size_t i = tensors_at(sizes).size(); i < buffers.size(); ++i) {
    bytes.push_back(buffers[i].count * buffers[i].element_bytes);
  }
  return bytes;
}
void exported_prepare(plan::Integers integers, plan::Reals reals, plan::Integers pointers,
                      std::int64_t stream) {
  const plan::Sizes sizes = sizes_of(integers, reals);
  const std::vector<plan::Buffer> buffers = plan::buffers_at(sizes, pointers);
  KernelPlan::fill_once(plan::stream_of(stream), buffers.data());
  KernelPlan::prepare(sizes, plan::current_device(), plan::stream_of(stream), buffers.data());
}
void exported_run(plan::Integers integers, plan::Reals reals, plan::Integers pointers,
                  std::int64_t stream) {
  const plan::Sizes sizes = sizes_of(integers, reals);
  const std::vector<plan::Buffer> buffers = plan::buffers_at(sizes, pointers);
  KernelPlan::run(sizes, plan::current_device(), plan::stream_of(stream), buffers.data());
}
