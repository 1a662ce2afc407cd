// run() of a solution: the tensors in the order of the definition, outputs last. tensors_at(),
// shapes_at() and sizes_of() are generated, and KernelPlan.
namespace plan {

inline void check_tensor(const torch::Tensor& tensor, const Buffer& wanted,
                         const std::vector<std::int64_t>& shape) {
  TORCH_CHECK(tensor.is_cuda() && tensor.is_contiguous(), wanted.name,
              " must be contiguous and on a CUDA device");
  TORCH_CHECK(tensor.element_size() == wanted.element_bytes, wanted.name, " has elements of ",
              tensor.element_size(), " bytes, but the kernel expects ", wanted.element_bytes);
  TORCH_CHECK(tensor.sizes() == at::IntArrayRef(shape), wanted.name, " has the sizes ",
              tensor.sizes(), ", but the other tensors ask for ", at::IntArrayRef(shape));
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

