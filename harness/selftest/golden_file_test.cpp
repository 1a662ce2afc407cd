#include "base/error.h"
#include "harness/selftest/reference_agreement.h"
#include "tasks/catalogue.h"
#include "tasks/parse/task_parse.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kToml = R"(title = "Two outputs"
description = "y = 2 x; i = argmax of x"
operations = "n"
bytes = "n"
[axes]
n = "elements"
[tensors.x]
role = "input"
dtype = "f32"
shape = ["n"]
[tensors.y]
role = "output"
dtype = "f32"
shape = ["n"]
[tensors.i]
role = "output"
dtype = "i32"
shape = [1]
[tolerance]
precision = "f32"
multiple = "1"
[[shapes.tiny]]
n = 4
[[shapes.search]]
n = 1000
[[shapes.promotion]]
n = 7
[[shapes.held_out]]
n = 11
)";

struct GoldenFile : testing::Test {
  tasks::Task task = tasks::parse_task({kToml, "", "", ""}, "task.toml");

  ReferenceSamples samples() const {
    ReferenceSample sample;
    sample.shape = task.shapes.front();
    sample.seed = 7;
    sample.float64 = true;
    for (const char* name : {"y", "i"}) {
      tasks::TensorSpec tensor = *task.find_tensor(name);
      tensor.dtype = tasks::is_floating(tensor.dtype) ? tasks::DType::F64 : tensor.dtype;
      tasks::HostTensor& output = sample.outputs[name];
      output = tasks::unset_tensor(tensor, task, sample.shape);
      std::fill(output.bytes.begin(), output.bytes.end(), std::byte{0});
    }
    sample.outputs.at("y").set(0, 0.1 + 1e-17);
    sample.outputs.at("y").set(1, std::numeric_limits<double>::quiet_NaN());
    sample.outputs.at("y").set(2, -std::numeric_limits<double>::infinity());
    sample.outputs.at("i").set(0, 2147483647);
    return {"9.9.9", {sample}, {}};
  }

  std::string error_of(const json& document) const {
    try {
      parse_golden(task, document.dump(), "golden.json");
      return "none";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
};

TEST_F(GoldenFile, KeepsEveryBit) {
  const ReferenceSamples written = samples();
  const ReferenceSamples read = parse_golden(task, golden_text(written), "golden.json");
  EXPECT_EQ(read.torch, "9.9.9");
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0].seed, 7U);
  EXPECT_TRUE(read.samples[0].float64);
  const tasks::HostTensor& y = read.samples[0].outputs.at("y");
  EXPECT_EQ(y.at(0), written.samples[0].outputs.at("y").at(0));
  EXPECT_TRUE(std::isnan(y.at(1)));
  EXPECT_EQ(y.at(2), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(read.samples[0].outputs.at("i").bytes, written.samples[0].outputs.at("i").bytes);
}

TEST_F(GoldenFile, LeavesOutLargeShapes) {
  ReferenceSamples large = samples();
  large.samples.front().outputs.at("y").bytes.resize(8 * 4097);
  EXPECT_TRUE(parse_golden(task, golden_text(large), "golden.json").samples.empty());
}

TEST_F(GoldenFile, ThatDoesNotFitTheTaskIsRefused) {
  const json good = json::parse(golden_text(samples()));
  EXPECT_EQ(error_of(good), "none");
  json other = good;
  other["samples"][0]["axes"]["n"] = 5;
  EXPECT_THAT(error_of(other), HasSubstr("no longer has the shape tiny/0"));
  other = good;
  other["samples"][0]["outputs"].erase("i");
  EXPECT_THAT(error_of(other), HasSubstr("output 'i' at tiny/0 is missing"));
  other = good;
  other["samples"][0]["outputs"]["y"].push_back(1);
  EXPECT_THAT(error_of(other), HasSubstr("has 5 numbers, expected 4"));
  other = good;
  other["samples"][0]["outputs"]["x"] = json::array({1, 2, 3, 4});
  EXPECT_THAT(error_of(other), HasSubstr("'x' is not an output"));
  other = good;
  other["samples"][0]["outputs"]["y"][0] = "many";
  EXPECT_THAT(error_of(other), HasSubstr("'many' is not a number"));
  other = good;
  other["version"] = 2;
  EXPECT_THAT(error_of(other), HasSubstr("version 1"));
}

TEST(GoldenCommand, NamesATaskOfTheCatalogueAndRepeatsTheFolderOfAnother) {
  const std::filesystem::path catalogue = tasks::find_catalogue();
  EXPECT_EQ(golden_command(tasks::find_task(catalogue, "axpy")),
            "winnow tasks selftest --write-golden blas/axpy");
  tasks::Task task;
  task.name = "norm";
  task.folder = "../my tasks/norm";
  EXPECT_EQ(golden_command(task), "winnow tasks selftest --write-golden '../my tasks/norm'");
}

TEST_F(GoldenFile, MalformedTextIsAUsageError) {
  for (const char* text : {"", "{", "[]", "{\"schema\": 3}", "{\"schema\": \"winnow.golden\"}",
                           "{\"schema\": \"winnow.golden\", \"version\": 1, \"torch\": \"1\", "
                           "\"samples\": [{\"shape\": 1}]}"}) {
    EXPECT_THROW(parse_golden(task, text, "golden.json"), UsageError) << text;
  }
}

} // namespace
} // namespace winnow::harness
