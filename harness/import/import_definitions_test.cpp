#include "base/error.h"
#include "base/files.h"
#include "harness/import/import_definitions.h"
#include "harness/import/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kScale = R"({"name": "scale_h8", "op_type": "scale",
  "axes": {"rows": {"type": "var"}}, "inputs": {"x": {"shape": ["rows"], "dtype": "float32"}}})";

/// A safetensors file with the tensor x of 8 bytes, of which `there` are in the file.
std::string safetensors(std::size_t there) {
  const std::string header = R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  return std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') + header +
         std::string(there, '1');
}

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
  EXPECT_THAT(files[0].wrong, HasSubstr("not JSON: parse error at line 1"));
  EXPECT_EQ(files[1].folder, "to/scale/scale_h8");
  EXPECT_EQ(files[1].workloads, root() / "workloads/scale/scale_h8.jsonl");
  EXPECT_EQ(files[1].root, root());
  EXPECT_EQ(files[2].folder, "to/scale/scale_h8");
  EXPECT_EQ(files[2].workloads, root() / "sol/problem/workload.jsonl");
  EXPECT_THROW(definition_files(root() / "workloads", "to"), UsageError);
}

TEST_F(Definitions, TellWhichWorkloadsAreLeftOut) {
  add("definitions/scale/scale_h8.json", kScale);
  add("whole.safetensors", safetensors(8));
  add("cut.safetensors", safetensors(7));
  const auto line = [](const std::string& file) {
    return R"({"workload": {"axes": {"rows": 2}, "inputs": {"x": {"type": "safetensors", "path": ")" +
           file + R"(", "tensor_key": "x"}}}})" + "\n";
  };
  add("workloads/scale/scale_h8.jsonl", line("whole.safetensors") + line("cut.safetensors") +
                                            "{\n" + line("none.safetensors") +
                                            R"({"axes": {"rows": 3}})");
  std::vector<std::string> notes;
  const std::vector<std::string> workloads =
      read_workloads(definition_files(root(), "to").at(0), notes);
  ASSERT_EQ(workloads.size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(workloads[2]).at("axes").at("rows"), 3);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("cut.safetensors is cut short: the tensor 'x' ends"),
                                 HasSubstr("line 3 of scale_h8.jsonl is left out: is no workload"),
                                 HasSubstr("1 safetensors files are missing")));
}

TEST_F(Definitions, DeepJsonDoesNotExhaustTheStack) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  add("definitions/scale/scale_h8.json", kScale);
  add("definitions/scale/deep.json", R"({"axes": 1, "inputs": )" + deep + "}");
  add("workloads/scale/scale_h8.jsonl", R"({"workload": {"axes": {}, "inputs": )" + deep + "}}");
  const std::vector<DefinitionFile> files = definition_files(root(), "to");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].wrong, "JSON nested more than 100 levels deep");
  std::vector<std::string> notes;
  EXPECT_TRUE(read_workloads(files[1], notes).empty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("is no workload")));
  const std::string header = R"({"x": {"data_offsets": )" + deep + "}}";
  const std::uint64_t size = header.size();
  add("a", std::string(reinterpret_cast<const char*>(&size), sizeof size) + header);
  EXPECT_EQ(safetensors_mistake(root() / "a", "x"), "has no tensor 'x'");
}

TEST_F(Definitions, SafetensorsFilesAreChecked) {
  add("a", safetensors(8));
  EXPECT_EQ(safetensors_mistake(root() / "a", "x"), "");
  EXPECT_EQ(safetensors_mistake(root() / "a", "y"), "has no tensor 'y'");
  add("a", "short");
  EXPECT_THAT(safetensors_mistake(root() / "a", "x"), HasSubstr("is no safetensors file"));
  add("a", std::string(8, '\xff') + "{}");
  EXPECT_THAT(safetensors_mistake(root() / "a", "x"), HasSubstr("is no safetensors file"));
}

} // namespace
} // namespace winnow::harness
