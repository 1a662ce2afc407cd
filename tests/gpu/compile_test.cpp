// Tests tests/gpu without a GPU: correct kernels compile for Hopper and their plans hold at every
// shape; broken plans and sources are refused with the expected messages.
#include "base/files.h"
#include "tests/e2e/winnow_program.h"

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

bool has_nvrtc() {
  for (const char* name :
       {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
    if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr) {
      return true;
    }
  }
  return false;
}

json compile_only(const std::string& task, const std::string& file) {
  return json_output(run_winnow(
      {"eval", task, file, "--device", "cuda", "--compile-only", "--arch", "sm_90a", "--json"}));
}

template <class Parameter> class NeedsNvrtc : public testing::TestWithParam<Parameter> {
protected:
  void SetUp() override {
    if (!has_nvrtc()) {
      GTEST_SKIP() << "libnvrtc is not installed";
    }
  }
};

std::vector<std::string> correct_kernels() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(project_folder() / "tests/gpu/kernels")) {
    names.push_back(entry.path().stem().string());
  }
  return names;
}

class HopperKernel : public NeedsNvrtc<std::string> {};

TEST_P(HopperKernel, CompilesWithoutSpills) {
  const std::regex method("_(wgmma|wmma|mma|dp4a|tma).*");
  const std::string task = std::regex_replace(GetParam(), method, "");
  const json evaluation = compile_only(task, "tests/gpu/kernels/" + GetParam() + ".cu");
  EXPECT_EQ(evaluation.value("verdict", ""), "not_judged") << evaluation.value("detail", "");
  const json kernels = evaluation.at("build").at("kernels");
  EXPECT_FALSE(kernels.empty());
  for (const json& kernel : kernels) {
    EXPECT_EQ(kernel.at("spill_store_bytes"), 0) << kernel;
  }
}

std::string hopper_kernel_name(const testing::TestParamInfo<std::string>& name) {
  return name.param;
}
INSTANTIATE_TEST_SUITE_P(Files, HopperKernel, testing::ValuesIn(correct_kernels()),
                         hopper_kernel_name);

std::vector<json> broken_kernels() {
  const json list =
      json::parse(read_file(project_folder() / "tests/gpu/broken/expected.json", 1U << 20U));
  return {list.begin(), list.end()};
}

/// Whether the verdict is known before a kernel runs and does not depend on the number of blocks
/// that fit a GPU.
bool is_known_without_gpu(const json& expected) {
  const std::string verdict = expected.at("verdict");
  return (verdict == "bad_plan" || verdict == "compile_error") &&
         expected.at("file") != "cooperative_too_large.cu";
}

class BrokenGpuKernel : public NeedsNvrtc<json> {};

TEST_P(BrokenGpuKernel, IsRefusedOrCompiles) {
  const json& expected = GetParam();
  const json evaluation = compile_only(
      expected.at("task"), "tests/gpu/broken/" + expected.at("file").get<std::string>());
  const std::string detail = evaluation.value("detail", "");
  if (!is_known_without_gpu(expected)) {
    EXPECT_EQ(evaluation.value("verdict", ""), "not_judged") << detail;
    return;
  }
  EXPECT_EQ(evaluation.value("verdict", ""), expected.at("verdict").get<std::string>()) << detail;
  for (const std::string said : expected.at("says")) {
    EXPECT_THAT(detail, HasSubstr(said));
  }
  for (const std::string unsaid : expected.value("never_says", json::array())) {
    EXPECT_THAT(evaluation.dump(), testing::Not(HasSubstr(unsaid)));
  }
}

std::string broken_kernel_name(const testing::TestParamInfo<json>& kernel) {
  return std::filesystem::path(kernel.param.at("file").get<std::string>()).stem().string();
}
INSTANTIATE_TEST_SUITE_P(Files, BrokenGpuKernel, testing::ValuesIn(broken_kernels()),
                         broken_kernel_name);

} // namespace
} // namespace winnow::test
