#include "base/error.h"
#include "base/files.h"
#include "tasks/catalogue.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/parse/task_parse.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

using testing::HasSubstr;

// Lines are counted by the position tests below.
constexpr const char* kTaskToml = R"toml(title = "Row softmax"
description = "y = softmax(x)"
operations = "5 * rows * cols"
bytes = "8 * rows * cols"

[axes]
rows = "number of rows"
cols = "length of a row"

[tensors.x]
role = "input"
dtype = "f32"
shape = ["rows", "cols"]
generator = { kind = "normal", mean = [-1, 1], std = [0.5, 2] }
description = "scores"
[tensors.index]
role = "input"
dtype = "i32"
shape = ["rows + 1", 2]
generator = { kind = "index", limit = 5 }
[tensors.a_result]
role = "output"
dtype = "f32"
shape = ["rows", "cols"]

[scalars.scale]
dtype = "f32"
value = 1.0
low = 0.5
high = 2.0
[scalars.steps]
dtype = "i32"
value = 3
low = 1
high = 100

[tolerance]
precision = "f32"
multiple = "8 + 2 * sqrt(cols)"
absolute = 1e-30

[[shapes.tiny]]
rows = 3
cols = 7
scalars = { scale = 0.75, steps = 2 }
[[shapes.search]]
rows = 64
cols = 1000
[[shapes.search]]
rows = 128
cols = 1000
devices = ["cpu", "cuda"]
[[shapes.promotion]]
rows = 61
cols = 1009
[[shapes.held_out]]
rows = 31
cols = 2003
)toml";

Task parsed(const std::string& toml) {
  return parse_task({toml, "reference", "baseline", "python"}, "task.toml");
}

// kTaskToml with one piece of text replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kTaskToml;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& toml) {
  try {
    parsed(toml);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Task, ParsesAllParts) {
  const Task task = parsed(kTaskToml);
  EXPECT_EQ(task.title, "Row softmax");
  ASSERT_EQ(task.axes.size(), 2U);
  EXPECT_EQ(task.axes[0].name, "rows"); // file order, not alphabetical order
  ASSERT_EQ(task.tensors.size(), 3U);
  EXPECT_EQ(task.tensors[0].name, "x");
  EXPECT_EQ(task.tensors[0].role, Role::Input);
  EXPECT_EQ(task.tensors[1].name, "index");
  EXPECT_EQ(task.tensors[1].generator.kind, GeneratorSpec::Kind::Index);
  EXPECT_EQ(generator_at(task.tensors[1], task.shapes.front()).a.low, 5);
  EXPECT_EQ(task.tensors[2].name, "a_result");
  EXPECT_EQ(task.tensors[2].role, Role::Output);
  ASSERT_EQ(task.scalars.size(), 2U);
  EXPECT_EQ(task.scalars[1].dtype, DType::I32);
  EXPECT_EQ(task.tolerance.precision, Precision::F32);
  EXPECT_EQ(task.tolerance.absolute, 1e-30);
  EXPECT_EQ(task.reference, "reference");
  EXPECT_EQ(task.reference_python, "python");
  EXPECT_EQ(task.digest.size(), 64U);
  EXPECT_NE(task.find_tensor("index"), nullptr);
  EXPECT_EQ(task.find_tensor("y"), nullptr);
}

constexpr const char* kCsr =
    R"(generator = { kind = "csr_rows", rows = "rows", columns = "cols", nonzeros = "3 * rows" }
[tensors.col]
role = "input"
dtype = "i32"
shape = ["3 * rows"]
generator = { kind = "csr_columns", row_pointers = "index" }
)";

/// kTaskToml with a sparse matrix, and one piece of its text replaced.
std::string csr_toml(const std::string& from = "", const std::string& to = "") {
  std::string text = changed("generator = { kind = \"index\", limit = 5 }\n", kCsr);
  text.replace(text.find(" + 1\", 2]"), 9, " + 1\"]");
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Task, BothTensorsOfASparseMatrixKnowItsSizes) {
  const Task task = parsed(csr_toml());
  const Shape shape = task.shapes_of(ShapeSet::Search, "cpu")[0];
  for (const char* name : {"index", "col"}) {
    const GeneratorSpec spec = generator_at(*task.find_tensor(name), shape);
    EXPECT_EQ(spec.a.low, 192) << name;
    EXPECT_EQ(spec.b.high, 0.9) << name;
    EXPECT_EQ(spec.csr.rows, 64U) << name;
    EXPECT_EQ(spec.csr.columns, 1000U) << name;
    EXPECT_EQ(spec.csr.pointers_hash, hash_name("index")) << name;
  }
}

TEST(Task, SparseMatricesThatDoNotFitAreRefused) {
  const auto error = [](const std::string& from, const std::string& to) {
    return error_of(csr_toml(from, to));
  };
  EXPECT_THAT(error("row_pointers = \"index\"", "row_pointers = \"x\""),
              HasSubstr("task.toml:25:52: unknown tensor with the generator csr_rows"));
  EXPECT_THAT(error("\"csr_columns\", row_pointers = \"index\"", "\"csr_columns\""),
              HasSubstr("row_pointers"));
  EXPECT_THAT(error("nonzeros = \"3 * rows\"", "nonzeros = \"8 * rows\""),
              HasSubstr("has 24 nonzeros in 3 rows and 7 columns"));
  EXPECT_THAT(error("shape = [\"3 * rows\"]", "shape = [\"2 * rows\"]"),
              HasSubstr("one for each nonzero: 9"));
  EXPECT_THAT(error("shape = [\"rows + 1\"]", "shape = [\"rows\"]"),
              HasSubstr("one for each row, and one more: 4"));
  EXPECT_THAT(error("rows = \"rows\"", "rows = \"rows << 40\""), HasSubstr("1 to 2^31"));
  EXPECT_THAT(error("columns = \"cols\", ", ""), HasSubstr("columns"));
  EXPECT_THAT(error("nonzeros = \"3 * rows\"", "nonzeros = \"3 * rows\", skew = 2"),
              HasSubstr("skew = 2"));
  EXPECT_THAT(error("role = \"input\"\ndtype = \"i32\"\nshape = [\"3 * rows\"]",
                    "role = \"input\"\nstatic = true\ndtype = \"i32\"\nshape = [\"3 * rows\"]"),
              HasSubstr("only one of 'index' and 'col' is static"));
  EXPECT_THAT(
      error("dtype = \"i32\"\nshape = [\"rows + 1\"]", "dtype = \"i16\"\nshape = [\"rows + 1\"]"),
      HasSubstr("i32, u32, i64 or u64"));
}

TEST(Task, ShapesHaveIdsAndScalars) {
  const Task task = parsed(kTaskToml);
  const auto search = task.shapes_of(ShapeSet::Search, "cuda");
  ASSERT_EQ(search.size(), 2U);
  EXPECT_EQ(search[1].id, "search/1");
  EXPECT_EQ(task.shapes_of(ShapeSet::Search, "hip").size(), 1U);
  EXPECT_EQ(search[0].scalars.at("scale"), 1.0);
  EXPECT_EQ(to_string(search[0]), "rows=64, cols=1000, scale=1, steps=3");
  EXPECT_EQ(task.shapes_of(ShapeSet::Tiny, "cpu")[0].scalars.at("scale"), 0.75);
  EXPECT_EQ(element_count(task.tensors[0], search[0]), 64000);
  EXPECT_EQ(element_count(task.tensors[1], search[0]), 130);
}

TEST(Task, ScalarsAreWrittenAsFloatsAre) {
  EXPECT_EQ(scalar_text(static_cast<double>(1e-5F)), "1e-05");
  EXPECT_EQ(scalar_text(0.000271828), "0.000271828");
  EXPECT_EQ(scalar_text(3), "3");
}

TEST(Task, HiddenShapesDrawScalars) {
  const Task task = parsed(kTaskToml);
  const Shape promotion = task.shapes_of(ShapeSet::Promotion, "cpu")[0];
  const Shape held_out = task.shapes_of(ShapeSet::HeldOut, "cpu")[0];
  for (const Shape& shape : {promotion, held_out}) {
    EXPECT_NE(shape.scalars.at("scale"), 1.0);
    EXPECT_GE(shape.scalars.at("scale"), 0.5);
    EXPECT_LE(shape.scalars.at("scale"), 2.0);
    const double scale = shape.scalars.at("scale");
    EXPECT_EQ(scale, static_cast<double>(static_cast<float>(scale)));
    EXPECT_EQ(shape.scalars.at("steps"), std::floor(shape.scalars.at("steps")));
  }
  EXPECT_NE(promotion.scalars, held_out.scalars);
  EXPECT_EQ(parsed(kTaskToml).shapes_of(ShapeSet::Promotion, "cpu")[0].scalars, promotion.scalars);
}

TEST(Task, BindsShapes) {
  const Task task = parsed(kTaskToml);
  Scope scope;
  bind_shape(task, task.shapes_of(ShapeSet::Tiny, "cpu")[0], scope);
  EXPECT_EQ(Expression::parse("rows * cols + steps").evaluate(scope), 23);
  EXPECT_EQ(Expression::parse("scale").evaluate_float(scope), 0.75);
  EXPECT_THROW(Expression::parse("scale").evaluate(scope), ExpressionError);
}

TEST(Task, DigestCoversTheFourFiles) {
  const std::string digest = parsed(kTaskToml).digest;
  EXPECT_EQ(parsed(kTaskToml).digest, digest);
  EXPECT_NE(parsed(changed("number of rows", "rows")).digest, digest);
  EXPECT_NE(parse_task({kTaskToml, "reference2", "baseline", "python"}, "f").digest, digest);
  EXPECT_NE(parse_task({kTaskToml, "referencebaseline", "", "python"}, "f").digest, digest);
  EXPECT_NE(parse_task({kTaskToml, "reference", "baseline", "python2"}, "f").digest, digest);
}

TEST(Task, ReferenceViewAddsMagnitudes) {
  const Task view = reference_view(parsed(kTaskToml));
  ASSERT_EQ(view.tensors.size(), 4U);
  EXPECT_EQ(view.tensors[0].dtype, DType::F32);
  EXPECT_EQ(view.tensors[2].name, "a_result");
  EXPECT_EQ(view.tensors[2].dtype, DType::F64);
  EXPECT_EQ(view.tensors[3].name, "a_result_magnitude");
  EXPECT_EQ(view.tensors[3].dtype, DType::F64);
  EXPECT_EQ(view.tensors[3].role, Role::Output);
  EXPECT_EQ(element_count(view.tensors[3], view.shapes[0]), 21);
  const std::string integer_output =
      changed("role = \"output\"\ndtype = \"f32\"", "role = \"output\"\ndtype = \"i32\"");
  const Task integers = reference_view(parsed(integer_output));
  ASSERT_EQ(integers.tensors.size(), 3U);
  EXPECT_EQ(integers.tensors[2].dtype, DType::I32);
}

TEST(Task, ToleranceMayBeStatedForTf32) {
  const Task task = parsed(changed("precision = \"f32\"", "precision = \"tf32\""));
  EXPECT_EQ(task.tolerance.precision, Precision::TF32);
}

TEST(Task, ToleranceHasDefaults) {
  Scope scope;
  scope.set("cols", std::int64_t{64});
  const Tolerance plain = parsed(kTaskToml).tolerance;
  EXPECT_EQ(plain.accumulate, Precision::F32);
  EXPECT_EQ(plain.norm_multiple.evaluate_float(scope), 6); // a quarter of 8 + 2 * 8
  EXPECT_FALSE(plain.nan_allowed);
  const Tolerance stated =
      parsed(changed("precision = \"f32\"", "precision = \"f16\"\naccumulate = \"f32\"\n"
                                            "norm_multiple = \"sqrt(cols)\"\nnan = true"))
          .tolerance;
  EXPECT_EQ(stated.precision, Precision::F16);
  EXPECT_EQ(stated.accumulate, Precision::F32);
  EXPECT_EQ(stated.norm_multiple.evaluate_float(scope), 8);
  EXPECT_TRUE(stated.nan_allowed);
  EXPECT_EQ(parsed(changed("precision = \"f32\"", "precision = \"tf32\"")).tolerance.accumulate,
            Precision::TF32);
}

TEST(Task, IntegerOutputsNeedNoTolerance) {
  std::string text =
      changed("role = \"output\"\ndtype = \"f32\"", "role = \"output\"\ndtype = \"i32\"");
  const std::size_t from = text.find("precision = "), to = text.find("[[shapes.tiny]]");
  text.replace(from, to - from, "precision = \"int\"\n");
  EXPECT_EQ(parsed(text).tolerance.precision, Precision::Int);
}

TEST(Task, InputsMayBeStatic) {
  const Task task = parsed(changed("limit = 5 }", "limit = 5 }\nstatic = true"));
  EXPECT_FALSE(task.tensors[0].is_static);
  EXPECT_TRUE(task.tensors[1].is_static);
  EXPECT_TRUE(reference_view(task).tensors[1].is_static);
}

struct BadTask {
  const char* from;
  const char* to;
  const char* message;
};

class BadTaskToml : public testing::TestWithParam<BadTask> {};

TEST_P(BadTaskToml, SaysWhereAndWhat) {
  EXPECT_THAT(error_of(changed(GetParam().from, GetParam().to)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Messages, BadTaskToml,
    testing::Values(
        BadTask{"title = \"Row softmax\"", "title = 3", "task.toml:1:9: 'title' is not a string"},
        BadTask{"title = \"Row softmax\"", "", "'title' is missing"},
        BadTask{"title =", "titl =", "task.toml:1:1: unknown key 'titl'; did you mean 'title'?"},
        BadTask{"title =", "title", "task.toml:1:7: not valid TOML"},
        BadTask{"5 * rows * cols", "5 * rows * (cols",
                "task.toml:3:31: the expression ends too early"},
        BadTask{"5 * rows", "5 * row", "did you mean 'rows'"},
        BadTask{
            "5 * rows", "0 * rows",
            "task.toml:3:14: 'operations' is 0 at tiny/0 (rows=3, cols=7, scale=0.75, steps=2): "
            "'0 * rows * cols'; expected a number above 0"},
        BadTask{"\"8 * rows * cols\"", "0", "task.toml:4:9: 'bytes' is 0 at tiny/0"},
        BadTask{"[axes]\nrows", "[axes]\n2rows", "task.toml:7:9: '2rows' is not a name"},
        BadTask{"[axes]\nrows", "[axes]\nsm_count", "the name 'sm_count' is reserved"},
        BadTask{"[tensors.x]", "[tensors.rows]", "the name 'rows' is used twice"},
        BadTask{"role = \"input\"", "role = \"inputs\"",
                "task.toml:11:8: unknown role 'inputs'; did you mean 'input'?"},
        BadTask{"role = \"input\"", "role = \"x\"",
                "unknown role 'x'; expected one of input, output, inout"},
        BadTask{"role = \"output\"", "role = \"input\"", "the task has no output"},
        BadTask{"dtype = \"f32\"", "dtype = \"float\"",
                "task.toml:12:9: unknown dtype 'float'; expected one of f32, f64"},
        BadTask{"kind = \"normal\"", "kind = \"gaussian\"",
                "unknown generator 'gaussian'; expected one of normal, uniform"},
        BadTask{"shape = [\"rows\", \"cols\"]", "shape = \"rows\"",
                "task.toml:13:9: 'tensors.x.shape' is not a list"},
        BadTask{"shape = [\"rows\", \"cols\"]", "shape = [\"rows - 3\"]",
                "'rows - 3' of tensor 'x' is below 1: 0"},
        BadTask{"shape = [\"rows\", \"cols\"]", "shape = [\"rows << 39\"]", "at most 2^40"},
        BadTask{"shape = [\"rows\", \"cols\"]", "shape = [\"rows << 60\", \"cols << 50\"]",
                "has more than 2^63 elements"},
        BadTask{"shape = [\"rows\", \"cols\"]", "shape = [1.5]",
                "task.toml:13:10: 'tensors.x.shape' is neither"},
        BadTask{"kind = \"normal\"", "kind = \"norml\"",
                "unknown generator 'norml'; did you mean 'normal'?"},
        BadTask{"std = [0.5, 2] ", "low = 1 ", "unknown key 'low' in 'tensors.x.generator'"},
        BadTask{"std = [0.5, 2] ", "std = [-1, 1] ", "a negative deviation"},
        BadTask{"std = [0.5, 2] ", "std = [2, 0.5] ",
                "'tensors.x.generator.std' is no range; expected a number, or [low, high]"},
        BadTask{"std = [0.5, 2] ", "std = [1, 2, 3] ", "'tensors.x.generator.std' is no range"},
        BadTask{"std = [0.5, 2] ", "std = [1, \"2\"] ",
                "an end of 'tensors.x.generator.std' is no number"},
        BadTask{
            "mean = [-1, 1], std = [0.5, 2]", "mean = 0, std = 1",
            "task.toml:14:13: 'x' has the same distribution in every launch, so a kernel may "
            "know it; expected ranges for mean and std, such as mean = [-1, 1], std = [0.5, 2]"},
        BadTask{"mean = [-1, 1]", "mean = 0", "'x' has the same distribution"},
        BadTask{"std = [0.5, 2]", "std = 1", "'x' has the same distribution"},
        BadTask{"kind = \"normal\", mean = [-1, 1], std = [0.5, 2]",
                "kind = \"uniform\", low = 0, high = 1",
                "'x' has the same distribution in every launch, so a kernel may know it; expected "
                "a range for a number of the generator"},
        BadTask{"kind = \"normal\", mean = [-1, 1], std = [0.5, 2]",
                "kind = \"uniform\", low = [0, 1], high = [1, 2]",
                "low = [0, 1] and high = [1, 2]; expected every low below every high"},
        BadTask{
            "dtype = \"i32\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = \"index\", limit = 5",
            "dtype = \"f8e8m0\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = "
            "\"small_integers\", low = [100, 110], high = 255",
            "the draws are not all codes of f8e8m0; expected small_integers or constant from 0 "
            "to 254"},
        BadTask{
            "dtype = \"i32\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = \"index\", limit = 5",
            "dtype = \"f8e8m0\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = "
            "\"small_integers\", low = 110, high = 120",
            "'index' has the same distribution in every launch"},
        BadTask{
            "dtype = \"i32\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = \"index\", limit = 5",
            "dtype = \"f4e2m1x2\"\nshape = [\"rows + 1\", 2]\ngenerator = { kind = \"uniform\"",
            "the draws are not all codes of f4e2m1x2; expected small_integers or constant from "
            "0 to 255"},
        BadTask{"limit = 5", "limit = 5, skew = [0, 2]", "skew = [0, 2]; expected 0 to 1"},
        BadTask{"limit = 5", "limit = 0.5", "'tensors.index.generator.limit' is neither"},
        BadTask{"limit = 5", "limit = \"rows - 3\"",
                "'rows - 3' of the generator of 'index': 0; expected 1 to 2^40"},
        BadTask{"kind = \"index\", limit = 5", "kind = \"denormal\"",
                "generator 'denormal' for a tensor of dtype i32"},
        BadTask{"kind = \"index\", limit = 5", "kind = \"ties\", values = 0.5", "values = 0.5"},
        BadTask{"kind = \"normal\", mean = [-1, 1], std = [0.5, 2]",
                "kind = \"sparse\", density = 2", "density = 2; expected 0 to 1"},
        BadTask{"kind = \"normal\", mean = [-1, 1], std = [0.5, 2]",
                "kind = \"log_uniform\", low = -1", "magnitudes from -1"},
        BadTask{"kind = \"normal\", mean = [-1, 1], std = [0.5, 2]",
                "kind = \"heavy_tail\", tail = 0.5", "tail = 0.5; expected a whole number from 1"},
        BadTask{", limit = 5", "", "'tensors.index.generator.limit' is missing"},
        BadTask{"generator = { kind = \"index\", limit = 5 }", "", "'index' has no generator"},
        BadTask{"limit = 5 }", "limit = 5 }\nstatic = 1",
                "task.toml:21:10: 'tensors.index.static' is not a boolean; expected true or false"},
        BadTask{"role = \"output\"", "role = \"output\"\nstatic = true",
                "task.toml:23:10: output 'a_result' is static; expected static inputs only"},
        BadTask{"value = 3", "value = 3.5", "value = 3.5 is not an i32"},
        BadTask{"value = 3", "value = 300", "value = 300 is not in [low, high] = [1, 100]"},
        BadTask{"high = 100", "high = 3000000000", "is not an i32"},
        BadTask{"low = 0.5", "low = nan", "is not a finite number"},
        BadTask{"precision = \"f32\"", "precision = \"i32\"",
                "unknown precision 'i32'; did you mean 'f32'?; expected"},
        BadTask{"absolute = 1e-30", "absolute = -1", "a negative tolerance"},
        BadTask{"absolute = 1e-30", "acumulate = \"f32\"",
                "task.toml:40:1: unknown key 'acumulate'"},
        BadTask{"absolute = 1e-30", "accumulate = \"f23\"",
                "task.toml:40:14: unknown precision 'f23'"},
        BadTask{"absolute = 1e-30", "accumulate = \"int\"",
                "task.toml:40:14: the outputs are floating, but 'accumulate' is an integer type"},
        BadTask{"absolute = 1e-30", "norm_multiple = \"rows -\"",
                "task.toml:40:24: the expression ends too early"},
        BadTask{"absolute = 1e-30", "norm_multiple = \"cols - 7\"",
                "task.toml:40:17: 'norm_multiple' is 0 at tiny/0"},
        BadTask{"absolute = 1e-30", "nan = 1", "task.toml:40:7: 'tolerance.nan' is not a boolean"},
        BadTask{"precision = \"f32\"\nmultiple = \"8 + 2 * sqrt(cols)\"\nabsolute = 1e-30",
                "precision = \"int\"",
                "task.toml:38:13: precision 'int', but output 'a_result' is f32"},
        BadTask{"precision = \"f32\"", "precision = \"int\"", "unknown key 'multiple'"},
        BadTask{"sqrt(cols)", "sqrt(-cols)", "the result is not a number"},
        BadTask{"rows = 3\n", "", "task.toml:42:1: 'shapes.tiny[0].rows' is missing"},
        BadTask{"rows = 3\n", "rows = 0\n", "task.toml:43:8: axis 'rows' = 0; expected 1 to 2^40"},
        BadTask{"rows = 3\n", "rows = 3.0\n", "is not an integer"},
        BadTask{"rows = 3\n", "rows = 3\nrow = 4\n", "task.toml:44:1: unknown key 'row'"},
        BadTask{"scale = 0.75", "scael = 0.75", "unknown key 'scael' in 'shapes.tiny[0].scalars'"},
        BadTask{"[\"cpu\", \"cuda\"]", "[\"gpu\"]", "unknown device 'gpu'"},
        BadTask{"[[shapes.held_out]]\n", "[[shapes.promotion]]\n", "'shapes.held_out' is missing"},
        BadTask{"[[shapes.held_out]]\n", "[[shapes.held_out]]\ndevices = [\"cpu\"]\n",
                "no shape of 'held_out' is for device 'cuda'"},
        BadTask{"[[shapes.tiny]]", "[[shapes.tinny]]", "did you mean 'tiny'?"}));

TEST(Task, OnlyArgumentsOfAModuleAreComputed) {
  const std::string torch = std::string(kTaskToml) + "[reference]\nkind = \"torch\"\n";
  const auto with = [](std::string toml, const std::string& drawn, const std::string& computed) {
    return toml.replace(toml.find(drawn), drawn.size(), computed);
  };
  const std::string drawn = "kind = \"index\", limit = 5";
  const Task task = parsed(with(torch, drawn, "kind = \"reference\""));
  EXPECT_TRUE(is_computed(*task.find_tensor("index")));
  EXPECT_FALSE(is_computed(*task.find_tensor("x")));
  EXPECT_THAT(error_of(with(kTaskToml, drawn, "kind = \"reference\"")),
              HasSubstr("get_inputs() cannot compute 'index'; expected"));
  EXPECT_THAT(error_of(with(torch, "generator = { " + drawn + " }",
                            "static = true\ngenerator = { kind = \"reference\" }")),
              HasSubstr("get_inputs() cannot compute 'index'"));
}

constexpr const char* kTorch = "[reference]\nkind = \"torch\"\nmode = \"train\"\n";

TEST(Task, MayHaveAPyTorchModuleAsItsReference) {
  EXPECT_FALSE(parsed(kTaskToml).torch);
  EXPECT_FALSE(parsed(std::string(kTaskToml) + "[reference]\nkind = \"kernel\"\n").torch);
  const Task task =
      parsed(changed("shape = [\"rows + 1\", 2]", "state = \"a.b\"\nshape = [\"rows\"]") + kTorch);
  ASSERT_TRUE(task.torch);
  EXPECT_TRUE(task.torch->training);
  EXPECT_EQ(task.find_tensor("index")->state, "a.b");
  EXPECT_EQ(task.find_tensor("x")->state, "");
}

TEST(Task, RefusesMistakesAboutThePyTorchModule) {
  const std::string toml = kTaskToml;
  EXPECT_THAT(error_of(toml + "[reference]\nkind = \"torsh\"\n"),
              HasSubstr("did you mean 'torch'?"));
  EXPECT_THAT(error_of(toml + "[reference]\nkind = \"torch\"\nmode = \"test\"\n"),
              HasSubstr("unknown mode of the module 'test'"));
  EXPECT_THAT(error_of(toml + "[reference]\nkind = \"kernel\"\nmode = \"eval\"\n"),
              HasSubstr("reference.cu has no mode"));
  EXPECT_THAT(error_of(changed("role = \"input\"", "role = \"input\"\nstate = \"w\"")),
              HasSubstr("'x' is the state of a PyTorch module"));
  EXPECT_THAT(error_of(changed("role = \"output\"", "role = \"output\"\nstate = \"w\"") + kTorch),
              HasSubstr("state for inputs"));
}

TEST(Task, RefusesInvalidUtf8AndDeepToml) {
  EXPECT_THAT(error_of("title = \"\xff\""),
              HasSubstr("task.toml:1:10: this character is not ASCII"));
  EXPECT_THAT(error_of("a = " + std::string(100000, '[')), HasSubstr("too many brackets"));
}

// A catalogue with two tasks in a temporary folder.
class Catalogue : public testing::Test {
protected:
  Catalogue() {
    add("row", "softmax");
    add("row", "layernorm");
    add("extra", "layernorm");
    std::filesystem::create_directories(root() / "row" / "empty");
  }
  const std::filesystem::path& root() const { return folder_.path(); }

  void add(const std::string& category, const std::string& name) const {
    const std::filesystem::path folder = root() / category / name;
    std::filesystem::create_directories(folder);
    write_file_atomic(folder / "task.toml", kTaskToml);
    for (const char* file : {"reference.cu", "baseline.cu", "reference.py"}) {
      write_file_atomic(folder / file, file);
    }
  }

  std::string find_error(const std::string& name) const {
    try {
      find_task(root(), name);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  }

private:
  TemporaryDirectory folder_{"catalogue"};
};

TEST_F(Catalogue, ListsTasksInOrder) {
  const auto entries = list_tasks(root());
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].category, "extra");
  EXPECT_EQ(entries[1].name, "layernorm");
  EXPECT_EQ(entries[2].name, "softmax");
}

TEST_F(Catalogue, FindsByNameCategoryAndPath) {
  for (const std::string& name :
       {std::string("softmax"), std::string("row/softmax"), (root() / "row/softmax").string(),
        (root() / "row/softmax/").string()}) {
    const Task task = find_task(root(), name);
    EXPECT_EQ(task.name, "softmax") << name;
    EXPECT_EQ(task.category, "row") << name;
    EXPECT_EQ(task.baseline, "baseline.cu");
  }
}

TEST_F(Catalogue, AFolderWithoutATaskIsNamed) {
  const std::string empty = (root() / "row/empty").string();
  EXPECT_THAT(find_error(empty), HasSubstr(empty + "/task.toml: no such file"));
}

TEST_F(Catalogue, NamesTheNearestTask) {
  EXPECT_THAT(find_error("softmx"), HasSubstr("did you mean 'softmax'?"));
  EXPECT_THAT(find_error("layernorm"), HasSubstr("is in extra and in row"));
  EXPECT_THAT(find_error(""), HasSubstr("no task ''"));
}

TEST_F(Catalogue, NamesAMissingFile) {
  std::filesystem::remove(root() / "row/softmax/baseline.cu");
  EXPECT_THAT(find_error("softmax"), HasSubstr("row/softmax/baseline.cu: no such file"));
}

TEST_F(Catalogue, ATaskHasOneReference) {
  write_file_atomic(root() / "row/softmax/task.toml", std::string(kTaskToml) + kTorch);
  EXPECT_THAT(find_error("softmax"), HasSubstr("remove this file, or [reference] in task.toml"));
  std::filesystem::remove(root() / "row/softmax/reference.cu");
  EXPECT_TRUE(find_task(root(), "softmax").torch);
  write_file_atomic(root() / "row/softmax/task.toml", kTaskToml);
  EXPECT_THAT(find_error("softmax"), HasSubstr("row/softmax/reference.cu: no such file"));
}

TEST_F(Catalogue, IsTakenFromTheEnvironment) {
  ASSERT_EQ(setenv("WINNOW_CATALOGUE", root().c_str(), 1), 0);
  EXPECT_EQ(find_catalogue(), root());
  ASSERT_EQ(setenv("WINNOW_CATALOGUE", "/nonexistent/place", 1), 0);
  EXPECT_THROW(find_catalogue(), UsageError);
  ASSERT_EQ(unsetenv("WINNOW_CATALOGUE"), 0);
}

} // namespace
} // namespace winnow::tasks
