#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "harness/config/config.h"
#include "harness/config/config_keys.h"
#include "harness/config/duration.h"
#include "search/policy.h"

#include <cstdlib>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

RunConfig parse(std::string_view text, const std::vector<ConfigOverride>& overrides = {}) {
  return parse_config(text, "dir/my.toml", overrides);
}

std::string mistake(std::string_view text, const std::vector<ConfigOverride>& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const UsageError& error) {
    return std::string(error.what()) + "\n" + error.remedy();
  }
  return "accepted";
}

TEST(Config, ReadsEverySection) {
  const RunConfig config = parse(R"(
[run]
name = "mine"
store = "runs/mine.db"
tasks = ["axpy", "gemm_f32"]
device = "cpu"
strategy = "best-of-n"
proposals = 9
parallel = 3
[limits]
calls = 20
dollars = 1.5
wall_time = "10m"
[endpoint]
kind = "chat"
model = "some-model"
temperature = 1
dollars_per_million_input = 1
dollars_per_million_output = 4.5
[evaluation]
check = false
seed = 7
time_budget = 0.25
require_isolation = "landlock+seccomp"
)");
  EXPECT_EQ(config.name, "mine");
  EXPECT_EQ(config.tasks, (std::vector<std::string>{"axpy", "gemm_f32"}));
  EXPECT_EQ(config.evaluation.device, "cpu");
  EXPECT_EQ(config.strategy, "best-of-n");
  EXPECT_EQ(config.proposals, 9);
  EXPECT_EQ(config.endpoint.parallel, 3);
  EXPECT_EQ(config.evaluation.seed, 7U);
  EXPECT_EQ(config.limits.calls, 20);
  EXPECT_EQ(config.limits.wall_time, std::chrono::minutes(10));
  EXPECT_DOUBLE_EQ(config.endpoint.temperature, 1.0);
  EXPECT_EQ(config.endpoint.dollars_per_million_output, 4.5);
  EXPECT_FALSE(config.evaluation.check);
  EXPECT_EQ(config.evaluation.time_budget, std::chrono::milliseconds(250));
  EXPECT_EQ(config.evaluation.require_isolation, process::Isolation::LandlockSeccomp);
}

TEST(Config, IsNamedAfterItsFile) {
  EXPECT_EQ(parse("").name, "my");
}

TEST(Config, SurvivesTheStore) {
  const RunConfig config = parse("[run]\nproposals = 4\n[limits]\nwall_time = \"90s\"\n"
                                 "[endpoint]\ndollars_per_million_input = 0.5\n");
  const nlohmann::json stored = config_to_json(config);
  EXPECT_EQ(config_to_json(config_from_json(nlohmann::json::parse(stored.dump()))), stored);
  EXPECT_EQ(config_from_json(stored).limits.wall_time, std::chrono::seconds(90));
  EXPECT_FALSE(config_from_json(stored).endpoint.dollars_per_million_output);
  EXPECT_FALSE(config_from_json(stored).evaluation.seed);
  EXPECT_FALSE(config_from_json({{"run", {{"seed", 1}}}}).evaluation.seed)
      << "a run that began before seeds were drawn";
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(Config, SaysWhereAndWhatIsWrong) {
  const Mistake mistakes[] = {
      {"[run]\nproposal = 3\n", "dir/my.toml:2:1: unknown key 'proposal' in [run]; did you mean "
                                "'proposals'?"},
      {"[limit]\ncalls = 3\n", "dir/my.toml:1:2: unknown section [limit]; did you mean 'limits'?"},
      {"tasks = [\"axpy\"]\n",
       "1:1: the key 'tasks' stands in no section; did you mean 'run.tasks'?"},
      {"[run]\nproposals = \"6\"\n", "dir/my.toml:2:13: run.proposals: expected a whole number"},
      {"[run]\nproposals = 1.5\n", "expected a whole number from 1 to 100000"},
      {"[run]\nproposals = 0\n", "expected a whole number from 1 to 100000"},
      {"[run]\ntasks = \"axpy\"\n", "run.tasks: expected a list of strings"},
      {"[run]\ntasks = [1]\n", "run.tasks: expected a list of strings"},
      {"[run]\ntasks = []\n", "run.tasks: expected a list of strings"},
      {"[run]\nname = 3\n", "run.name: expected a string"},
      {"[run]\nname = 2020-01-01\n", "run.name: expected a plain value"},
      {"run = 3\n", "expected [run]"},
      {"[limits]\nwall_time = \"soon\"\n", "limits.wall_time: expected seconds, or a duration"},
      {"[limits]\ncalls = -1\n", "limits.calls: expected a whole number of at least 0"},
      {"[evaluation]\ncheck = 1\n", "evaluation.check: expected true or false"},
      {"[evaluation]\nrequire_isolation = \"vm\"\n", "\"landlock+seccomp\" or \"bubblewrap\""},
      {"[run]\nname = \n", "dir/my.toml:2:"},
      {"[run]\nname = 'a'\nname = 'b'\n", "dir/my.toml:3:"},
      {"[run]\nstrategy = \"best-of-m\"\n", "did you mean 'best-of-n'?"},
      {"[run]\nstrategy = \"cuda-forge\"\n", "did you mean 'cudaforge'?"},
      {"[run]\nseed_kernel = \"k.cu\"\n", "run.seed_kernel needs one task in run.tasks"},
      {"[run]\nseed_kernel = 3\n", "run.seed_kernel: expected a list of strings"},
      {"[run]\nsearch_seed = -1\n", "run.search_seed: expected a whole number of at least 0"},
      {"[run]\nroles = [\"judges\"]\n", "unknown role 'judges'; did you mean 'judge'?"},
      {"[run]\nroles = [\"judge\", \"judge\"]\n", "the role 'judge' is named twice"},
      {"[run]\nroles = \"judge\"\n", "run.roles: expected a list of strings"},
      {"[roles]\nmemory = \"m\"\n", "unknown key 'memory' in [roles]"},
      {"[run]\nchains = 9\nproposals = 2\n", "run.chains = 9 is more than run.proposals = 2"},
      {"[run]\nuntil = \"vs_best\"\n", "dir/my.toml:2:9: run.until: expected METRIC > NUMBER"},
      {"[run]\nuntil = \"vs_best\"\n", "'vs_best' has no '>'"},
      {"[run]\nuntil = \"vs_best > fast\"\n", "column 10: 'fast' is not a positive number"},
      {"[run]\nuntil = \"vs_best > -1\"\n", "column 10: '-1' is not a positive number"},
      {"[run]\nuntil = \"of_light > 95\"\n", "column 11: '95' is not a number between 0 and 1"},
      {"[run]\nuntil = \"vs_bst > 1.1\"\n",
       "column 1: 'vs_bst' is no metric; did you mean 'vs_best'?"},
      {"[run]\nuntil = \"speedup < 2\"\n", "a metric is vs_best, of_light (below 1, the speed of "
                                           "light) or speedup; 'speedup < 2' has no '>'"},
  };
  for (const Mistake& item : mistakes) {
    EXPECT_THAT(mistake(item.text), HasSubstr(item.message)) << item.text;
  }
}

TEST(Config, EachStrategyIsAWordAndHasAChapter) {
  const std::string page = read_file(
      std::filesystem::path(WINNOW_SOURCE_DIR) / "docs/strategies.md", std::uint64_t{1} << 20U);
  for (const search::Preset& own : search::presets()) {
    EXPECT_EQ(parse("[run]\nstrategy = \"" + own.name + "\"\n").strategy, own.name);
    EXPECT_THAT(page, HasSubstr("\n## " + own.name + "\n"));
    EXPECT_THAT(page, HasSubstr(own.source));
    for (const std::string& role : own.roles) {
      EXPECT_THAT(page, HasSubstr(role)) << own.name;
    }
  }
}

TEST(Config, BeginsFromOneKernelOfTheUsersOrSeveral) {
  const std::string task = "[run]\ntasks = [\"axpy\"]\n";
  EXPECT_EQ(parse(task + "seed_kernel = \"@7\"\n").seed_kernels, std::vector<std::string>{"@7"});
  const RunConfig two = parse(task + "strategy = \"fsr\"\nseed_kernel = [\"/a/k.cu\", \"@7\"]\n");
  EXPECT_THAT(two.seed_kernels, testing::ElementsAre("/a/k.cu", "@7"));
  EXPECT_THAT(parse(task + "seed_kernel = \"\"\n").seed_kernels, testing::IsEmpty());
}

TEST(Config, ReportsAllMistakesAtOnce) {
  const std::string text = mistake("[run]\nproposal = 3\nnam = 1\n");
  EXPECT_THAT(text, HasSubstr("'proposals'"));
  EXPECT_THAT(text, HasSubstr("'name'"));
}

TEST(Config, RefusesKeysAndDoesNotRepeatThem) {
  const std::string secret = "sk-verysecret";
  const std::string in_file = mistake("[endpoint]\napi_key = \"" + secret + "\"\n");
  EXPECT_THAT(in_file, HasSubstr("a config must not hold a key"));
  EXPECT_THAT(in_file, testing::Not(HasSubstr(secret)));
  const std::string as_name = mistake("[endpoint]\napi_key_env = \"" + secret + "\"\n");
  EXPECT_THAT(as_name, HasSubstr("keys come from the environment"));
  EXPECT_THAT(as_name, testing::Not(HasSubstr(secret)));
  const std::string as_override = mistake("", {{"endpoint.api_key", secret}});
  EXPECT_THAT(as_override, HasSubstr("a config must not hold a key"));
  EXPECT_THAT(as_override, testing::Not(HasSubstr(secret)));
}

TEST(Config, OverridesWin) {
  const RunConfig config =
      parse("[run]\nproposals = 3\ndevice = \"cuda\"\n", {{"run.proposals", "5"},
                                                          {"run.device", "cpu"},
                                                          {"limits.wall_time", "2m"},
                                                          {"run.tasks", "[\"axpy\"]"}});
  EXPECT_EQ(config.proposals, 5);
  EXPECT_EQ(config.evaluation.device, "cpu");
  EXPECT_EQ(config.limits.wall_time, std::chrono::minutes(2));
  EXPECT_EQ(config.tasks, std::vector<std::string>{"axpy"});
}

TEST(Config, OverridesAreChecked) {
  EXPECT_THAT(mistake("", {{"run.proposal", "5"}}), HasSubstr("did you mean 'run.proposals'?"));
  EXPECT_THAT(mistake("", {{"run.proposals", "many"}}), HasSubstr("expected a whole number"));
  EXPECT_THAT(mistake("", {{"limits.calls", "-1", "--max-calls"}}),
              HasSubstr("--max-calls -1: expected a whole number of at least 0"));
  EXPECT_THROW(parse_override("run.proposals"), UsageError);
  EXPECT_EQ(parse_override("a.b = c=d").value, "c=d");
}

TEST(Config, AnOptionsTextIsNoToml) {
  EXPECT_EQ(parse("", {{"run.name", "5", "--name", true}}).name, "5");
}

/// The keys of the table in docs/configuration.md, with the text of their defaults.
std::map<std::string, std::string> documented_defaults() {
  std::map<std::string, std::string> keys;
  const std::string page =
      read_file(std::string(WINNOW_SOURCE_DIR) + "/docs/configuration.md", 1U << 20U);
  for (const std::string_view line : split_lines(page)) {
    const std::size_t cell = line.find('|', 1);
    if (!line.starts_with("| `") || cell == std::string_view::npos) {
      continue;
    }
    std::string value(trim(line.substr(cell + 1, line.find('|', cell + 1) - cell - 1)));
    std::erase(value, '`');
    for (std::size_t at = line.find('`'); at < cell; at = line.find('`', at)) {
      const std::size_t end = line.find('`', at + 1);
      keys[std::string(line.substr(at + 1, end - at - 1))] = value;
      at = end + 1;
    }
  }
  return keys;
}

TEST(Config, ItsPageListsEveryKeyWithItsDefault) {
  std::map<std::string, std::string> documented = documented_defaults();
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.section + "." + key.name;
    ASSERT_TRUE(documented.contains(name)) << name;
    const nlohmann::json value = nlohmann::json::parse(documented[name], nullptr, false);
    const nlohmann::json usual = key.get(RunConfig{});
    if (!value.is_discarded()) {
      EXPECT_EQ(value, usual) << name;
    } else if (name != "run.name" && name != "run.store") { // these depend on the file
      EXPECT_TRUE(usual.is_null() || usual == "") << name << ": " << usual;
    }
    documented.erase(name);
  }
  EXPECT_THAT(documented, testing::IsEmpty());
}

TEST(Config, FindsFilesBesideItself) {
  const TemporaryDirectory directory("config-test");
  write_file_atomic(directory.path() / "replies.jsonl", "");
  const RunConfig config =
      parse_config("[endpoint]\nfile = \"replies.jsonl\"\n", directory.path() / "my.toml", {});
  EXPECT_EQ(config.endpoint.file, (directory.path() / "replies.jsonl").string());
}

TEST(Config, AMissingFileIsAUsageError) {
  EXPECT_THROW(load_config("/nonexistent/x.toml", {}), UsageError);
  EXPECT_EQ(find_config("given.toml"), "given.toml");
  EXPECT_THROW(find_config("nosuch"), UsageError);
}

TEST(Config, AWordIsAConfigThatComesWithWinnow) {
  EXPECT_EQ(find_config("live").filename(), "live.toml");
  EXPECT_EQ(find_config(""), find_config("quickstart"));
}

TEST(Config, ItsStoreIsTheUsers) {
  const TemporaryDirectory directory("config-test");
  const char* before = std::getenv("XDG_DATA_HOME");
  const std::string kept = before != nullptr ? before : "";
  ASSERT_EQ(setenv("XDG_DATA_HOME", directory.path().c_str(), 1), 0);
  EXPECT_EQ(parse_config("", "somewhere/my.toml", {}).store,
            (directory.path() / "winnow/my.db").string());
  ASSERT_EQ(
      before != nullptr ? setenv("XDG_DATA_HOME", kept.c_str(), 1) : unsetenv("XDG_DATA_HOME"), 0);
}

TEST(Duration, ReadsUnits) {
  EXPECT_EQ(parse_duration("90"), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_duration("1.5h"), std::chrono::minutes(90));
  EXPECT_EQ(parse_duration("0"), std::chrono::milliseconds(0));
  for (const char* bad : {"", "m", "-1s", "10 m", "5x", "nan", "inf", "1e300"}) {
    EXPECT_FALSE(parse_duration(bad)) << bad;
  }
}

TEST(Duration, IsShortForPeople) {
  EXPECT_EQ(format_duration(std::chrono::milliseconds(850)), "850 ms");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(12'340)), "12.3 s");
  EXPECT_EQ(format_duration(std::chrono::seconds(245)), "4 min 05 s");
  EXPECT_EQ(format_duration(std::chrono::minutes(130)), "2 h 10 min");
}

} // namespace
} // namespace winnow::harness
