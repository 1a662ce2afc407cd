// Checks the work that each task of the catalogue states against an independent count.
#include "tasks/catalogue.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/mutants/memorisable.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/task.h"
#include "tasks/task/varied_shape.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

const std::filesystem::path kCatalogue = WINNOW_CATALOGUE;

class CatalogueTask : public ::testing::TestWithParam<std::string> {
protected:
  const Task task_ = find_task(kCatalogue, GetParam());
};

double tensor_bytes(const Task& task, const Shape& shape) {
  double bytes = 0;
  for (const TensorSpec& tensor : task.tensors) {
    const double once = tensor_bytes(tensor, shape);
    bytes += tensor.role == Role::InOut ? 2 * once : once;
  }
  return bytes;
}

/// An index or bits choose what is read, or a plan may pack weights once without their zeros.
bool reads_parts_of_inputs(const Task& task) {
  static const std::set<std::string> names{"attention_decode_pruned",
                                           "bf16_decode_entropy",
                                           "embedding_gather",
                                           "gemm_sparse_weights",
                                           "moe_grouped_gemm",
                                           "moe_grouped_gemm_mxfp4",
                                           "spgemm_csr"};
  return names.contains(task.name) || task.find_tensor("row_ptr") != nullptr;
}

TEST_P(CatalogueTask, MovesEachInputAndEachOutputOnce) {
  for (const Shape& shape : task_.shapes) {
    Scope scope;
    bind_shape(task_, shape, scope);
    if (reads_parts_of_inputs(task_)) {
      EXPECT_LE(task_.bytes.evaluate_float(scope), tensor_bytes(task_, shape)) << to_string(shape);
    } else {
      EXPECT_EQ(task_.bytes.evaluate_float(scope), tensor_bytes(task_, shape)) << to_string(shape);
    }
  }
}

// An author who learns the sizes of one evaluation knows nothing of the next.
TEST_P(CatalogueTask, HasOtherHiddenSizesForEachEvaluation) {
  constexpr int kDraws = 12;
  for (const std::string& device : device_kinds()) {
    std::map<std::string, std::int64_t> largest;
    for (const ShapeSet set : {ShapeSet::Search, ShapeSet::Promotion}) {
      for (const Shape& shape : task_.shapes_of(set, device)) {
        for (const auto& [axis, size] : shape.axes) {
          largest[axis] = std::max(largest[axis], size);
        }
      }
    }
    for (const Shape& shape : task_.shapes_of(ShapeSet::Promotion, device)) {
      std::set<std::string> drawn;
      for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
        const Shape varied = varied_shape(task_, device, shape, draw);
        drawn.insert(to_string(varied));
        EXPECT_EQ(varied.id, shape.id);
        EXPECT_EQ(varied.axes, varied_shape(task_, device, shape, draw).axes);
        for (const auto& [axis, size] : varied.axes) {
          EXPECT_LE(size, largest[axis]) << to_string(varied);
          EXPECT_GE(2 * size, shape.axes.at(axis)) << to_string(varied);
          EXPECT_TRUE(size % 16 == 0 || shape.axes.at(axis) % 16 != 0) << to_string(varied);
        }
      }
      EXPECT_GE(drawn.size(), 3U) << to_string(shape);
    }
  }
}

// Two lookups among two rows of three elements name both rows in half of all cases: 1.5 rows.
TEST(RowsChosenByIndex, CountOnce) {
  Scope scope;
  scope.set("vocab", std::int64_t{2});
  scope.set("dim", std::int64_t{3});
  scope.set("tokens", std::int64_t{2});
  const Task task = find_task(kCatalogue, "embedding_gather");
  EXPECT_DOUBLE_EQ(task.bytes.evaluate_float(scope), 2 * 4 + 2 * 3 * 2 + 1.5 * 3 * 2);
}

// Two tokens among two experts name both experts in half of all cases: 1.5 experts of 5 x 3
// weights.
TEST(ExpertsChosenByIndex, CountOnce) {
  Scope scope;
  scope.set("tokens", std::int64_t{2});
  scope.set("topk", std::int64_t{1});
  scope.set("experts", std::int64_t{2});
  scope.set("n", std::int64_t{5});
  scope.set("k", std::int64_t{3});
  const Task task = find_task(kCatalogue, "moe_grouped_gemm");
  EXPECT_DOUBLE_EQ(task.bytes.evaluate_float(scope),
                   2 * 3 * 2 + 2 * 4 + 2 * 5 * 2 + 1.5 * 5 * 3 * 2);
}

double different_columns(const Task& task, const Shape& shape) {
  const TensorSpec& col = *task.find_tensor("col");
  std::vector<std::int32_t> drawn(static_cast<std::size_t>(element_count(col, shape)));
  generate_tensor(generator_at(col, shape), col.dtype, 1, col.name, drawn.data(), drawn.size());
  return static_cast<double>(std::set<std::int32_t>(drawn.begin(), drawn.end()).size());
}

TEST(ColumnsOfASparseMatrix, CountOnce) {
  for (const char* name : {"spmv_csr", "spmm_csr"}) {
    const Task task = find_task(kCatalogue, name);
    const TensorSpec& dense = *task.find_tensor(task.find_tensor("x") != nullptr ? "x" : "b");
    for (const Shape& shape : task.shapes_of(ShapeSet::Search, "cpu")) {
      Scope scope;
      bind_shape(task, shape, scope);
      const double columns = static_cast<double>(shape.axes.at("cols"));
      const double bytes_of_dense = 4 * static_cast<double>(element_count(dense, shape));
      const double read =
          task.bytes.evaluate_float(scope) - tensor_bytes(task, shape) + bytes_of_dense;
      const double columns_read = read / bytes_of_dense * columns;
      EXPECT_NEAR(columns_read / different_columns(task, shape), 1, 0.03) << to_string(shape);
    }
  }
}

double elements(const Task& task, const Shape& shape) {
  return std::accumulate(task.tensors.begin(), task.tensors.end(), 0.0,
                         [&](double sum, const TensorSpec& tensor) {
                           return sum + static_cast<double>(element_count(tensor, shape));
                         });
}

bool is_near(const Task& task, const Shape& shape, const Shape& other) {
  return std::abs(elements(task, shape) / elements(task, other) - 1) <= 0.25;
}

// Only the speed on such hidden shapes counts; see evaluators/timing/hidden_speed.h.
TEST_P(CatalogueTask, HasHiddenShapesOfTheSizeOfItsSearchShapes) {
  for (const std::string& device : device_kinds()) {
    const std::vector<Shape> search = task_.shapes_of(ShapeSet::Search, device);
    for (const ShapeSet set : {ShapeSet::Promotion, ShapeSet::HeldOut}) {
      const std::vector<Shape> hidden = task_.shapes_of(set, device);
      EXPECT_TRUE(std::any_of(hidden.begin(), hidden.end(),
                              [&](const Shape& shape) {
                                return std::any_of(search.begin(), search.end(),
                                                   [&](const Shape& shown) {
                                                     return is_near(task_, shape, shown);
                                                   });
                              }))
          << device << ", " << to_string(set);
      for (const Shape& shape : hidden) {
        EXPECT_TRUE(std::any_of(search.begin(), search.end(),
                                [&](const Shape& shown) {
                                  return tensor_bytes(task_, shape) <=
                                         1.2 * tensor_bytes(task_, shown);
                                }))
            << device << ": " << to_string(shape) << " takes too much memory";
      }
    }
  }
}

// A kernel may be written for each size that it is shown, of any axis.
TEST_P(CatalogueTask, HasTimedHiddenShapesThatDifferFromItsSearchShapesOnEachAxis) {
  for (const std::string& device : device_kinds()) {
    const std::vector<Shape> search = task_.shapes_of(ShapeSet::Search, device);
    for (const ShapeSet set : {ShapeSet::Promotion, ShapeSet::HeldOut}) {
      const std::vector<Shape> hidden = task_.shapes_of(set, device);
      for (const Axis& axis : task_.axes) {
        const auto is_shown = [&](const Shape& shape) {
          return std::any_of(search.begin(), search.end(), [&](const Shape& shown) {
            return shown.axes.at(axis.name) == shape.axes.at(axis.name);
          });
        };
        const auto is_timed = [&](const Shape& shape) {
          return std::any_of(search.begin(), search.end(),
                             [&](const Shape& shown) { return is_near(task_, shape, shown); });
        };
        EXPECT_TRUE(
            std::any_of(hidden.begin(), hidden.end(),
                        [&](const Shape& shape) { return is_timed(shape) && !is_shown(shape); }))
            << device << ", " << to_string(set) << ": no timed shape has another " << axis.name;
      }
    }
  }
}

TEST_P(CatalogueTask, HasInputsThatDifferFromSeedToSeed) {
  for (const std::string& device : device_kinds()) {
    EXPECT_EQ(why_timings_can_be_memorised(task_, device), "") << device;
  }
}

TEST_P(CatalogueTask, MarksTheIntermediatesThatAKernelCouldNarrow) {
  const bool has_marks = !narrow_marks(task_.reference, "reference.cu").empty();
  const bool needs_marks = task_.tolerance.precision != Precision::Int;
  EXPECT_EQ(has_marks, needs_marks);
}

struct Work {
  std::map<std::string, std::int64_t> axes;
  double operations; ///< counted by hand
};

const std::map<std::string, Work>& work() {
  static const std::map<std::string, std::int64_t> product{{"m", 2}, {"n", 3}, {"k", 5}};
  constexpr double kProduct = 60; // 6 sums of 5 products; a fused multiply-add counts twice
  static const std::map<std::string, Work> all{
      // mean: 2 products, a sum; square: 3 products, a sum; parameter: a root, 3 quotients, 2
      // products, a sum, a difference. 1 - beta and 1 - lr * decay are constants.
      {"adamw_step", {{{"n", 7}}, 105}},
      {"argmax_rows", {{{"rows", 2}, {"cols", 3}}, 6}}, // a comparison
      {"axpy", {{{"n", 7}}, 14}},                       // a product and a sum
      // sum, comparison
      {"bias_relu", {{{"rows", 2}, {"cols", 3}}, 12}},
      // four products, three sums
      {"bilinear_resize",
       {{{"images", 2}, {"channels", 3}, {"h", 5}, {"w", 7}, {"out_h", 4}, {"out_w", 9}}, 1512}},
      // nine products and sums a channel
      {"conv2d", {{{"images", 2}, {"channels", 3}, {"filters", 5}, {"h", 4}, {"w", 7}}, 15120}},
      // nine products and sums a channel; scale and shift as a product and a sum, comparison
      {"conv_bn_relu",
       {{{"images", 2}, {"channels", 3}, {"filters", 5}, {"h", 4}, {"w", 7}}, 15960}},
      // A p: 4 sums and a product; two dot products and three updates: a product and a sum each
      {"conjugate_gradient", {{{"h", 2}, {"w", 3}, {"steps", 4}}, 360}},
      // comparison, difference, exponential, sum
      {"cross_entropy", {{{"rows", 2}, {"classes", 3}}, 24}},
      // comparison, difference, exponential, sum, product; at the label a difference
      {"cross_entropy_backward", {{{"rows", 2}, {"classes", 3}}, 32}},
      {"cumsum_rows", {{{"rows", 2}, {"cols", 3}}, 6}},                     // a sum
      {"embedding_gather", {{{"vocab", 5}, {"dim", 3}, {"tokens", 2}}, 6}}, // a move
      // nine products and sums
      {"depthwise_conv2d", {{{"images", 2}, {"channels", 3}, {"h", 4}, {"w", 5}}, 2160}},
      // sum of two; square, sum; scale, weight
      {"fused_add_rmsnorm", {{{"rows", 2}, {"cols", 3}}, 30}},
      {"gemm_bf16", {product, kProduct}},
      {"gemm_f16", {product, kProduct}},
      {"gemm_f32", {product, kProduct}},
      {"gemm_f8", {product, kProduct}},
      {"gemm_i8", {product, kProduct}},
      // 6 sums of 64 products; the scales go into the weights
      {"gemm_mxfp4", {{{"m", 2}, {"n", 3}, {"blocks", 2}}, 768}},
      {"gemm_tf32", {product, kProduct}},
      {"gemm_w4", {{{"m", 2}, {"n", 3}, {"half_k", 5}}, 120}},
      {"gemm_w4a8", {{{"m", 2}, {"n", 3}, {"half_k", 5}}, 120}},
      {"gemm_w6", {{{"m", 2}, {"n", 3}, {"quads", 5}}, 240}},
      // halves of two products and the sum, an error function, its argument
      {"gelu", {{{"n", 7}}, 35}},
      // three products and sums a row, a product with alpha
      {"gemv_f32", {{{"m", 2}, {"n", 3}}, 14}},
      // a count
      {"histogram", {{{"n", 7}, {"bins", 3}}, 7}},
      // hash: 3 shifts, 3 exclusive ors, 2 products; the sum that is hashed; a comparison
      {"ising_checkerboard", {{{"h", 2}, {"w", 3}, {"sweeps", 4}}, 240}},
      // 4 sums and a product
      {"jacobi", {{{"h", 2}, {"w", 3}, {"steps", 4}}, 120}},
      // mean 1; difference, square and sum 3; difference, scale, gamma and beta 4
      {"layernorm", {{{"rows", 2}, {"cols", 3}}, 48}},
      // mean 1; difference, square, sum 3; dy * gamma, sum 2; scale 1; product, sum 2; product, two
      // differences, scale 4; product, sum 2; sum 1
      {"layernorm_backward", {{{"rows", 2}, {"cols", 3}}, 96}},
      // ratio, square, sum, root 4; p, q, u 3; terms 4 and 7; sum, quotient, logarithm 3; sum,
      // product 2; three products, logarithm 4; sum, logarithm 2; two sums
      {"log_bessel_i", {{{"n", 7}}, 217}},
      // eight comparisons for each of 2 * 3 * 2 windows
      {"maxpool2d", {{{"planes", 2}, {"h", 5}, {"w", 4}}, 96}},
      // two products, a sum; a row: maximum, two differences, two exponentials, sum, two quotients,
      // logarithm, sum
      {"merge_attention_states", {{{"tokens", 2}, {"heads", 3}, {"dim", 5}}, 150}},
      {"reduce_sum", {{{"n", 7}}, 7}},
      // square, sum; scale, weight
      {"rmsnorm", {{{"rows", 2}, {"cols", 3}}, 24}},
      // square, sum; dy * weight, product, sum; product, difference, scale; product, product, sum
      {"rmsnorm_backward", {{{"rows", 2}, {"cols", 3}}, 66}},
      // maximum, difference, exponential, sum, quotient
      {"row_softmax", {{{"rows", 2}, {"cols", 3}}, 30}},
      // a sum
      {"scatter_add", {{{"rows", 5}, {"dim", 3}, {"items", 2}}, 6}},
      // negation, exponential, sum, quotient, product
      {"silu_and_mul", {{{"rows", 2}, {"cols", 3}}, 30}},
      // a product and a sum for each of 5 entries and the 3 entries of a row of b
      {"spgemm_csr", {{{"rows", 2}, {"inner", 4}, {"cols", 7}, {"nnz", 5}, {"b_len", 3}}, 30}},
      // a product and a sum for each of 5 entries and 3 columns
      {"spmm_csr", {{{"rows", 2}, {"cols", 4}, {"nnz", 5}, {"n", 3}}, 30}},
      // a product and a sum for each of 5 entries; two products and a sum for each of 2 rows
      {"spmv_csr", {{{"rows", 2}, {"cols", 4}, {"nnz", 5}}, 16}},
      // four neighbours: 3 sums, a product; the centre: a product, a sum
      {"stencil2d", {{{"h", 2}, {"w", 3}}, 36}},
      // a comparison
      {"topk_rows", {{{"rows", 2}, {"cols", 3}, {"k", 2}}, 6}},
      {"transpose", {{{"rows", 2}, {"cols", 3}}, 6}}, // a move
      // four distances: 5 sums, a product, a sum; the centre: a product; the step: 2 products, a
      // difference, a sum
      {"wave3d", {{{"nz", 2}, {"ny", 3}, {"nx", 5}}, 990}},
      // 6 pairs of a query and a key up to it, 12 in all: products 2 * 5 each; scale, maximum,
      // difference, exponential, sum
      {"attention_causal", {{{"batch", 1}, {"heads", 2}, {"s", 3}, {"d", 5}}, 300}},
      // 12 pairs of a query and a key: products 2 * 5 each; scale, maximum, difference,
      // exponential,
      // sum
      {"attention_decode_gqa",
       {{{"batch", 1}, {"kv_heads", 2}, {"group", 2}, {"s", 3}, {"d", 5}}, 300}},
      // two batches of 6 sums of 5 products, and 6 products with alpha
      {"batched_gemm_f16", {{{"batch", 2}, {"m", 2}, {"n", 3}, {"k", 5}}, 132}},
      // 6 sums of 5 products; bias, quotient, error function, sum, two products
      {"gemm_bias_gelu", {product, 96}},
      // 4 slots of 3 sums of 5 products
      {"moe_grouped_gemm", {{{"tokens", 2}, {"topk", 2}, {"experts", 7}, {"n", 3}, {"k", 5}}, 120}},
      // 4 rows of 3 sums of 64 products
      {"moe_grouped_gemm_mxfp4",
       {{{"tokens", 2}, {"topk", 2}, {"experts", 7}, {"n", 3}, {"blocks", 2}}, 1536}},
      // 6 sums of 10 products
      {"lut_gemm", {{{"m", 2}, {"n", 3}, {"half_k", 5}}, 120}},
      // 15 pairs: 3 differences, 3 squares, 3 sums; a root, a product, a quotient; 3 products, 3
      // sums
      {"nbody", {{{"targets", 3}, {"sources", 5}}, 270}},
      // 6 positions: C^T q is 2 * 35; 12 pairs of positions of 2 * 12 are less than C, 2 * 35
      {"linear_attention_gated",
       {{{"batch", 1}, {"heads", 2}, {"s", 3}, {"d", 5}, {"dv", 7}}, 708}},
      // 6 sequences of 8: a product and a sum for skip 16; 36 pairs of a tap and a place 72
      {"long_convolution", {{{"batch", 2}, {"channels", 3}, {"n", 8}}, 528}},
      // 12 pairs of a query and a key: products 2 * 3 each of half of the elements; scale, maximum,
      // difference, exponential, sum
      {"attention_decode_pruned",
       {{{"batch", 1}, {"kv_heads", 2}, {"group", 2}, {"s", 3}, {"d", 6}, {"room", 4}}, 204}},
      // 6 sums of 5 products, of which one has a weight that is not 0
      {"gemm_sparse_weights", {product, 12}},
      // 2 transforms of 3 passes with 4 butterflies: a complex product and two sums are 10
      {"fft_batched", {{{"batch", 2}, {"n", 8}}, 240}},
      // 6 numbers: a lookup, a shift of the bits, a join
      {"bf16_decode_entropy", {{{"chunks", 2}, {"length", 3}}, 18}},
      // density 8, momentum 10, velocity 2, its square 3, diagonals 2, 1 - 1.5 u.u 2, weight * rho
      // 3;
      // a moving population 9, the one at rest 4
      {"lbm_d2q9", {{{"h", 2}, {"w", 3}}, 636}},
      // 2 planes of 6 queries with 2 x 3 keys: products 2 * 5 each; scale, maximum, difference,
      // exponential, sum
      {"neighborhood_attention",
       {{{"planes", 2}, {"h", 2}, {"w", 3}, {"d", 5}, {"radius", 1}}, 1800}},
  };
  return all;
}

TEST_P(CatalogueTask, CountsItsOperations) {
  ASSERT_TRUE(work().contains(GetParam())) << "count its operations by hand, and add them here";
  const Work& known = work().at(GetParam());
  Scope scope;
  for (const auto& [name, value] : known.axes) {
    scope.set(name, value);
  }
  EXPECT_EQ(task_.operations.evaluate_float(scope), known.operations);
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kCatalogue)) {
    if (entry.path().filename() == "task.toml") {
      found.push_back(entry.path().parent_path().filename().string());
    }
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CatalogueTask, ::testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

} // namespace
} // namespace winnow::tasks
