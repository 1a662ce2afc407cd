#include "evaluators/device/cuda/cuda_library.h"

#if __has_include(<cusparse.h>)

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include <cusparse.h>
#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

#define WINNOW_CUSPARSE_FUNCTIONS(X)                                                               \
  X(cusparseCreate)                                                                                \
  X(cusparseCreateCsr)                                                                             \
  X(cusparseCreateDnMat)                                                                           \
  X(cusparseCreateDnVec)                                                                           \
  X(cusparseDestroy)                                                                               \
  X(cusparseDestroyDnMat)                                                                          \
  X(cusparseDestroyDnVec)                                                                          \
  X(cusparseDestroySpMat)                                                                          \
  X(cusparseGetErrorString)                                                                        \
  X(cusparseSetStream)                                                                             \
  X(cusparseSpMM)                                                                                  \
  X(cusparseSpMM_bufferSize)                                                                       \
  X(cusparseSpMV)                                                                                  \
  X(cusparseSpMV_bufferSize)

WINNOW_CUDA_LIBRARY(CusparseFunctions, cusparse, WINNOW_CUSPARSE_FUNCTIONS, "libcusparse",
                    "cuSPARSE is not installed here; it comes with the CUDA toolkit (libcusparse)",
                    "libcusparse.so.12")

void check_cusparse(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    refuse_library(call, fmt::format("cusparseStatus_t {}", static_cast<int>(status)),
                   cusparse().cusparseGetErrorString(status));
  }
}

using Matrix = LibraryHandle<cusparseSpMatDescr_t, decltype(&::cusparseDestroySpMat)>;
using DenseMatrix = LibraryHandle<cusparseDnMatDescr_t, decltype(&::cusparseDestroyDnMat)>;
using DenseVector = LibraryHandle<cusparseDnVecDescr_t, decltype(&::cusparseDestroyDnVec)>;

/// The operands of a step: row pointers, columns and values of A, then b and c. A description has
/// no device memory, so a recording may create one.
struct SparseOperands {
  const tasks::LibraryStep& step;
  std::span<const GpuAddress> addresses;

  void* at(std::size_t operand) const { return reinterpret_cast<void*>(addresses[operand]); }

  void describe_matrix(Matrix& matrix) const {
    check_cusparse(cusparse().cusparseCreateCsr(matrix.out(), step.m, step.k, step.nonzeros, at(0),
                                                at(1), at(2), CUSPARSE_INDEX_32I,
                                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                                CUDA_R_32F),
                   "cusparseCreateCsr");
  }
  void describe(DenseVector& vector, std::int64_t size, std::size_t operand) const {
    check_cusparse(cusparse().cusparseCreateDnVec(vector.out(), size, at(operand), CUDA_R_32F),
                   "cusparseCreateDnVec");
  }
  void describe(DenseMatrix& matrix, std::int64_t rows, std::size_t operand) const {
    check_cusparse(cusparse().cusparseCreateDnMat(matrix.out(), rows, step.n, step.n, at(operand),
                                                  CUDA_R_32F, CUSPARSE_ORDER_ROW),
                   "cusparseCreateDnMat");
  }
};

/// Products of sparse matrices. The matrix of each launch is another one, so no analysis of an
/// earlier matrix (cusparseSpMV_preprocess) may be used.
class Cusparse final : public GpuLibrary {
public:
  explicit Cusparse(GpuDriver& driver) : driver_(driver), handle_(cusparse().cusparseDestroy) {
    check_cusparse(cusparse().cusparseCreate(handle_.out()), "cusparseCreate");
  }

  void queue(const tasks::LibraryStep& step, std::span<const GpuAddress> operands) override {
    check_cusparse(cusparse().cusparseSetStream(handle_.get(),
                                                reinterpret_cast<cudaStream_t>(driver_.stream())),
                   "cusparseSetStream");
    Matrix matrix(cusparse().cusparseDestroySpMat);
    const SparseOperands described{step, operands};
    described.describe_matrix(matrix);
    if (step.operation == "spmm") {
      multiply_matrix(described, matrix);
    } else {
      multiply_vector(described, matrix);
    }
  }

private:
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::uintptr_t>;

  void multiply_vector(const SparseOperands& operands, const Matrix& matrix) {
    DenseVector factor(cusparse().cusparseDestroyDnVec), result(cusparse().cusparseDestroyDnVec);
    operands.describe(factor, operands.step.k, 3);
    operands.describe(result, operands.step.m, 4);
    const auto alpha = static_cast<float>(operands.step.alpha);
    const auto beta = static_cast<float>(operands.step.beta);
    std::size_t bytes = 0;
    check_cusparse(
        cusparse().cusparseSpMV_bufferSize(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                                           matrix.get(), factor.get(), &beta, result.get(),
                                           CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes),
        "cusparseSpMV_bufferSize");
    check_cusparse(cusparse().cusparseSpMV(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
                                           matrix.get(), factor.get(), &beta, result.get(),
                                           CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                           workspace(operands.step, bytes)),
                   "cusparseSpMV");
  }

  void multiply_matrix(const SparseOperands& operands, const Matrix& matrix) {
    // NVIDIA's recommendation for row-major matrices
    constexpr cusparseSpMMAlg_t kAlgorithm = CUSPARSE_SPMM_CSR_ALG2;
    DenseMatrix factor(cusparse().cusparseDestroyDnMat), result(cusparse().cusparseDestroyDnMat);
    operands.describe(factor, operands.step.k, 3);
    operands.describe(result, operands.step.m, 4);
    const auto alpha = static_cast<float>(operands.step.alpha);
    const auto beta = static_cast<float>(operands.step.beta);
    std::size_t bytes = 0;
    check_cusparse(cusparse().cusparseSpMM_bufferSize(
                       handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                       CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix.get(), factor.get(), &beta,
                       result.get(), CUDA_R_32F, kAlgorithm, &bytes),
                   "cusparseSpMM_bufferSize");
    check_cusparse(cusparse().cusparseSpMM(handle_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                           CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix.get(),
                                           factor.get(), &beta, result.get(), CUDA_R_32F,
                                           kAlgorithm, workspace(operands.step, bytes)),
                   "cusparseSpMM");
  }

  void* workspace(const tasks::LibraryStep& step, std::size_t bytes) {
    const Key key{step.operation, step.m, step.n, step.k, step.nonzeros, driver_.stream()};
    return workspaces_.try_emplace(key, driver_).first->second.get(bytes);
  }

  GpuDriver& driver_;
  std::map<Key, LibraryWorkspace> workspaces_;
  LibraryHandle<cusparseHandle_t, decltype(&::cusparseDestroy)> handle_;
};

} // namespace

std::unique_ptr<GpuLibrary> open_cusparse(GpuDriver& driver) {
  return std::make_unique<Cusparse>(driver);
}

} // namespace winnow::evaluators

#else

namespace winnow::evaluators {

std::unique_ptr<GpuLibrary> open_cusparse(GpuDriver& /*driver*/) {
  refuse_library("open", "cusparse", "this program was built without cusparse.h");
}

} // namespace winnow::evaluators

#endif
