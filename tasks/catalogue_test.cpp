// Checks the work that each task of the catalogue states against an independent count.
#include "tasks/memorisable.h"
#include "tasks/task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
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
    const double once = static_cast<double>(element_count(tensor, shape)) *
                        static_cast<double>(size_bytes(tensor.dtype));
    bytes += tensor.role == Role::InOut ? 2 * once : once;
  }
  return bytes;
}

TEST_P(CatalogueTask, MovesEachInputAndEachOutputOnce) {
  for (const Shape& shape : task_.shapes) {
    Scope scope;
    bind_shape(task_, shape, scope);
    EXPECT_EQ(task_.bytes.evaluate_float(scope), tensor_bytes(task_, shape)) << to_string(shape);
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

TEST_P(CatalogueTask, HasInputsThatDifferFromSeedToSeed) {
  for (const std::string& device : device_kinds()) {
    EXPECT_EQ(why_timings_can_be_memorised(task_, device), "") << device;
  }
}

struct Work {
  std::map<std::string, std::int64_t> axes;
  double operations; ///< counted by hand
};

const std::map<std::string, Work>& work() {
  static const std::map<std::string, std::int64_t> product{{"m", 2}, {"n", 3}, {"k", 5}};
  constexpr double kProduct = 60; // 6 sums of 5 products; a fused multiply-add counts twice
  static const std::map<std::string, Work> all{
      {"axpy", {{{"n", 7}}, 14}}, // a product and a sum
      {"gemm_bf16", {product, kProduct}},
      {"gemm_f16", {product, kProduct}},
      {"gemm_f32", {product, kProduct}},
      {"gemm_f8", {product, kProduct}},
      {"gemm_i8", {product, kProduct}},
      {"gemm_tf32", {product, kProduct}},
      {"gemm_w4", {{{"m", 2}, {"n", 3}, {"half_k", 5}}, 120}},
      // mean 1; difference, square and sum 3; difference, scale, gamma and beta 4
      {"layernorm", {{{"rows", 2}, {"cols", 3}}, 48}},
      {"reduce_sum", {{{"n", 7}}, 7}},
      // maximum, difference, exponential, sum, quotient
      {"row_softmax", {{{"rows", 2}, {"cols", 3}}, 30}},
      // four neighbours: 3 sums, a product; the centre: a product, a sum
      {"stencil2d", {{{"h", 2}, {"w", 3}}, 36}},
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
