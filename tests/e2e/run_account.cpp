#include "tests/e2e/run_account.h"

#include "base/sanitized.h"
#include "tests/e2e/winnow_program.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;

std::string name_of(const json& candidate) {
  return fmt::format("{}:{}", candidate.value("task", ""),
                     candidate.at("call_key").is_null()
                         ? candidate.value("origin", "")
                         : candidate.at("call_key").get<std::string>());
}

} // namespace

std::set<std::string> run_account(const std::string& store) {
  const json all = json_output(run_winnow({"export", "json", "--store", store}));
  std::map<int, std::string> names{{0, "none"}};
  for (const json& candidate : all.at("candidates")) {
    names[candidate.at("candidate_id")] = name_of(candidate);
  }
  std::set<std::string> lines;
  for (const json& candidate : all.at("candidates")) {
    const json& parent = candidate.at("parent_id");
    std::string line = fmt::format("{} {} {}", name_of(candidate), candidate.value("digest", ""),
                                   candidate.value("verdict", ""));
    // With sanitizers, kernels of twofold speed look equal, so the leader is random.
    if (!kSanitized) {
      line += fmt::format(" from {} rank {}", names[parent.is_null() ? 0 : parent.get<int>()],
                          candidate.at("rank").dump());
    }
    EXPECT_TRUE(lines.insert(std::move(line)).second) << name_of(candidate) << " is there twice";
  }
  return lines;
}

} // namespace winnow::test
