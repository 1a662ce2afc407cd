#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kScale = R"({"name": "scale_h8", "op_type": "scale",
  "axes": {"rows": {"type": "var"}}, "inputs": {"x": {"shape": ["rows"], "dtype": "float32"}}})";

class Definitions : public testing::Test {
protected:
  void add(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root() / file).parent_path());
    write_file_atomic(root() / file, text);
  }
  const std::filesystem::path& root() const { return folder_.path(); }

private:
  TemporaryDirectory folder_{"definitions"};
};

TEST_F(Definitions, AreFoundWithTheirWorkloadsInBothLayouts) {
  add("definitions/scale/scale_h8.json", kScale);
  add("workloads/scale/scale_h8.jsonl", "");
  add("sol/problem/definition.json", kScale);
  add("sol/problem/workload.jsonl", "");
  add("sol/problem/solution.json", R"({"name": "a", "sources": []})");
  add("definitions/scale/broken.json", "{\"name\": ");
  const std::vector<DefinitionFile> files = definition_files(root(), "to");
  ASSERT_EQ(files.size(), 3U);
  EXPECT_THAT(files[0].wrong, HasSubstr("not valid JSON: parse error at line 1"));
  EXPECT_EQ(files[1].folder, "to/scale/scale_h8");
  EXPECT_EQ(files[1].workloads, root() / "workloads/scale/scale_h8.jsonl");
  EXPECT_EQ(files[2].folder, "to/scale/scale_h8");
  EXPECT_EQ(files[2].workloads, root() / "sol/problem/workload.jsonl");
  EXPECT_THROW(definition_files(root() / "workloads", "to"), UsageError);
}

TEST_F(Definitions, TellWhichWorkloadsAreLeftOut) {
  add("definitions/scale/scale_h8.json", kScale);
  add("workloads/scale/scale_h8.jsonl",
      R"({"workload": {"axes": {"rows": 2}, "inputs": {"x": {"type": "safetensors"}}}})"
      "\n{\n"
      R"({"axes": {"rows": 3}})");
  std::vector<std::string> notes;
  const std::vector<std::string> workloads =
      read_workloads(definition_files(root(), "to").at(0), notes);
  ASSERT_EQ(workloads.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(workloads[1]).at("axes").at("rows"), 3);
  EXPECT_THAT(notes,
              ElementsAre(HasSubstr("line 2 of scale_h8.jsonl is left out: is no workload")));
}

TEST_F(Definitions, DeepJsonDoesNotExhaustTheStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  add("definitions/scale/scale_h8.json", kScale);
  add("definitions/scale/deep.json", R"({"axes": 1, "inputs": )" + deep + "}");
  add("workloads/scale/scale_h8.jsonl", R"({"workload": {"axes": {}, "inputs": )" + deep + "}}");
  const std::vector<DefinitionFile> files = definition_files(root(), "to");
  ASSERT_EQ(files.size(), 1U);
  std::vector<std::string> notes;
  EXPECT_TRUE(read_workloads(files[0], notes).empty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("is no workload")));
}

} // namespace
} // namespace winnow::harness
