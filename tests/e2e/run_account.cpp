#include "tests/e2e/run_account.h"

#include "base/sanitized.h"
#include "tests/e2e/winnow_program.h"

#include <map>

#include <SQLiteCpp/SQLiteCpp.h>
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

/// Places on the boards by speed, from 1, by candidate. A candidate without a rank has none.
/// Whether two neighbours are a tie depends on how busy the machine was during the final: ties are
/// left out.
std::map<int, int> places(const std::string& store) {
  SQLite::Database database(store, SQLite::OPEN_READONLY);
  SQLite::Statement rows(database, "SELECT candidate_id, row_number() OVER (PARTITION BY group_id "
                                   "ORDER BY speedup DESC) FROM leaderboard WHERE rank > 0");
  std::map<int, int> places;
  while (rows.executeStep()) {
    places[rows.getColumn(0).getInt()] = rows.getColumn(1).getInt();
  }
  return places;
}

} // namespace

std::set<std::string> run_account(const std::string& store) {
  const json all = json_output(run_winnow({"export", "json", "--store", store}));
  std::map<int, std::string> names{{0, "none"}};
  for (const json& candidate : all.at("candidates")) {
    names[candidate.at("candidate_id")] = name_of(candidate);
  }
  std::map<int, int> place_of = places(store);
  std::set<std::string> lines;
  for (const json& candidate : all.at("candidates")) {
    const json& parent = candidate.at("parent_id");
    std::string line = fmt::format("{} {} {}", name_of(candidate), candidate.value("digest", ""),
                                   candidate.value("verdict", ""));
    // With sanitizers, kernels of twofold speed look equal, so the leader is random.
    if (!kSanitized) {
      line += fmt::format(" from {} place {}", names[parent.is_null() ? 0 : parent.get<int>()],
                          place_of[candidate.at("candidate_id")]);
    }
    EXPECT_TRUE(lines.insert(std::move(line)).second) << name_of(candidate) << " is there twice";
  }
  return lines;
}

} // namespace winnow::test
