// run() of a solution: the tensors in the order of the definition, outputs last. tensors_at(),
// shapes_at() and sizes_of() are generated, and KernelPlan.
namespace plan {

inline void check_tensor(const torch::Tensor& tensor, const Buffer& wanted,
                         const std::vector<std::int64_t>& shape) {
  if (!tensor.is_cuda() || !tensor.is_contiguous()) {
    fail(wanted.name, "must be contiguous and on a CUDA device");
  }
  if (tensor.element_size() != wanted.element_bytes) {
    fail(wanted.name, "elements of " + std::to_string(wanted.element_bytes) + " bytes expected");
  }
  std::string sizes;
  for (const std::int64_t size : shape) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  }
  if (tensor.sizes().vec() != shape) {
    fail(wanted.name, "the other tensors ask for the sizes (" + sizes + ")");
  }
}

/// Allocates scratch from PyTorch's allocator, and launches on its current stream.
inline void run_on(const Sizes& sizes, const std::vector<torch::Tensor>& tensors) {
  std::vector<Buffer> buffers = tensors_at(sizes);
  const std::vector<std::vector<std::int64_t>> shapes = shapes_at(sizes);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check_tensor(tensors[i], buffers[i], shapes[i]);
    buffers[i].data = static_cast<char*>(tensors[i].data_ptr());
  }
  const c10::cuda::CUDAGuard guard(tensors.front().device());
  const Device& device = current_device();
  KernelPlan::scratch(sizes, device, buffers);
  std::vector<torch::Tensor> scratch;
  for (std::size_t i = tensors.size(); i < buffers.size(); ++i) {
    const std::int64_t bytes = max(buffers[i].count * buffers[i].element_bytes, 1);
    scratch.push_back(torch::empty({bytes}, tensors.front().options().dtype(torch::kUInt8)));
    buffers[i].data = static_cast<char*>(scratch.back().data_ptr());
  }
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  KernelPlan::fill_once(stream, buffers.data());
  KernelPlan::prepare(sizes, device, stream, buffers.data());
  KernelPlan::run(sizes, device, stream, buffers.data());
}

} // namespace plan

