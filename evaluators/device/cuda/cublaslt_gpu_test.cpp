// Needs an NVIDIA GPU and libcublasLt.
#include "evaluators/device/cuda/cuda_library_gpu_test.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

using tasks::DType;
using tasks::LibraryCompute;

struct Types {
  const char* name;
  DType factor, product;
  LibraryCompute compute;
  bool b_transposed;
  double tolerance; ///< relative to the product
  std::int64_t batch = 1;
};

const std::vector<Types> kTypes{
    {"F32", DType::F32, DType::F32, LibraryCompute::F32, false, 1e-6},
    {"F32Transposed", DType::F32, DType::F32, LibraryCompute::F32, true, 1e-6},
    {"TF32", DType::F32, DType::F32, LibraryCompute::TF32, false, 1e-6},
    {"F16", DType::F16, DType::F16, LibraryCompute::F32, false, 1e-3},
    {"BF16", DType::BF16, DType::BF16, LibraryCompute::F32, true, 1e-2},
    {"F8", DType::F8E4M3, DType::BF16, LibraryCompute::F32, true, 1e-2},
    {"I8", DType::I8, DType::I32, LibraryCompute::I32, true, 0},
    {"Batch", DType::F16, DType::F16, LibraryCompute::F32, false, 1e-3, 5},
    {"BatchTransposed", DType::BF16, DType::BF16, LibraryCompute::F32, true, 1e-2, 3},
};

class CublasLtGpu : public CudaLibraryGpu, public testing::WithParamInterface<Types> {
protected:
  void SetUp() override { open("cublaslt"); }
};

/// Small whole numbers, exact in every type, that differ from row to row.
std::vector<double> numbers(std::size_t rows, std::size_t columns, std::size_t salt) {
  std::vector<double> values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((i * 7 + i / columns * 3 + salt) % 5) - 2;
  }
  return values;
}

tasks::LibraryStep step_of(const Types& types) {
  tasks::LibraryStep step;
  step.library = "cublaslt";
  step.operation = "matmul";
  step.m = 48;
  step.n = 80;
  step.k = 32;
  step.batch = types.batch;
  step.operands = {{"a", types.factor, step.batch * step.m * step.k},
                   {"b", types.factor, step.batch * step.k * step.n},
                   {"c", types.product, step.batch * step.m * step.n}};
  step.b_transposed = types.b_transposed;
  step.compute = types.compute;
  step.alpha = types.compute == LibraryCompute::I32 ? 1 : 2; // integer products are not scaled
  return step;
}

TEST_P(CublasLtGpu, MultipliesRowMajorMatrices) {
  const tasks::LibraryStep step = step_of(GetParam());
  const auto m = static_cast<std::size_t>(step.m), n = static_cast<std::size_t>(step.n),
             k = static_cast<std::size_t>(step.k), batch = static_cast<std::size_t>(step.batch);
  const std::vector<double> a = numbers(batch * m, k, 1), b = numbers(batch * k, n, 2);
  const std::vector<double> got = result_of(step, {a, b, std::vector<double>(batch * m * n, 99)});
  for (std::size_t i = 0; i < batch * m; ++i) {
    const std::size_t z = i / m;
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * (step.b_transposed ? b[(z * n + j) * k + p] : b[(z * k + p) * n + j]);
      }
      ASSERT_NEAR(got[i * n + j], step.alpha * sum,
                  GetParam().tolerance * std::abs(step.alpha * sum))
          << "row " << i << ", column " << j;
    }
  }
}

std::string type_name(const testing::TestParamInfo<Types>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Types, CublasLtGpu, testing::ValuesIn(kTypes), type_name);

using CublasLtRefusal = CublasLtGpu;

TEST_P(CublasLtRefusal, SaysThatItHasNoAlgorithm) {
  tasks::LibraryStep step = step_of(GetParam());
  step.k = 31; // 8-bit types need multiples of 16
  const GpuAddress memory = driver->allocate(1U << 20U);
  try {
    library->queue(step, std::vector<GpuAddress>(3, memory));
    FAIL() << "no exception";
  } catch (const GpuError& error) {
    EXPECT_EQ(error.failure(), GpuFailure::InvalidLaunch);
    EXPECT_FALSE(error.sticky());
    EXPECT_THAT(error.what(), testing::HasSubstr("no algorithm for m = 48, n = 80, k = 31"));
  }
}
INSTANTIATE_TEST_SUITE_P(Types, CublasLtRefusal, testing::Values(kTypes[5]), type_name);

} // namespace
} // namespace winnow::evaluators
