// Needs an NVIDIA GPU and libcusparse.
#include "evaluators/device/cuda/cuda_library_gpu_test.h"

namespace winnow::evaluators {
namespace {

using tasks::DType;

/// A sparse matrix with an empty row and a full one. `first` moves the entries of the other rows.
struct Csr {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> pointers{0}, indices, values;

  Csr(std::int64_t rows, std::int64_t columns, std::int64_t first) : rows(rows), columns(columns) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t step = row == 2 ? 1 : 7;
      for (std::int64_t column = row == 2 ? 0 : (row + first) % 5; column < columns && row != 1;
           column += step) {
        indices.push_back(static_cast<double>(column));
        values.push_back(static_cast<double>((row * 3 + column) % 7) - 3);
      }
      pointers.push_back(static_cast<double>(indices.size()));
    }
  }
  std::int64_t entries() const { return static_cast<std::int64_t>(indices.size()); }

  /// A b, for b with n columns.
  std::vector<double> times(const std::vector<double>& b, std::size_t n) const {
    std::vector<double> product(static_cast<std::size_t>(rows) * n, 0.0);
    for (std::size_t row = 0; row + 1 < pointers.size(); ++row) {
      for (auto p = static_cast<std::size_t>(pointers[row]);
           p < static_cast<std::size_t>(pointers[row + 1]); ++p) {
        for (std::size_t j = 0; j < n; ++j) {
          product[row * n + j] += values[p] * b[static_cast<std::size_t>(indices[p]) * n + j];
        }
      }
    }
    return product;
  }
};

std::vector<double> whole_numbers(std::int64_t count, std::int64_t salt) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<double>((i * 5 + salt) % 9) - 4);
  }
  return values;
}

class CusparseGpu : public CudaLibraryGpu {
protected:
  void SetUp() override { open("cusparse"); }
};

tasks::LibraryStep step_of(const Csr& matrix, const std::string& operation, std::int64_t n) {
  tasks::LibraryStep step;
  step.library = "cusparse";
  step.operation = operation;
  step.m = matrix.rows;
  step.k = matrix.columns;
  step.n = n;
  step.nonzeros = matrix.entries();
  step.operands = {{"row_ptr", DType::I32, matrix.rows + 1},
                   {"col", DType::I32, matrix.entries()},
                   {"values", DType::F32, matrix.entries()},
                   {"b", DType::F32, matrix.columns * n},
                   {"c", DType::F32, matrix.rows * n}};
  return step;
}

// All numbers are small and whole, so every order of additions gives the same sum.
TEST_F(CusparseGpu, MultipliesVectors) {
  for (const std::int64_t first : {0, 3}) { // another matrix of the same size
    const Csr matrix(301, 203, first);
    tasks::LibraryStep step = step_of(matrix, "spmv", 1);
    step.alpha = 1.5;
    step.beta = 0.5;
    const std::vector<double> b = whole_numbers(matrix.columns, 1),
                              c = whole_numbers(matrix.rows, 2);
    const std::vector<double> got =
        result_of(step, {matrix.pointers, matrix.indices, matrix.values, b, c});
    const std::vector<double> product = matrix.times(b, 1);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], 1.5 * product[i] + 0.5 * c[i]) << "row " << i;
    }
  }
}

TEST_F(CusparseGpu, MultipliesRowMajorMatrices) {
  for (const std::int64_t n : {1, 8, 33}) {
    const Csr matrix(301, 203, 1);
    const tasks::LibraryStep step = step_of(matrix, "spmm", n);
    const std::vector<double> b = whole_numbers(matrix.columns * n, 1);
    const std::vector<double> nothing(static_cast<std::size_t>(matrix.rows * n), 99);
    const std::vector<double> got =
        result_of(step, {matrix.pointers, matrix.indices, matrix.values, b, nothing});
    const std::vector<double> product = matrix.times(b, static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i], product[i]) << "element " << i << ", n = " << n;
    }
  }
}

// The operands stay where they are, and a new matrix of the same size comes to their place.
TEST_F(CusparseGpu, AGraphReadsTheMatrixThatIsThereWhenItRuns) {
  const Csr first(301, 203, 0);
  Csr second = first;
  for (std::size_t row = 3; row + 1 < second.pointers.size(); ++row) {
    second.pointers[row] -= 1; // moves an entry from each row to the next one
  }
  const tasks::LibraryStep step = step_of(first, "spmv", 1);
  const std::vector<double> b = whole_numbers(first.columns, 4);
  const std::vector<double> nothing(static_cast<std::size_t>(first.rows), 0);
  const std::vector<GpuAddress> addresses{
      put(DType::I32, first.pointers), put(DType::I32, first.indices),
      put(DType::F32, first.values), put(DType::F32, b), put(DType::F32, nothing)};
  library->queue(step, addresses);
  const GpuGraph graph = driver->record([&] { library->queue(step, addresses); });
  std::vector<std::int32_t> pointers(second.pointers.begin(), second.pointers.end());
  driver->upload(addresses[0], std::as_bytes(std::span(pointers)));
  driver->launch(graph);
  EXPECT_EQ(get(DType::F32, addresses.back(), nothing.size()), second.times(b, 1));
  driver->release_graph(graph);
}

} // namespace
} // namespace winnow::evaluators
