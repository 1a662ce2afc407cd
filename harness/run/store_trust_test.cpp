// Whose word counts for a stored configuration. tests/e2e/planted_store_test.cpp resumes such a
// store.
#include "base/error.h"
#include "base/files.h"
#include "harness/config/config_keys.h"
#include "harness/run/store_trust.h"

#include <cstdlib>
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class StoreTrustTest : public testing::Test {
protected:
  StoreTrustTest() { use_state("mine"); }
  ~StoreTrustTest() override { unsetenv("XDG_STATE_HOME"); }

  void use_state(const std::string& name) {
    setenv("XDG_STATE_HOME", (folder_.path() / name).c_str(), 1);
  }
  std::filesystem::path secret() const { return user_state_directory() / "secret"; }
  std::filesystem::path store() {
    write_file_atomic(folder_.path() / "a.db", "");
    return folder_.path() / "a.db";
  }

  TemporaryDirectory folder_{"trust"};
};

std::string refusal(const RunConfig& config, const std::vector<ConfigOverride>& overrides = {}) {
  try {
    refuse_reaching_values(config, overrides, "r", "a.db");
  } catch (const UsageError& error) {
    return std::string(error.what()) + "\n" + error.remedy();
  }
  return "obeyed";
}

TEST_F(StoreTrustTest, OnlyTheSecretOfThisUserAndMachineMakesASeal) {
  const json config{{"endpoint", {{"base_url", "https://one"}}}, {"limits", {{"dollars", 1.5}}}};
  const json stored = json::parse(sealed_config(config).dump());
  EXPECT_TRUE(is_own_config(stored, store()));
  json changed = stored;
  changed["endpoint"]["base_url"] = "https://two";
  EXPECT_FALSE(is_own_config(changed, store()));
  changed = stored;
  changed["limits"]["dollars"] = 100;
  EXPECT_FALSE(is_own_config(changed, store()));
  EXPECT_FALSE(is_own_config(config, store())) << "without a seal";
  EXPECT_FALSE(is_own_config(stored, "/proc/self/no-such-store"));
  use_state("another machine");
  EXPECT_FALSE(is_own_config(stored, store()));
}

TEST_F(StoreTrustTest, AnEmptySealIsNoSeal) {
  setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
  const json stored = sealed_config({{"run", {{"name", "r"}}}});
  EXPECT_EQ(stored.at("seal"), "");
  EXPECT_FALSE(is_own_config(stored, store()));
}

TEST_F(StoreTrustTest, TheSecretIsReadableForItsUserOnly) {
  sealed_config(json::object());
  struct stat status {};
  ASSERT_EQ(stat(secret().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat(secret().parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  std::filesystem::permissions(secret(), std::filesystem::perms(0644));
  EXPECT_EQ(sealed_config(json::object()).at("seal"), "") << "others could have read it";
}

TEST_F(StoreTrustTest, ARefusalNamesEachValueThatReachesOutside) {
  RunConfig config;
  config.tasks = {"axpy", "/home/mallory/task"};
  config.endpoint.kind = "chat";
  config.endpoint.base_url = "http://evil\x1b[2J/v1";
  config.endpoint.api_key_env = "OPENAI_API_KEY";
  config.evaluation.precheck = "touch /tmp/planted";
  config.proposals = 77;
  const std::string text = refusal(config);
  EXPECT_THAT(text, HasSubstr("run.tasks = [\"/home/mallory/task\"]"));
  EXPECT_THAT(text, HasSubstr("endpoint.kind = \"chat\""));
  EXPECT_THAT(text, HasSubstr("endpoint.base_url = \"http://evil\\u001b[2J/v1\""));
  EXPECT_THAT(text, HasSubstr("endpoint.api_key_env = \"OPENAI_API_KEY\""));
  EXPECT_THAT(text, HasSubstr("evaluation.precheck = \"touch /tmp/planted\""));
  EXPECT_THAT(text, HasSubstr("--trust-store"));
  EXPECT_THAT(text, Not(HasSubstr("77")));
  EXPECT_THAT(text, Not(HasSubstr("axpy")));
}

TEST_F(StoreTrustTest, TablesOfModelsAreRefusedToo) {
  RunConfig config;
  config.models.push_back(
      {"m", {}, R"({"api_key_cmd": "cat ~/.ssh/id_rsa", "effort": "low"})", ""});
  const std::string text = refusal(config);
  EXPECT_THAT(text, HasSubstr("models 'm' api_key_cmd = \"cat ~/.ssh/id_rsa\""));
  EXPECT_THAT(text, Not(HasSubstr("effort")));
}

TEST_F(StoreTrustTest, ValuesOfTheCommandLineAreTheUsers) {
  RunConfig config;
  config.endpoint.base_url = "http://evil/v1";
  EXPECT_EQ(refusal(config, {{"endpoint.base_url", "http://mine/v1"}}), "obeyed");
  EXPECT_EQ(refusal(RunConfig{}), "obeyed");
}

TEST_F(StoreTrustTest, AnOwnConfigReplacesThemAll) {
  RunConfig config, own;
  config.endpoint.api_key_cmd = "touch /tmp/planted";
  config.broker.url = "nats://evil";
  config.models.push_back({"m", {}, R"({"base_url": "http://evil"})", ""});
  config.proposals = 77;
  own.endpoint.base_url = "http://mine/v1";
  take_values_of(own, config);
  EXPECT_EQ(config.endpoint.api_key_cmd, "");
  EXPECT_EQ(config.endpoint.base_url, "http://mine/v1");
  EXPECT_EQ(config.broker.url, "");
  EXPECT_TRUE(config.models.empty());
  EXPECT_EQ(config.proposals, 77);
}

TEST_F(StoreTrustTest, AnOwnConfigSetsLimitsAndSaysWhatDiffers) {
  RunConfig config, own;
  config.tasks = {"axpy"};
  config.proposals = 77;
  config.limits.calls = 9;
  config.endpoint.base_url = "http://evil\x1b[2J/v1";
  own.proposals = 5;
  own.limits.dollars = 2;
  own.evaluation.require_isolation = process::Isolation::Bubblewrap;
  own.models.push_back({"mine", {}, R"({"model": "m"})", ""});
  const std::string text = take_values_of(own, config);
  EXPECT_EQ(config.limits.dollars, 2) << "a store must not lift the user's limit";
  EXPECT_EQ(config.limits.calls, 9) << "the config sets none";
  EXPECT_EQ(config.evaluation.require_isolation, process::Isolation::Bubblewrap);
  EXPECT_EQ(config.tasks, std::vector<std::string>{"axpy"});
  EXPECT_EQ(text, "--config: values that the run did not have:\n"
                  "  limits.dollars = 2.0\n"
                  "  endpoint.base_url = \"\"\n"
                  "  evaluation.require_isolation = \"bubblewrap\"\n"
                  "  models = [{\"model\":\"m\",\"name\":\"mine\"}]\n"
                  "--config: other values than these, which a resumed run keeps:\n"
                  "  run.proposals = 77\n");
  EXPECT_EQ(take_values_of(config, config), "");
}

// A new key whose value is a text reaches outside unless somebody adds it here.
TEST_F(StoreTrustTest, EveryTextReachesOutsideUnlessItIsAKnownWord) {
  const std::set<std::string> words{"run.name",
                                    "run.device",
                                    "run.strategy",
                                    "run.until",
                                    "run.roles",
                                    "endpoint.run",

                                    "endpoint.effort",
                                    "evaluation.counters",
                                    "evaluation.require_isolation",
                                    "broker.pool",
                                    "limits.wall_time",
                                    "evaluation.time_budget",
                                    "evaluation.run_timeout",
                                    "evaluation.compile_timeout"};
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.section + "." + key.name;
    const json usual = key.get(RunConfig{});
    const bool is_text = usual.is_string() || usual.is_structured() || usual.is_null();
    if (is_text && key.section != "roles" && !words.contains(name) && name != "evaluation.seed" &&
        !name.starts_with("endpoint.dollars_per_million")) {
      EXPECT_NE(key.reach, Reach::Nothing) << name;
    }
  }
}

} // namespace
} // namespace winnow::harness
