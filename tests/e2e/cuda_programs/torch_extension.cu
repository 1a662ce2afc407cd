#include <torch/extension.h>
__global__ void softmax(const float* x, float* y, int rows, int cols) { }
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  softmax<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "softmax"); }
