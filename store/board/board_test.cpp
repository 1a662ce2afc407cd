#include "base/digest.h"
#include "base/packing.h"
#include "base/text.h"
#include "store/board/board.h"
#include "store/board/board_data.h"
#include "store/leaderboard_format.h"
#include "store/test_store.h"
#include "tasks/plan/kernel_file.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;
using ::testing::Contains;
using testing::correct_evaluation;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TestStore;
using testing::wrong_evaluation;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  const std::size_t to = text.find(end, from + begin.size());
  return text.substr(from + begin.size(), to - from - begin.size());
}

json document_of(const std::string& page) {
  return json::parse(between(page, "id=\"board\">", "</script>"));
}

/// A list of objects from {"columns":[...],"rows":[[...],...]}.
json objects_of(const json& table) {
  json list = json::array();
  for (const json& row : table.at("rows")) {
    json& object = list.emplace_back(json::object());
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.at("columns")[i].get<std::string>()] = row[i];
    }
  }
  return list;
}

json leaderboard_of(const RunStore& store) {
  LeaderboardQuery query;
  query.top = 0;
  const auto rows = store.leaderboard(query);
  return leaderboard_json(rows, {store.baseline_standings(rows), {}, {}, {}});
}

void expect_equal_to_leaderboard(const RunStore& store) {
  const json document = document_of(board_page(store, {}));
  const json expected = leaderboard_of(store);
  const json rows = objects_of(document.at("leaderboard"));
  ASSERT_EQ(rows.size(), expected.at("rows").size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i], expected.at("rows")[i]) << i;
  }
  EXPECT_EQ(document.at("baselines"), expected.at("baselines"));
}

TEST(Board, EveryNumberIsThatOfTheLeaderboard) {
  TestStore test;
  test.add("axpy/0/0", "// a", {correct_evaluation(2.5)});
  test.add("axpy/0/1", "// b", {correct_evaluation(1.0 / 3)});
  test.add("axpy/0/2", "// c", {wrong_evaluation()});
  expect_equal_to_leaderboard(test.store);
}

TEST(Board, IsEqualToTheLeaderboardOf5000Candidates) {
  TestStore test;
  test.store.transaction([&] {
    for (int i = 0; i < 5000; ++i) {
      test.add(fmt::format("axpy/0/{}", i), fmt::format("// {}", i),
               {correct_evaluation(0.1 + i / 7.0)});
    }
  });
  expect_equal_to_leaderboard(test.store);
}

TEST(Board, HasTheSuiteThatItIsGiven) {
  const TestStore test;
  const json suite{{"schema", "winnow.suite"}, {"suite", "</script><script>alert(1)</script>"}};
  BoardOptions options;
  options.suite = suite.dump();
  EXPECT_EQ(document_of(board_page(test.store, options)).at("suite"), suite);
  EXPECT_TRUE(document_of(board_page(test.store, {})).at("suite").is_null());
}

TEST(Board, OfAnEmptyStoreIsAPage) {
  const TestStore test;
  const json document = document_of(board_page(test.store, {}));
  EXPECT_EQ(document.at("schema"), "winnow.board");
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_THAT(document.at("leaderboard").at("rows"), IsEmpty());
  EXPECT_THAT(document.at("candidates").at("rows"), IsEmpty());
}

TEST(Board, OfFailuresOnlyListsThem) {
  TestStore test;
  test.add("axpy/0/0", "// a", {wrong_evaluation()});
  const json document = document_of(board_page(test.store, {}));
  EXPECT_THAT(document.at("leaderboard").at("rows"), IsEmpty());
  EXPECT_EQ(objects_of(document.at("candidates"))[0].at("verdict"), "wrong");
}

TEST(Board, NamesNoHiddenShape) {
  TestStore test;
  test.add("axpy/0/0", "// a", {correct_evaluation(2)});
  test.store.read([&](const Database& database) {
    const BoardData data = read_board(test.store, database, {}, 1'000'000);
    EXPECT_THAT(data.index, Not(HasSubstr("123457")));
    EXPECT_THAT(data.index, Not(HasSubstr("promotion/0")));
  });
}

/// Texts that a page must not take for markup, and bytes that are no text.
const std::vector<std::string>& attacks() {
  static const std::vector<std::string> texts{"</script><script>document.title='owned'</script>",
                                              "<img src=x onerror=\"document.title='owned'\">",
                                              "<!--<script>",
                                              "]]></style><svg onload=alert(1)>",
                                              "line\u2028separator\u2029",
                                              std::string("a\0b", 3),
                                              "lone \xED\xA0\x80 surrogate \xFF",
                                              "right \u202Eto left\u202C",
                                              "javascript:alert(1)",
                                              "{data}{script}{policy}",
                                              std::string(1'000'000, 'x')};
  return texts;
}

void add_attack(TestStore& test, const std::string& text) {
  const std::string key = "axpy/0/" + sha256_hex(text);
  test.store.begin_call(test.run, test.task, key, "replay", "model " + text,
                        {{"messages", {{{"role", "user"}, {"content", "ask"}}}}});
  tasks::Evaluation evaluation = wrong_evaluation();
  evaluation.detail = text;
  evaluation.notes = {text};
  evaluation.build.log = text;
  evaluation.build.digest = sha256_hex(text);
  evaluation.device_name = text.substr(0, 60);
  evaluation.cases[0].detail = text;
  test.add(key, text, {evaluation});
  evaluation = correct_evaluation(2);
  evaluation.device_name = text.substr(0, 60);
  test.add(key + "/right", text + "\n", {evaluation});
}

TEST(Board, HostileTextsAreInert) {
  TestStore test;
  const std::size_t plain = count_of(board_page(test.store, {}), "<script");
  for (const std::string& text : attacks()) {
    add_attack(test, text);
  }
  BoardOptions options;
  options.with_prompts = true;
  const std::string page = board_page(test.store, options);
  const std::size_t chunks = document_of(page).at("chunks").size();
  EXPECT_GT(chunks, 0U);
  const std::string data = between(page, "id=\"board\">", "</script>");
  EXPECT_THAT(data, Not(HasSubstr("<")));
  EXPECT_THAT(data, Not(HasSubstr("\u2028")));
  EXPECT_EQ(page.find('\0'), std::string::npos);
  EXPECT_EQ(find_invalid_utf8(page), std::nullopt);
  const std::string all = page.substr(0, page.find("<script>")); // all but the programs
  EXPECT_EQ(count_of(all, "<script"), plain - 2 + chunks);
  EXPECT_EQ(count_of(all, "</script"), plain - 2 + chunks);
  EXPECT_THAT(all, Not(HasSubstr("<img")));
}

TEST(Board, ItsPolicyAllowsItsProgramsOnly) {
  const TestStore test;
  const std::string page = board_page(test.store, {});
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, ::testing::StartsWith("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  std::size_t at = page.find("<script>");
  for (int i = 0; i < 2; ++i) {
    const std::size_t end = page.find("</script>", at);
    const std::string script = page.substr(at + 8, end - at - 8);
    EXPECT_THAT(policy, HasSubstr("'sha256-" + base64(sha256_bytes(script)) + "'"));
    at = page.find("<script>", end);
  }
  EXPECT_EQ(at, std::string::npos);
  const std::string style = between(page, "<style>", "</style>");
  EXPECT_THAT(policy, HasSubstr("style-src 'sha256-" + base64(sha256_bytes(style)) + "'"));
}

TEST(Board, ItsOwnProgramMakesNoMarkupAndAsksNoNetwork) {
  const TestStore test;
  const std::string page = board_page(test.store, {});
  const std::string script = page.substr(page.rfind("<script>"));
  for (const char* word : {"innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(",
                           "Function(", "http:", "https:", "fetch(", "XMLHttp", "import("}) {
    EXPECT_THAT(script, Not(HasSubstr(word)));
  }
  // Characters, because clang-format decides how many lines they fill.
  EXPECT_LT(script.size() - count_of(script, "\n") - count_of(script, " "), 80'000U);
}

TEST(Board, OnlyALivePageAsksItsServer) {
  const TestStore test;
  BoardOptions options;
  options.live_version = "7";
  const std::string live = board_page(test.store, options), file = board_page(test.store, {});
  EXPECT_THAT(live, HasSubstr("; connect-src 'self'\""));
  EXPECT_THAT(live, HasSubstr("fetch('version'"));
  EXPECT_EQ(document_of(live).at("live_version"), "7");
  EXPECT_THAT(file, Not(HasSubstr("connect-src")));
  EXPECT_TRUE(document_of(file).at("live_version").is_null());
}

TEST(Board, HasPromptsOnlyIfAskedFor) {
  TestStore test;
  add_attack(test, "x");
  const auto parts = [&](bool with_prompts) {
    BoardOptions options;
    options.with_prompts = with_prompts;
    std::vector<std::string> names;
    const json document = document_of(board_page(test.store, options));
    for (const json& chunk : document.at("chunks")) {
      names.push_back(chunk.at("part"));
    }
    return names;
  };
  EXPECT_THAT(parts(false), Not(Contains("conversations")));
  EXPECT_THAT(parts(true), Contains("conversations"));
}

TEST(Board, LeavesOutPartsInOrderAndSaysSo) {
  TestStore test;
  test.store.transaction([&] {
    for (int i = 0; i < 200; ++i) {
      std::string text = "// ";
      for (int k = 0; k < 50; ++k) {
        text += sha256_hex(fmt::format("{}/{}", i, k));
      }
      tasks::Evaluation right = correct_evaluation(1 + i);
      for (int k = 0; k < 200; ++k) {
        right.cases[0].samples_ns.push_back(1000.0 + (k * 7919 + i * 104729) % 1009);
      }
      test.add(fmt::format("axpy/0/{}", i), text, {i % 2 == 0 ? right : wrong_evaluation()});
    }
  });
  const std::string full = board_page(test.store, {});
  EXPECT_THAT(document_of(full).at("dropped"), IsEmpty());
  const std::size_t own = board_page(TestStore().store, {}).size();
  const auto dropped = [&](double share) {
    BoardOptions options;
    options.max_bytes =
        own + static_cast<std::size_t>(share * static_cast<double>(full.size() - own));
    const std::string page = board_page(test.store, options);
    EXPECT_LE(page.size(), options.max_bytes);
    return document_of(page).at("dropped").dump();
  };
  EXPECT_THAT(dropped(0.999), AllOf(HasSubstr("samples"), Not(HasSubstr("kernel files"))));
  EXPECT_THAT(dropped(0.7), AllOf(HasSubstr("samples"), HasSubstr("kernel files of incorrect")));
  EXPECT_THAT(dropped(0.3), HasSubstr("candidates below"));
}

/// A store of `count` correct kernels. Each is faster than the one before, and has raced against
/// it.
void add_racers(TestStore& test, int count) {
  test.store.transaction([&] {
    std::string rival;
    for (int i = 0; i < count; ++i) {
      const std::string text = fmt::format("// kernel {}", i);
      tasks::Evaluation right = correct_evaluation(1 + i);
      right.race = tasks::RaceResult{};
      right.race->rival = rival;
      right.race->verdict = "faster";
      if (i == 0) {
        right.race.reset();
      }
      test.add(fmt::format("axpy/0/{}", i), text, {right});
      rival = tasks::kernel_digest(text, right.parameters);
    }
  });
}

TEST(Board, HasTheRacesOfTheKernelsThatItShowsAndNoOthers) {
  constexpr int kKernels = 300;
  TestStore test;
  add_racers(test, kKernels);
  const std::string full = board_page(test.store, {});
  EXPECT_EQ(document_of(full).at("races").size(), kKernels - 1);
  BoardOptions options;
  const std::size_t own = board_page(TestStore().store, {}).size();
  options.max_bytes = own + (full.size() - own) / 4;
  const std::string page = board_page(test.store, options);
  EXPECT_LE(page.size(), options.max_bytes);
  const json document = document_of(page);
  std::set<std::string> shown;
  for (const json& candidate : objects_of(document.at("candidates"))) {
    shown.insert(candidate.at("kernel").get<std::string>());
  }
  ASSERT_LT(shown.size(), kKernels);
  EXPECT_EQ(document.at("races").size(), shown.size() - 1); // the fastest ones are neighbours
  for (const json& race : document.at("races")) {
    EXPECT_TRUE(shown.contains(race.at("kernel")) && shown.contains(race.at("rival"))) << race;
  }
}

} // namespace
} // namespace winnow::store
