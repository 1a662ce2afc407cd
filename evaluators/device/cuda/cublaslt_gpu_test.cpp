// Needs an NVIDIA GPU and libcublasLt.
#include "base/error.h"
#include "evaluators/device/cuda/cublaslt.h"
#include "evaluators/device/cuda/cuda_driver.h"

#include <cmath>
#include <cstring>

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
};

const std::vector<Types> kTypes{
    {"F32", DType::F32, DType::F32, LibraryCompute::F32, false, 1e-6},
    {"F32Transposed", DType::F32, DType::F32, LibraryCompute::F32, true, 1e-6},
    {"TF32", DType::F32, DType::F32, LibraryCompute::TF32, false, 1e-6},
    {"F16", DType::F16, DType::F16, LibraryCompute::F32, false, 1e-3},
    {"BF16", DType::BF16, DType::BF16, LibraryCompute::F32, true, 1e-2},
    {"F8", DType::F8E4M3, DType::BF16, LibraryCompute::F32, true, 1e-2},
    {"I8", DType::I8, DType::I32, LibraryCompute::I32, true, 0},
};

class CublasLtGpu : public testing::TestWithParam<Types> {
protected:
  void SetUp() override {
    try {
      driver = open_cuda_driver(0);
    } catch (const DeviceUnavailable& error) {
      GTEST_SKIP() << error.what();
    }
    try {
      library = open_cuda_library("cublaslt", *driver);
    } catch (const GpuError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  GpuAddress put(DType type, const std::vector<double>& values) {
    std::vector<std::byte> bytes(values.size() * tasks::size_bytes(type));
    for (std::size_t i = 0; i < values.size(); ++i) {
      tasks::store_element(type, bytes.data() + i * tasks::size_bytes(type), values[i]);
    }
    const GpuAddress address = driver->allocate(bytes.size());
    driver->upload(address, bytes);
    return address;
  }

  std::vector<double> get(DType type, GpuAddress address, std::size_t count) {
    std::vector<std::byte> bytes(count * tasks::size_bytes(type));
    driver->download(bytes, address);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = tasks::load_element(type, bytes.data() + i * tasks::size_bytes(type));
    }
    return values;
  }

  std::unique_ptr<GpuDriver> driver;
  std::unique_ptr<GpuLibrary> library;
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
  step.a_type = step.b_type = types.factor;
  step.c_type = types.product;
  step.m = 48;
  step.n = 80;
  step.k = 32;
  step.b_transposed = types.b_transposed;
  step.compute = types.compute;
  step.alpha = types.compute == LibraryCompute::I32 ? 1 : 2; // integer products are not scaled
  return step;
}

TEST_P(CublasLtGpu, MultipliesRowMajorMatrices) {
  const tasks::LibraryStep step = step_of(GetParam());
  const auto m = static_cast<std::size_t>(step.m), n = static_cast<std::size_t>(step.n),
             k = static_cast<std::size_t>(step.k);
  const std::vector<double> a = numbers(m, k, 1), b = numbers(k, n, 2);
  const GpuAddress c = put(step.c_type, std::vector<double>(m * n, 99));
  const GpuAddress a_there = put(step.a_type, a), b_there = put(step.b_type, b);
  library->queue(step, a_there, b_there, c);
  const GpuGraph graph = driver->record([&] { library->queue(step, a_there, b_there, c); });
  driver->launch(graph);
  const std::vector<double> got = get(step.c_type, c, m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t p = 0; p < k; ++p) {
        sum += a[i * k + p] * (step.b_transposed ? b[j * k + p] : b[p * n + j]);
      }
      ASSERT_NEAR(got[i * n + j], step.alpha * sum,
                  GetParam().tolerance * std::abs(step.alpha * sum))
          << "row " << i << ", column " << j;
    }
  }
  driver->release_graph(graph);
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
    library->queue(step, memory, memory, memory);
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
