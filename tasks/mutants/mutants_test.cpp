#include "tasks/mutants/mutant_edits.h"
#include "tasks/mutants/mutants.h"
#include "tasks/parse/task_parse.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kPoison = 0x7f817f817f817f81ULL;

constexpr const char* kMutantToml = R"(title = "Scaled product"
description = "c = alpha * a b, with b as it is"
operations = "m * n"
bytes = "m * n"
[axes]
m = "rows"
n = "columns"
[tensors.a]
role = "input"
dtype = "f32"
shape = ["m", "n"]
[tensors.b]
role = "input"
dtype = "f16"
shape = ["n"]
[tensors.c]
role = "output"
dtype = "f32"
shape = ["m", "n"]
[scalars.alpha]
dtype = "f32"
value = 2.0
low = 1.0
high = 4.0
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
m = 2
n = 3
[[shapes.tiny]]
m = 16
n = 16
scalars = { alpha = 3.0 }
[[shapes.search]]
m = 5
n = 2
[[shapes.promotion]]
m = 7
n = 5
[[shapes.promotion]]
m = 1
n = 1
[[shapes.held_out]]
m = 1
n = 11
)";

Task product_task() {
  return parse_task({kMutantToml, "", "", ""}, "task.toml");
}

const Shape& shape_named(const Task& task, const std::string& id) {
  return *std::find_if(task.shapes.begin(), task.shapes.end(),
                       [&](const Shape& shape) { return shape.id == id; });
}

HostTensor floats(std::vector<std::int64_t> extents, const std::vector<double>& values) {
  HostTensor tensor;
  tensor.extents = std::move(extents);
  tensor.bytes.resize(values.size() * size_bytes(tensor.dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.set(static_cast<std::int64_t>(i), values[i]);
  }
  return tensor;
}

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    values.push_back(tensor.at(i));
  }
  return values;
}

/// The right outputs 1, 2, ... at a shape after one mutant has changed them.
struct Changed {
  std::string why;
  HostTensor output;
  std::vector<double> values;
};
Changed change(const Mutant& mutant, const std::string& shape_id) {
  const Task task = product_task();
  const Shape& shape = shape_named(task, shape_id);
  const HostTensors inputs = draw_inputs(task, shape, 1);
  HostTensors right{{"c", unset_tensor(*task.find_tensor("c"), task, shape)}};
  HostTensors stale = right;
  for (std::int64_t i = 0; i < right.at("c").count(); ++i) {
    right.at("c").set(i, static_cast<double>(i + 1));
    stale.at("c").set(i, -1);
  }
  Changed changed;
  changed.why = change_outputs(mutant, task, shape_named(task, "search/0"),
                               {inputs, stale, {{"c", kPoison}}}, right);
  changed.output = right.at("c");
  changed.values = values_of(changed.output);
  return changed;
}

TEST(Mutants, AreThoseThatTheTaskCanHave) {
  std::set<std::string> names;
  for (const Mutant& mutant : mutants_of(product_task())) {
    names.insert(to_string(mutant));
  }
  for (const char* expected : {"zeros",
                               "identity",
                               "mean",
                               "stale output",
                               "inputs as tf32",
                               "inputs as bf16",
                               "inputs as f8e4m3",
                               "inputs as f8e5m2",
                               "term left out: a",
                               "term left out, scaled: b",
                               "truncated: a along axis 1",
                               "truncated: b along axis 0",
                               "hard-coded scalar: alpha",
                               "hard-coded shape: c",
                               "hard-coded shape: b along axis 0",
                               "edge off by one: c along axis 0",
                               "transposed: a",
                               "transposed: c",
                               "block skipped: b",
                               "block skipped: c",
                               "unwritten tail: c"}) {
    EXPECT_TRUE(names.contains(expected)) << expected;
  }
  EXPECT_FALSE(names.contains("transposed: b")) << "a vector has no rows and columns";
}

TEST(Mutants, RoundNoInputToWhatTheTaskAllows) {
  std::string text = kMutantToml;
  text.replace(text.find("precision = \"f32\""), 17, "precision = \"bf16\"");
  const Task task = parse_task({text, "", "", ""}, "task.toml");
  for (const Mutant& mutant : mutants_of(task)) {
    EXPECT_NE(mutant.kind, MutantKind::RoundedTf32);
    EXPECT_NE(mutant.kind, MutantKind::RoundedBf16);
  }
}

TEST(Mutants, RoundInputsThatAreFinerOnly) {
  const Task task = product_task();
  Shape shape = shape_named(task, "tiny/0");
  HostTensors inputs = draw_inputs(task, shape, 1);
  inputs.at("a").set(0, 1 + 0x1p-10 + 0x1p-12);
  const HostTensors before = inputs;
  EXPECT_EQ(change_inputs({MutantKind::RoundedTf32, "", 0, true}, task, shape, shape, inputs), "");
  EXPECT_EQ(inputs.at("a").at(0), 1 + 0x1p-10);
  EXPECT_EQ(inputs.at("b").bytes, before.at("b").bytes) << "f16 has the mantissa of tf32";
  EXPECT_EQ(change_inputs({MutantKind::RoundedBf16, "", 0, true}, task, shape, shape, inputs), "");
  EXPECT_EQ(inputs.at("a").at(0), 1);
  EXPECT_NE(change_inputs({MutantKind::RoundedBf16, "", 0, true}, task, shape, shape, inputs), "")
      << "exact by now";
}

TEST(Mutants, RoundToTf32LikeNearestEven) {
  EXPECT_EQ(rounded_to_tf32(1 + 0x1p-11), 1) << "a tie goes to the even neighbour";
  EXPECT_EQ(rounded_to_tf32(1 + 3 * 0x1p-11), 1 + 0x1p-9);
  EXPECT_EQ(rounded_to_tf32(-1 - 0x1.8p-11), -1 - 0x1p-10);
  EXPECT_EQ(rounded_to_tf32(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(rounded_to_tf32(NAN)));
}

TEST(Mutants, LeaveOutTheLastEighthAlongAnAxis) {
  const Task task = product_task();
  Shape shape = shape_named(task, "tiny/1");
  HostTensors inputs = draw_inputs(task, shape, 1);
  const HostTensor before = inputs.at("a");
  EXPECT_EQ(change_inputs({MutantKind::Truncated, "a", 1, true}, task, shape, shape, inputs), "");
  for (std::int64_t i = 0; i < before.count(); ++i) {
    EXPECT_EQ(inputs.at("a").at(i), i % 16 < 14 ? before.at(i) : 0) << i;
  }
  EXPECT_EQ(without_last_eighth(7), 6) << "at least one index";
  EXPECT_EQ(without_last_eighth(1), 0);
}

TEST(Mutants, LeaveOutOneElementInAThousand) {
  const Task task = product_task();
  Shape shape = shape_named(task, "tiny/0");
  HostTensors inputs{{"a", floats({40, 60}, std::vector<double>(2400, 4))}};
  inputs.at("a").set(1, 2403);
  const Mutant mutant{MutantKind::LeftOut, "a", 0, true, true};
  EXPECT_EQ(change_inputs(mutant, task, shape, shape, inputs), "");
  const std::vector<double> values = values_of(inputs.at("a"));
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), 3);
  EXPECT_NE(change_inputs(mutant, task, shape, shape, inputs), "") << "0 by now";
  EXPECT_EQ(
      change_inputs({MutantKind::LeftOutScaled, "a", 0, true, true}, task, shape, shape, inputs),
      "");
  const double mean = (4.0 * 2396 + 2403) / 2397;
  EXPECT_EQ(inputs.at("a").at(0), static_cast<float>(mean)) << "of the others";
  inputs = {{"a", floats({1}, {7})}};
  EXPECT_NE(change_inputs(mutant, task, shape, shape, inputs), "") << "nothing is left";
}

TEST(Mutants, LeaveOutTermsOfSumsAlone) {
  const Mutant mutant{MutantKind::LeftOut, "a", 0, true, true};
  const HostTensors inputs{{"a", floats({3}, {0, 2, 3})}};
  const HostTensors right{{"c", floats({3}, {1, 2, 3})}, {"d", floats({2}, {1, 2})}};
  HostTensors outputs{{"c", floats({3}, {7, 8, 9})}, {"d", floats({2}, {7, 8})}};
  const auto keep = [&](const Mutant& one) {
    for (auto& [name, output] : outputs) {
      keep_right_places(one, inputs, right.at(name), output.bytes);
    }
  };
  keep(mutant);
  EXPECT_THAT(values_of(outputs.at("c")), ElementsAre(1, 8, 9));
  EXPECT_THAT(values_of(outputs.at("d")), ElementsAre(7, 8)) << "no elements at the same places";
  keep({MutantKind::RoundedTf32, "", 0, true, true});
  EXPECT_THAT(values_of(outputs.at("c")), ElementsAre(1, 8, 9));
}

TEST(Mutants, OfTheNextCoarserPrecisionConcernEveryShape) {
  std::vector<std::string> names;
  for (const Mutant& mutant : mutants_of(product_task())) {
    if (mutant.every_shape) {
      names.push_back(to_string(mutant));
    }
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("inputs as tf32", "term left out: a",
                                                   "term left out, scaled: a", "term left out: b",
                                                   "term left out, scaled: b"));
}

TEST(Mutants, HardCodeAScalarWhereItDiffers) {
  const Task task = product_task();
  const Mutant mutant{MutantKind::HardCodedScalar, "alpha", 0, true};
  HostTensors inputs;
  Shape usual = shape_named(task, "tiny/0"), other = shape_named(task, "tiny/1");
  EXPECT_NE(change_inputs(mutant, task, usual, usual, inputs), "");
  EXPECT_EQ(change_inputs(mutant, task, usual, other, inputs), "");
  EXPECT_EQ(other.scalars.at("alpha"), 2);
}

TEST(Mutants, HardCodeTheSearchShape) {
  const Task task = product_task();
  Shape shape = shape_named(task, "tiny/0");
  HostTensors inputs{{"a", floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  EXPECT_EQ(change_inputs({MutantKind::HardCodedShape, "a", 1, true}, task,
                          shape_named(task, "search/0"), shape, inputs),
            "");
  EXPECT_THAT(values_of(inputs.at("a")), ElementsAre(1, 2, 0, 4, 5, 0));
  EXPECT_NE(change_inputs({MutantKind::HardCodedShape, "a", 0, true}, task,
                          shape_named(task, "search/0"), shape, inputs),
            "")
      << "2 rows, and the search shape has 5";
}

TEST(Mutants, LayOutputsOutAsAtTheSearchShape) {
  const Changed changed = change({MutantKind::HardCodedShape, "c", 0, false}, "tiny/0");
  EXPECT_EQ(changed.why, "");
  EXPECT_THAT(std::vector<double>(changed.values.begin(), changed.values.begin() + 4),
              ElementsAre(1, 2, 4, 5))
      << "rows of 2";
  EXPECT_TRUE(std::isnan(changed.values[4]) && std::isnan(changed.values[5])) << "poison";
  EXPECT_NE(change({MutantKind::HardCodedShape, "c", 0, false}, "search/0").why, "");
}

TEST(Mutants, ReplaceTheOutputs) {
  EXPECT_THAT(change({MutantKind::Zeros, "", 0, false}, "tiny/0").values, testing::Each(0));
  EXPECT_THAT(change({MutantKind::Mean, "", 0, false}, "tiny/0").values, testing::Each(3.5));
  EXPECT_THAT(change({MutantKind::Stale, "", 0, false}, "tiny/0").values, testing::Each(-1));
  const Task task = product_task();
  const HostTensors inputs = draw_inputs(task, shape_named(task, "tiny/0"), 1);
  EXPECT_EQ(change({MutantKind::Identity, "", 0, false}, "tiny/0").output.bytes,
            inputs.at("a").bytes);
}

TEST(Mutants, OfOneElementHaveNoMeanAndNoIdentity) {
  // The sum of one element is that element.
  EXPECT_NE(change({MutantKind::Identity, "", 0, false}, "promotion/1").why, "");
  EXPECT_NE(change({MutantKind::Mean, "", 0, false}, "promotion/1").why, "");
}

TEST(Mutants, LeaveTheLastIndexOfAnAxisZero) {
  EXPECT_THAT(change({MutantKind::EdgeOffByOne, "c", 1, false}, "tiny/0").values,
              ElementsAre(1, 2, 0, 4, 5, 0));
  EXPECT_THAT(change({MutantKind::EdgeOffByOne, "c", 0, false}, "tiny/0").values,
              ElementsAre(1, 2, 3, 0, 0, 0));
}

TEST(Mutants, TransposeInTheSameBytes) {
  EXPECT_THAT(change({MutantKind::Transposed, "c", 0, false}, "tiny/0").values,
              ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_NE(change({MutantKind::Transposed, "c", 0, false}, "held_out/0").why, "") << "one row";
}

TEST(Mutants, SkipABlockOfNeighbours) {
  const Changed changed = change({MutantKind::BlockSkipped, "c", 0, false}, "tiny/1");
  const auto& values = changed.values;
  EXPECT_EQ(std::count(values.begin(), values.end(), 0), 32);
  const auto first = std::find(values.begin(), values.end(), 0);
  EXPECT_EQ(std::count(first, first + 32, 0), 32) << "in one piece";
  EXPECT_NE(change({MutantKind::BlockSkipped, "c", 0, false}, "tiny/0").why, "") << "too few";
}

TEST(Mutants, StopAtAValueThatIsLargeInAnotherDraw) {
  HostTensor tensor = floats({3, 4}, {1, 2, 8, 4, 8, 1, 1, 7, 1, 2, 3, 9});
  EXPECT_EQ(stop_early(tensor, floats({4}, {8.001, -9, NAN, 3})), "") << "less one part in 1024";
  EXPECT_THAT(values_of(tensor), ElementsAre(1, 2, 8, 1, 8, 8, 8, 8, 1, 2, 3, 9));
  EXPECT_NE(stop_early(tensor, floats({1}, {9})), "") << "nothing follows the only such value";
  EXPECT_NE(stop_early(tensor, floats({1}, {10})), "");
  tensor = floats({3}, {-5, -2, -4});
  EXPECT_EQ(stop_early(tensor, floats({1}, {-2})), "");
  EXPECT_THAT(values_of(tensor), ElementsAre(-5, -2, -5));
}

TEST(Mutants, HaveRoomForHalfAsManyMoreOfAnIndex) {
  HostTensor tensor = floats({7}, {2, 0, 2, 2, 2, 1, 1});
  EXPECT_EQ(move_surplus(tensor, floats({5}, {0, 1, 1, 0, 2}), 3), "");
  EXPECT_THAT(values_of(tensor), ElementsAre(2, 0, 2, 2, 0, 1, 1)) << "three of an index";
  EXPECT_NE(move_surplus(tensor, floats({5}, {0, 1, 1, 0, 2}), 3), "");
}

TEST(Mutants, HaveRoomForRowsThatAreHalfAsLongAgain) {
  const HostTensor pointers = floats({4}, {0, 1, 6, 6}), other = floats({4}, {0, 2, 4, 6});
  HostTensor values = floats({6}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(shorten_long_rows(values, pointers, other), "");
  EXPECT_THAT(values_of(values), ElementsAre(1, 2, 3, 4, 0, 0));
  EXPECT_NE(shorten_long_rows(values, other, pointers), "");
}

TEST(Mutants, ThatDependOnTheDrawCompareItWithAnother) {
  const Task task = product_task();
  const Mutant mutant{MutantKind::EarlyStop, "a", 0, true};
  int existing = 0;
  for (std::uint64_t number = 1; number <= 20; ++number) {
    Shape shape = shape_named(task, "tiny/1");
    const std::uint64_t seed = spread_seed(number);
    HostTensors inputs = draw_inputs(task, shape, seed);
    existing += change_inputs(mutant, task, shape, shape, inputs, seed).empty() ? 1 : 0;
  }
  EXPECT_GT(existing, 4);
  EXPECT_LT(existing, 16);
}

TEST(Mutants, LeaveTheTailUnwritten) {
  const Changed changed = change({MutantKind::Unwritten, "c", 0, false}, "tiny/0");
  EXPECT_EQ(changed.values[4], 5);
  const std::vector<std::byte> tail(changed.output.bytes.end() - 4, changed.output.bytes.end());
  EXPECT_THAT(tail,
              ElementsAre(std::byte{0x81}, std::byte{0x7f}, std::byte{0x81}, std::byte{0x7f}));
}

} // namespace
} // namespace winnow::tasks
