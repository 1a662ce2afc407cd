#include "evaluators/device/cuda/cuda_library.h"

#if __has_include(<cublasLt.h>)

#include <cstdint>
#include <map>
#include <tuple>

#include <cublasLt.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

#define WINNOW_CUBLASLT_FUNCTIONS(X)                                                               \
  X(cublasLtCreate)                                                                                \
  X(cublasLtDestroy)                                                                               \
  X(cublasLtGetStatusString)                                                                       \
  X(cublasLtMatmul)                                                                                \
  X(cublasLtMatmulAlgoGetHeuristic)                                                                \
  X(cublasLtMatmulDescCreate)                                                                      \
  X(cublasLtMatmulDescDestroy)                                                                     \
  X(cublasLtMatmulDescSetAttribute)                                                                \
  X(cublasLtMatmulPreferenceCreate)                                                                \
  X(cublasLtMatmulPreferenceDestroy)                                                               \
  X(cublasLtMatmulPreferenceSetAttribute)                                                          \
  X(cublasLtMatrixLayoutCreate)                                                                    \
  X(cublasLtMatrixLayoutDestroy)                                                                   \
  X(cublasLtMatrixLayoutSetAttribute)

WINNOW_CUDA_LIBRARY(Functions, functions, WINNOW_CUBLASLT_FUNCTIONS, "libcublasLt",
                    "cuBLASLt is not installed here; it comes with the CUDA toolkit (libcublas)",
                    "libcublasLt.so.13", "libcublasLt.so.12")

// NVIDIA's recommendation for Hopper; older GPUs need less.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20U;

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    refuse_library(call, fmt::format("cublasStatus_t {}", static_cast<int>(status)),
                   functions().cublasLtGetStatusString(status));
  }
}

template <class Handle> using Owned = LibraryHandle<Handle, cublasStatus_t (*)(Handle)>;

cudaDataType_t data_type(tasks::DType type) {
  switch (type) {
  case tasks::DType::F32:
    return CUDA_R_32F;
  case tasks::DType::F16:
    return CUDA_R_16F;
  case tasks::DType::BF16:
    return CUDA_R_16BF;
  case tasks::DType::F8E4M3:
    return CUDA_R_8F_E4M3;
  case tasks::DType::F8E5M2:
    return CUDA_R_8F_E5M2;
  case tasks::DType::I8:
    return CUDA_R_8I;
  case tasks::DType::I32:
    return CUDA_R_32I;
  default:
    refuse_library("matmul", std::string(to_string(type)), "cuBLASLt cannot multiply this type");
  }
}

cublasComputeType_t compute_type(tasks::LibraryCompute compute) {
  switch (compute) {
  case tasks::LibraryCompute::TF32:
    return CUBLAS_COMPUTE_32F_FAST_TF32;
  case tasks::LibraryCompute::I32:
    return CUBLAS_COMPUTE_32I;
  case tasks::LibraryCompute::F32:
    break;
  }
  return CUBLAS_COMPUTE_32F;
}

/// One matrix product and its algorithm. It can be queued any number of times.
///
/// cuBLASLt uses column-major matrices. The row-major product c = a b is the column-major product
/// c^T = b^T a^T, so b is passed first. A row-major k x n matrix is a column-major n x k matrix
/// with leading dimension n.
class Product {
public:
  Product(cublasLtHandle_t handle, const tasks::LibraryStep& step)
      : handle_(handle), step_(step), description_(functions().cublasLtMatmulDescDestroy),
        first_(functions().cublasLtMatrixLayoutDestroy),
        second_(functions().cublasLtMatrixLayoutDestroy),
        result_(functions().cublasLtMatrixLayoutDestroy) {
    describe();
    choose();
  }

  void queue(std::span<const GpuAddress> operands, void* workspace, std::uintptr_t stream) {
    const auto at = [&](std::size_t i) { return reinterpret_cast<void*>(operands[i]); };
    const bool integers = step_.compute == tasks::LibraryCompute::I32;
    const auto real_alpha = static_cast<float>(step_.alpha);
    const auto integer_alpha = static_cast<std::int32_t>(step_.alpha);
    const float real_zero = 0;
    const std::int32_t integer_zero = 0;
    const void* alpha = integers ? static_cast<const void*>(&integer_alpha) : &real_alpha;
    const void* beta = integers ? static_cast<const void*>(&integer_zero) : &real_zero;
    check(functions().cublasLtMatmul(handle_, description_.get(), alpha, at(1), first_.get(), at(0),
                                     second_.get(), beta, at(2), result_.get(), at(2),
                                     result_.get(), &algorithm_.algo, workspace, kWorkspaceBytes,
                                     reinterpret_cast<cudaStream_t>(stream)),
          "cublasLtMatmul");
  }

private:
  void describe() {
    const bool integers = step_.compute == tasks::LibraryCompute::I32;
    check(functions().cublasLtMatmulDescCreate(description_.out(), compute_type(step_.compute),
                                               integers ? CUDA_R_32I : CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    const cublasOperation_t first = step_.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(functions().cublasLtMatmulDescSetAttribute(
              description_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)),
          "cublasLtMatmulDescSetAttribute");
    if (step_.b_transposed) {
      layout(first_, type(1), step_.k, step_.n);
    } else {
      layout(first_, type(1), step_.n, step_.k);
    }
    layout(second_, type(0), step_.k, step_.m);
    layout(result_, type(2), step_.n, step_.m);
  }

  tasks::DType type(std::size_t operand) const { return step_.operands.at(operand).dtype; }

  void layout(Owned<cublasLtMatrixLayout_t>& matrix, tasks::DType type, std::int64_t rows,
              std::int64_t columns) const {
    check(functions().cublasLtMatrixLayoutCreate(matrix.out(), data_type(type),
                                                 static_cast<std::uint64_t>(rows),
                                                 static_cast<std::uint64_t>(columns), rows),
          "cublasLtMatrixLayoutCreate");
    if (step_.batch > 1) {
      const auto count = static_cast<std::int32_t>(step_.batch);
      const std::int64_t stride = rows * columns;
      set(matrix, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count));
      set(matrix, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
    }
  }

  static void set(Owned<cublasLtMatrixLayout_t>& matrix, cublasLtMatrixLayoutAttribute_t attribute,
                  const void* value, std::size_t bytes) {
    check(functions().cublasLtMatrixLayoutSetAttribute(matrix.get(), attribute, value, bytes),
          "cublasLtMatrixLayoutSetAttribute");
  }

  void choose() {
    Owned<cublasLtMatmulPreference_t> preference(functions().cublasLtMatmulPreferenceDestroy);
    check(functions().cublasLtMatmulPreferenceCreate(preference.out()),
          "cublasLtMatmulPreferenceCreate");
    const std::uint64_t workspace = kWorkspaceBytes;
    check(functions().cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                                           CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                           &workspace, sizeof(workspace)),
          "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    const cublasStatus_t status = functions().cublasLtMatmulAlgoGetHeuristic(
        handle_, description_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
        preference.get(), 1, &algorithm_, &found);
    if (status != CUBLAS_STATUS_SUCCESS || found == 0 ||
        algorithm_.state != CUBLAS_STATUS_SUCCESS) {
      refuse_library(
          "cublasLtMatmulAlgoGetHeuristic",
          fmt::format("cublasStatus_t {}", static_cast<int>(status)),
          fmt::format("cuBLASLt has no algorithm for m = {}, n = {}, k = {} in {} and {} (8-bit "
                      "types need multiples of 16)",
                      step_.m, step_.n, step_.k, to_string(type(0)), to_string(step_.compute)));
    }
  }

  cublasLtHandle_t handle_;
  tasks::LibraryStep step_;
  Owned<cublasLtMatmulDesc_t> description_;
  Owned<cublasLtMatrixLayout_t> first_;
  Owned<cublasLtMatrixLayout_t> second_;
  Owned<cublasLtMatrixLayout_t> result_;
  cublasLtMatmulHeuristicResult_t algorithm_{};
};

class CublasLt final : public GpuLibrary {
public:
  explicit CublasLt(GpuDriver& driver)
      : driver_(driver), workspace_(driver), handle_(functions().cublasLtDestroy) {
    check(functions().cublasLtCreate(handle_.out()), "cublasLtCreate");
  }

  void queue(const tasks::LibraryStep& step, std::span<const GpuAddress> operands) override {
    product(step).queue(operands, workspace_.get(kWorkspaceBytes), driver_.stream());
  }

private:
  using Key = std::tuple<tasks::DType, tasks::DType, tasks::DType, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, bool, tasks::LibraryCompute, double>;

  Product& product(const tasks::LibraryStep& step) {
    const Key key{step.operands.at(0).dtype,
                  step.operands.at(1).dtype,
                  step.operands.at(2).dtype,
                  step.m,
                  step.n,
                  step.k,
                  step.batch,
                  step.b_transposed,
                  step.compute,
                  step.alpha};
    return products_.try_emplace(key, handle_.get(), step).first->second;
  }

  GpuDriver& driver_;
  LibraryWorkspace workspace_;
  Owned<cublasLtHandle_t> handle_;
  std::map<Key, Product> products_;
};

} // namespace

std::unique_ptr<GpuLibrary> open_cublaslt(GpuDriver& driver) {
  return std::make_unique<CublasLt>(driver);
}

} // namespace winnow::evaluators

#else

namespace winnow::evaluators {

std::unique_ptr<GpuLibrary> open_cublaslt(GpuDriver& /*driver*/) {
  refuse_library("open", "cublaslt", "this program was built without cublasLt.h");
}

} // namespace winnow::evaluators

#endif
