#include "agents/prompts/work_kind.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace winnow::agents {
namespace {

std::size_t count_of(const std::string& text, std::initializer_list<std::string_view> calls) {
  std::size_t count = 0;
  for (const std::string_view call : calls) {
    for (std::size_t at = text.find(call); at != std::string::npos;
         at = text.find(call, at + call.size())) {
      ++count;
    }
  }
  return count;
}

bool has_input(const tasks::Task& task, bool floating) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const auto& tensor) {
    return tensor.role != tasks::Role::Output && tasks::is_floating(tensor.dtype) == floating;
  });
}

constexpr std::array<std::pair<std::string_view, WorkKind>, 13> kKinds{
    {{"activation", WorkKind::Streaming},
     {"broadcast", WorkKind::Streaming},
     {"loss", WorkKind::Reduction},
     {"math", WorkKind::Other},
     {"normalization", WorkKind::Reduction},
     {"optimizer", WorkKind::Streaming},
     {"particles", WorkKind::Other},
     {"reduction", WorkKind::Reduction},
     {"resize", WorkKind::Streaming},
     {"scan", WorkKind::Scan},
     {"sparse", WorkKind::Sparse},
     {"stencil", WorkKind::Other},
     {"transform", WorkKind::Other}}};

WorkKind kind_of_module(const std::string& module) {
  const std::size_t products =
      count_of(module, {"matmul(", "bmm(", "einsum(", ".mm(", "_mm(", "torch.mv(", " @ ", "Linear(",
                        "F.linear(", "functional.linear("});
  const bool scans =
      count_of(module, {"cumsum(", "cumprod(", "logcumsumexp(", "cummax(", "LSTM(", "GRU("}) > 0;
  if (count_of(module, {"scaled_dot_product_attention(", "MultiheadAttention("}) > 0 ||
      (products >= 2 && count_of(module, {"softmax("}) > 0)) {
    return WorkKind::Attention;
  }
  if (count_of(module, {"conv1d(", "conv2d(", "conv3d(", "Conv1d(", "Conv2d(", "Conv3d(",
                        "conv_transpose", "ConvTranspose"}) > 0) {
    return WorkKind::Convolution;
  }
  if (products > 0) {
    return scans ? WorkKind::Other : WorkKind::Product;
  }
  if (scans) {
    return WorkKind::Scan;
  }
  if (count_of(module, {"fft", "sort(", "topk(", "sparse", "scatter", "index_add", "gather("}) >
      0) {
    return WorkKind::Other;
  }
  return count_of(module,
                  {"softmax(", "norm(", "Norm", ".sum(", "torch.sum(", ".mean(", "torch.mean(",
                   "cross_entropy(", "logsumexp(", "amin(", "amax(", "argmax(", "argmin(", ".var(",
                   ".std(", "torch.max(", "torch.min(", "Loss("}) > 0
             ? WorkKind::Reduction
         : module.empty() ? WorkKind::Other
                          : WorkKind::Streaming;
}

} // namespace

WorkKind kind_of_work(const tasks::Task& task) {
  const auto* const known = std::find_if(
      kKinds.begin(), kKinds.end(), [&](const auto& one) { return one.first == task.category; });
  if (known == kKinds.end()) {
    return kind_of_module(task.reference_python);
  }
  const bool fits = (known->second != WorkKind::Sparse || has_input(task, false)) &&
                    (known->second != WorkKind::Reduction || has_input(task, true));
  return fits ? known->second : WorkKind::Other;
}

double operations_per_byte(const tasks::Task& task, const std::string& device_kind) {
  double most = 0;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device_kind)) {
    tasks::Scope scope;
    tasks::bind_shape(task, shape, scope);
    const double bytes = task.bytes.evaluate_float(scope);
    if (bytes > 0) {
      most = std::max(most, task.operations.evaluate_float(scope) / bytes);
    }
  }
  return most;
}

} // namespace winnow::agents
