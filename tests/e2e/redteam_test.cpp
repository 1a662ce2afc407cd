// Runs the attacks in tests/redteam on the real program. None may score. The test is built twice:
// for the CPU device, and for CUDA, where it is skipped with the reason if there is no GPU.
#include "agents/reply/reply.h"
#include "base/files.h"
#include "base/sanitized.h"
#include "process/child_process.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kDevice = WINNOW_REDTEAM_DEVICE;
constexpr std::uint64_t kMaxFileBytes = 4U << 20U;
// An attack marked `pays` may be judged correct if it had to do all its work in every launch. That
// work is at least twice the work of the baseline.
constexpr double kPaidInFull = 1;

fs::path corpus() {
  return project_folder() / "tests/redteam";
}

const std::vector<json>& attacks() {
  static const json list = json::parse(read_file(corpus() / "expected.json", kMaxFileBytes));
  static const std::vector<json> attacks(list.begin(), list.end());
  return attacks;
}

/// Puts files of tests/redteam/parts, which several attacks share, in place of their #include.
std::string with_parts(std::string text) {
  constexpr std::string_view kInclude = "#include \"", kPart = "#include \"parts/";
  for (auto at = text.find(kPart); at != std::string::npos; at = text.find(kPart)) {
    const auto name = at + kInclude.size(), end = text.find('"', name);
    text.replace(at, end + 1 - at,
                 read_file(corpus() / text.substr(name, end - name), kMaxFileBytes));
  }
  return text;
}

/// The path of an attack's whole text: its own file, or one in `folder` if it has parts.
std::string whole_file(const std::string& attack, const TemporaryDirectory& folder) {
  const std::string text = read_file(corpus() / attack, kMaxFileBytes);
  const std::string whole = with_parts(text);
  if (whole == text) {
    return "tests/redteam/" + attack;
  }
  const fs::path path = folder.path() / fs::path(attack).filename();
  write_file_atomic(path, whole);
  return path;
}

bool is_reply(const json& attack) {
  return attack.at("file").get<std::string>().starts_with("replies/");
}

std::set<std::string> tasks() {
  std::set<std::string> names;
  for (const json& attack : attacks()) {
    names.insert(attack.at("task"));
  }
  return names;
}

ProgramOptions options() {
  ProgramOptions options;
  options.timeout = std::chrono::milliseconds(1'200'000);
  options.gpus = kDevice != "cpu";
  return options;
}

std::vector<json> evaluate(const std::string& task, const std::vector<std::string>& files,
                           const std::vector<std::string>& options_of_test = {"--no-reuse"}) {
  std::vector<std::string> arguments{"eval", task};
  arguments.insert(arguments.end(), files.begin(), files.end());
  arguments.insert(arguments.end(), options_of_test.begin(), options_of_test.end());
  for (const char* option :
       {"--device", kDevice.data(), "--json", "--timeout", kSanitized ? "18s" : "6s"}) {
    arguments.emplace_back(option);
  }
  const ProgramResult result = run_winnow(arguments, options());
  EXPECT_EQ(result.exit_code, 10) << result.err;
  const json evaluations = json_output(result);
  return files.size() == 1 ? std::vector<json>{evaluations}
                           : std::vector<json>(evaluations.begin(), evaluations.end());
}

void expect_no_score(const json& attack, const json& evaluation) {
  const std::string file = attack.at("file");
  const std::string verdict = evaluation.value("verdict", "");
  const std::string detail = evaluation.value("detail", "");
  if (verdict == "correct" && attack.value("pays", false)) {
    if (!kSanitized) { // sanitizers slow down the baseline's barriers, but not the attack
      EXPECT_LT(evaluation.value("speedup", 1e9), kPaidInFull)
          << file << " gains from what it skips";
    }
    return;
  }
  const std::vector<std::string> accepted = attack.at(std::string(kDevice));
  EXPECT_THAT(accepted, testing::Contains(verdict))
      << file << ": " << detail << "; speedup " << evaluation.value("speedup", 0.0);
  for (const std::string unsaid : attack.value("never_says", json::array())) {
    EXPECT_THAT(evaluation.dump(), Not(HasSubstr(unsaid))) << file;
  }
}

class RedTeam : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    static const std::string why = kDevice == "cpu" ? std::string() : why_no_cuda();
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

// One process for each task: if an attack left something behind, it would show in the next verdict.
TEST_P(RedTeam, NothingScores) {
  const TemporaryDirectory folder("redteam");
  std::vector<json> listed;
  std::vector<std::string> files;
  for (const json& attack : attacks()) {
    if (attack.at("task") == GetParam() && !is_reply(attack)) {
      listed.push_back(attack);
      files.push_back(whole_file(attack.at("file"), folder));
    }
  }
  const std::vector<json> evaluations = evaluate(GetParam(), files);
  ASSERT_EQ(evaluations.size(), files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    expect_no_score(listed[i], evaluations[i]);
  }
}

std::string task_name(const testing::TestParamInfo<std::string>& task) {
  return task.param;
}
INSTANTIATE_TEST_SUITE_P(Tasks, RedTeam, testing::ValuesIn(tasks()), task_name);

// Judges each attack after the honest file whose verdict it tries to get, in one process.
TEST_F(RedTeam, NoVerdictIsReusedForOtherValues) {
  const TemporaryDirectory folder("redteam");
  for (const json& attack : attacks()) {
    if (!attack.contains("after")) {
      continue;
    }
    const std::string file = attack.at("file");
    const std::vector<json> evaluations = evaluate(
        attack.at("task"), {whole_file(attack.at("after"), folder), whole_file(file, folder)}, {});
    ASSERT_EQ(evaluations.size(), 2U) << file;
    EXPECT_EQ(evaluations[0].value("verdict", ""), "correct") << evaluations[0].dump();
    expect_no_score(attack, evaluations[1]);
  }
}

// A reply is handled like a model's reply: if a kernel file can be extracted from it, that is
// judged.
TEST_F(RedTeam, NoReplyScores) {
  const TemporaryDirectory directory("redteam");
  for (const json& attack : attacks()) {
    if (!is_reply(attack)) {
      continue;
    }
    const std::string file = attack.at("file");
    const agents::ExtractedKernel kernel =
        agents::extract_kernel_file(read_file(corpus() / file, kMaxFileBytes), "stop");
    if (!kernel.text) {
      expect_no_score(attack, {{"verdict", "bad_reply"}, {"detail", kernel.problem}});
      EXPECT_NE(kernel.problem, "") << file;
      continue;
    }
    const fs::path path = directory.path() / "kernel.cu";
    write_file_atomic(path, *kernel.text);
    expect_no_score(attack, evaluate(attack.at("task"), {path.string()}).at(0));
  }
}

/// The line after the plan of a kernel file.
std::string mechanism(const std::string& text) {
  const std::size_t plan = text.find("@*/\n");
  const std::size_t begin = plan == std::string::npos ? text.size() : plan + 4;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(RedTeamCorpus, ListsEveryFileOnceWithItsMechanism) {
  EXPECT_GE(attacks().size(), 40U);
  std::map<std::string, int> listed;
  for (const json& attack : attacks()) {
    const std::string file = attack.at("file");
    ++listed[file];
    if (attack.contains("after")) {
      ++listed[attack.at("after")];
    }
    EXPECT_FALSE(attack.at("why").get<std::string>().empty()) << file;
    const std::vector<std::string> cpu = attack.at("cpu"), cuda = attack.at("cuda");
    EXPECT_THAT(cpu, Not(testing::Contains("correct"))) << file;
    EXPECT_THAT(cuda, Not(testing::Contains("correct"))) << file;
    const bool may_be_unsupported = std::count(cpu.begin(), cpu.end(), "unsupported") > 0;
    EXPECT_TRUE(!may_be_unsupported || attack.contains("cpu_why")) << file;
    const std::string shows = is_reply(attack)
                                  ? "// " + attack.at("shows").get<std::string>()
                                  : mechanism(read_file(corpus() / file, kMaxFileBytes));
    EXPECT_THAT(shows, testing::MatchesRegex("// .+")) << file << " does not say what it shows";
    EXPECT_FALSE(cpu.empty() || cuda.empty()) << file << " has no verdict";
  }
  std::map<std::string, int> there;
  for (const auto& entry : fs::recursive_directory_iterator(corpus())) {
    const fs::path parent = entry.path().parent_path();
    const bool is_attack = parent != corpus() && parent != corpus() / "parts" &&
                           parent != corpus() / "generic"; // see generic_attacks_test.cpp
    if (entry.is_regular_file() && is_attack) {
      ++there[entry.path().lexically_relative(corpus()).generic_string()];
    }
  }
  EXPECT_EQ(listed, there);
}

TEST(RedTeamCorpus, HasAnAttackOfEveryKind) {
  const json kinds = json::parse(read_file(corpus() / "kinds.json", kMaxFileBytes));
  std::set<std::size_t> known, met;
  for (std::size_t kind = 1; kind <= kinds.size(); ++kind) {
    known.insert(kind);
  }
  for (const json& attack : attacks()) {
    const std::vector<std::size_t> of_attack = attack.at("rows");
    EXPECT_FALSE(of_attack.empty()) << attack.at("file");
    met.insert(of_attack.begin(), of_attack.end());
  }
  EXPECT_EQ(met, known);
}

/// The verdicts that are accepted on a device, as tests/redteam/README.md writes them.
std::string accepted_text(const json& attack, const char* device) {
  std::string text;
  for (const std::string verdict : attack.at(device)) {
    text += (text.empty() ? "`" : ", `") + verdict + "`";
  }
  if (std::string_view(device) == "cpu" && attack.contains("cpu_why")) {
    text += " (" + attack.at("cpu_why").get<std::string>() + ")";
  }
  return attack.value("pays", false) ? text + " or paid in full" : text;
}

TEST(RedTeamCorpus, TheScriptListsEveryAttackWithItsVerdicts) {
  const process::ChildResult result = process::run_child(
      {.argv = {"/usr/bin/env", "python3", project_folder() / "scripts/list-attacks.py"},
       .environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}}},
      "");
  ASSERT_EQ(result.exit_code, 0) << process::describe(result) << result.err;
  for (const json& attack : attacks()) {
    EXPECT_THAT(result.out, HasSubstr("| `" + attack.at("file").get<std::string>() + "` | "));
    for (const char* device : {"cpu", "cuda"}) {
      EXPECT_THAT(result.out, HasSubstr(accepted_text(attack, device))) << attack.at("file");
    }
  }
}

TEST(RedTeamCorpus, ThePageOfPublishedExploitsHasTheVerdictsOfTheirFiles) {
  const std::string page = read_file(project_folder() / "tests/redteam/README.md", kMaxFileBytes);
  for (const std::string& text :
       {page, read_file(project_folder() / "docs/trust.md", kMaxFileBytes)}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("has {} attacks on Winnow", attacks().size())));
  }
  constexpr std::string_view kLink = "](./";
  int named = 0;
  for (const json& attack : attacks()) {
    const std::string link =
        fmt::format("{}{})", kLink, attack.at("file").get_ref<const std::string&>());
    const std::size_t at = page.find(link);
    if (at != std::string::npos) {
      ++named;
      const std::size_t begin = at + link.size();
      EXPECT_EQ(
          page.substr(begin, page.find('\n', begin) - begin),
          fmt::format(" | {} | {} |", accepted_text(attack, "cpu"), accepted_text(attack, "cuda")));
    }
  }
  int links = 0;
  for (std::size_t at = page.find(kLink); at != std::string::npos; at = page.find(kLink, at + 1)) {
    ++links;
  }
  EXPECT_GE(named, 20);
  EXPECT_EQ(links, named) << "each file once";
}

} // namespace
} // namespace winnow::test
