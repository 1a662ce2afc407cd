// Builds the attacks of tests/redteam/generic into the baselines of five tasks. None may score. The
// test is built twice, like redteam_test.cpp.
#include "base/files.h"
#include "base/sanitized.h"
#include "tasks/catalogue.h"
#include "tasks/source/kernel_file_scan.h"
#include "tasks/task/task.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::test::generic {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kDevice = WINNOW_REDTEAM_DEVICE;
constexpr std::uint64_t kMaxFileBytes = 1U << 20U;
constexpr std::string_view kPlanBegin = "/*@winnow", kPlanEnd = "@*/";

struct KernelParts {
  json plan;
  std::string code;
};

KernelParts parts_of(const std::string& text) {
  const std::size_t begin = text.find(kPlanBegin) + kPlanBegin.size(), end = text.find(kPlanEnd);
  return {json::parse(text.substr(begin, end - begin)), text.substr(end + kPlanEnd.size())};
}

/// A launch of the attack's own kernel, which takes the first input or the first output.
json launch_of_attack(const std::string& attack, const tasks::Task& task) {
  const bool takes_input = attack.find("char* input") != std::string::npos;
  const auto tensor =
      std::find_if(task.tensors.begin(), task.tensors.end(), [&](const tasks::TensorSpec& one) {
        return one.role == (takes_input ? tasks::Role::Input : tasks::Role::Output);
      });
  std::string bytes = std::to_string(tasks::size_bytes(tensor->dtype));
  for (const auto& extent : tensor->shape) {
    bytes += fmt::format(" * ({})", extent.text());
  }
  return {
      {"kernel", "attack_after"}, {"grid", {1}}, {"block", {1}}, {"args", {tensor->name, bytes}}};
}

std::string built_into(const std::string& attack, const tasks::Task& task) {
  KernelParts parts = parts_of(task.baseline);
  for (auto& [name, choices] : parts.plan["params"].items()) {
    choices = json::array({choices.front()});
  }
  if (attack.find("attack_after") != std::string::npos) {
    parts.plan["launches"].push_back(launch_of_attack(attack, task));
  }
  const bool skips = attack.find("bool skips()") != std::string::npos;
  return fmt::format("{}\n{}\n{}\n{}{}", kPlanBegin, parts.plan.dump(), kPlanEnd, attack,
                     skips ? tasks::begin_kernels_with(parts.code, " if (skips()) { return; }")
                           : parts.code);
}

class GenericAttacks : public testing::TestWithParam<std::string> {};

TEST_P(GenericAttacks, NothingScores) {
  const std::string why = kDevice == "cpu" ? std::string() : why_no_cuda();
  if (!why.empty()) {
    GTEST_SKIP() << why;
  }
  const TemporaryDirectory folder("generic");
  const tasks::Task task = tasks::find_task(project_folder() / "tasks/catalogue", GetParam());
  std::vector<std::string> arguments{"eval", GetParam()};
  for (const auto& entry : fs::directory_iterator(project_folder() / "tests/redteam/generic")) {
    const fs::path file = folder.path() / entry.path().filename();
    write_file_atomic(file, built_into(read_file(entry.path(), kMaxFileBytes), task));
    arguments.push_back(file);
  }
  const std::size_t attacks = arguments.size() - 2;
  for (const char* option : {"--no-reuse", "--device", kDevice.data(), "--json", "--timeout",
                             kSanitized ? "18s" : "6s"}) {
    arguments.emplace_back(option);
  }
  ProgramOptions options;
  options.timeout = std::chrono::minutes(10);
  options.gpus = kDevice != "cpu";
  const ProgramResult result = run_winnow(arguments, options);
  EXPECT_EQ(result.exit_code, 10) << result.err;
  const json evaluations = json_output(result);
  ASSERT_EQ(evaluations.size(), attacks);
  for (const json& evaluation : evaluations) {
    // Any other verdict would say that the attack was not built as it was meant.
    EXPECT_THAT(
        evaluation.value("verdict", ""),
        testing::AnyOf("unwritten_output", "wrong", "unstable", "modified_input", "out_of_bounds"))
        << evaluation.value("file", "") << ": " << evaluation.value("detail", "");
  }
}

std::string task_name(const testing::TestParamInfo<std::string>& task) {
  return task.param;
}
INSTANTIATE_TEST_SUITE_P(Tasks, GenericAttacks,
                         testing::Values("adamw_step", "cross_entropy", "fft_batched", "maxpool2d",
                                         "topk_rows"),
                         task_name);

} // namespace
} // namespace winnow::test::generic
