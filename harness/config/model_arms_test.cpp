#include "base/error.h"
#include "harness/config/model_arms.h"
#include "harness/run/endpoints.h"
#include "search/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using testing::HasSubstr;

constexpr const char* kTwoModels = R"(
[endpoint]
kind = "chat"
base_url = "http://localhost:8000/v1"
model = "small"
effort = "low"
temperature = 1
dollars_per_million_input = 1
dollars_per_million_output = 2
[[models]]
name = "cheap"
[[models]]
model = "large"
effort = "high"
dollars_per_million_input = 10
dollars_per_million_output = 20
)";

RunConfig config_in(const std::string& text, const std::vector<ConfigOverride>& overrides = {}) {
  return parse_config(text, "dir/my.toml", overrides);
}

std::string mistake_in(const std::string& text, const std::vector<ConfigOverride>& overrides = {}) {
  try {
    config_in(text, overrides);
  } catch (const UsageError& error) {
    return std::string(error.what()) + "\n" + error.remedy();
  }
  return "accepted";
}

std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const ModelArm& model : config_in(text).models) {
    names.push_back(model.name);
  }
  return names;
}

void expect_two_models(const RunConfig& config) {
  ASSERT_EQ(config.models.size(), 2U);
  const ModelArm& cheap = config.models[0];
  const ModelArm& large = config.models[1];
  EXPECT_EQ(cheap.name, "cheap");
  EXPECT_EQ(cheap.endpoint.model, "small");
  EXPECT_EQ(cheap.endpoint.effort, "low");
  EXPECT_EQ(run_price(cheap.endpoint)->output, 2);
  EXPECT_EQ(large.name, "large");
  EXPECT_EQ(large.endpoint.base_url, "http://localhost:8000/v1");
  EXPECT_EQ(large.endpoint.effort, "high");
  EXPECT_EQ(large.endpoint.temperature, 1);
  EXPECT_EQ(run_price(large.endpoint)->output, 20);
}

TEST(OutputLimit, IsWhatTheModelAllowsWithinTheLimits) {
  agents::Price price;
  price.output = 10;
  price.max_output_tokens = 128'000;
  agents::EndpointConfig endpoint;
  endpoint.parallel = 5;
  EXPECT_EQ(output_limit({}, endpoint, price), 128'000);
  EXPECT_EQ(output_limit({.tokens = 1'000'000}, endpoint, price), 100'000);
  EXPECT_EQ(output_limit({.dollars = 5}, endpoint, price), 50'000);
  EXPECT_EQ(output_limit({.tokens = 1000}, endpoint, price), 16'000) << "too few for a kernel";
  EXPECT_EQ(output_limit({}, endpoint, std::nullopt), 0) << "the server's default";
  endpoint.max_output_tokens = 300;
  EXPECT_EQ(output_limit({}, endpoint, price), 300);
}

TEST(ModelArms, InheritWhatTheyDoNotName) {
  expect_two_models(config_in(kTwoModels));
}

TEST(ModelArms, SurviveTheStore) {
  const nlohmann::json stored = config_to_json(config_in(kTwoModels));
  const RunConfig read = config_from_json(nlohmann::json::parse(stored.dump()));
  expect_two_models(read);
  EXPECT_EQ(config_to_json(read), stored);
}

TEST(ModelArms, OverridesOfTheEndpointAreInheritedToo) {
  RunConfig config =
      config_from_json(config_to_json(config_in(kTwoModels, {{"endpoint.temperature", "0.5"}})));
  EXPECT_EQ(config.models[1].endpoint.temperature, 0.5);
  apply_overrides(config, {{"endpoint.effort", "medium"}, {"run.parallel", "9"}});
  EXPECT_EQ(config.models[0].endpoint.effort, "medium");
  EXPECT_EQ(config.models[0].endpoint.parallel, 9);
  EXPECT_EQ(config.models[1].endpoint.effort, "high");
  EXPECT_EQ(config.models[1].name, "large") << "the log names the model";
}

TEST(ModelArms, WithoutTablesThereIsTheModelOfTheEndpoint) {
  const std::vector<ModelArm> models = models_of(config_in("[endpoint]\nmodel = \"one\"\n"));
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "");
  EXPECT_EQ(models[0].endpoint.model, "one");
  EXPECT_FALSE(config_to_json(config_in("")).contains("models"));
}

TEST(ModelArms, EqualNamesGetTheEffort) {
  EXPECT_THAT(names_in("[[models]]\nmodel = \"m\"\neffort = \"low\"\n"
                       "[[models]]\nmodel = \"m\"\neffort = \"high\"\n"
                       "[[models]]\nmodel = \"n\"\neffort = \"high\"\n"),
              testing::ElementsAre("m low", "m high", "n"));
}

TEST(ModelArms, AnotherProviderInheritsNoUrlAndNoKey) {
  const RunConfig config = config_in("[endpoint]\nkind = \"chat\"\napi_key_env = \"MINE\"\n"
                                     "base_url = \"http://localhost:8000/v1\"\nmodel = \"m\"\n"
                                     "[[models]]\nprovider = \"openai\"\nmodel = \"n\"\n"
                                     "[[models]]\nkind = \"replay\"\nname = \"old\"\n");
  EXPECT_EQ(config.models[0].endpoint.base_url, "");
  EXPECT_EQ(config.models[0].endpoint.api_key_env, "");
  EXPECT_EQ(config.models[1].endpoint.kind, "replay");
}

struct WrongTables {
  const char* text;
  const char* message;
};

TEST(ModelArms, SayWhereAndWhatIsWrong) {
  const WrongTables mistakes[] = {
      {"[[models]]\nmodl = \"m\"\n",
       "dir/my.toml:2:1: unknown key 'modl' in [[models]]; did you mean 'model'?"},
      {"[[models]]\nnam = \"m\"\n", "did you mean 'name'?"},
      {"[[models]]\nname = \"\"\n", "dir/my.toml:2:8: models.name: expected a string"},
      {"[[models]]\nmodel = 3\n", "dir/my.toml:2:9: models.model: expected a string"},
      {"[[models]]\nmodel = \"m\"\n[[models]]\n",
       "dir/my.toml:3:1: this table of [[models]] is empty"},
      {"models = 3\n", "expected [[models]]"},
      {"[models]\nname = \"m\"\n", "expected [[models]]"},
      {"[[model]]\nname = \"m\"\n", "did you mean 'models'?"},
      {"[[models]]\nname = \"m\"\n[[models]]\nname = \"m\"\n",
       "dir/my.toml:3:1: two tables of [[models]] have the name 'm'; the other one is at "
       "dir/my.toml:1:1"},
      {"[[models]]\nmodel = \"m\"\n[[models]]\nmodel = \"m\"\nstream = false\n",
       "two tables of [[models]] have the name 'm'"},
      {"[[models]]\napi_key = \"sk-verysecret\"\n", "a config must not hold a key"},
      {"[[models]]\napi_key_env = \"sk-verysecret\"\n", "keys come from the environment"},
  };
  for (const WrongTables& item : mistakes) {
    const std::string text = mistake_in(item.text);
    EXPECT_THAT(text, HasSubstr(item.message)) << item.text;
    EXPECT_THAT(text, testing::Not(HasSubstr("verysecret"))) << item.text;
  }
}

TEST(ModelArms, TheModelOfARoleWritesNoKernels) {
  const std::string text = std::string(kTwoModels) + "name = \"wise\"\n[[models]]\n"
                                                     "model = \"third\"\n[roles]\njudge = ";
  const RunConfig config = config_in(text + "\"cheap\"");
  std::vector<std::string> names;
  for (const ModelArm& model : models_of(config)) {
    names.push_back(model.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("wise", "third", "cheap")) << "writers come first";
  EXPECT_TRUE(is_model_of_a_role(config, "cheap"));
  EXPECT_FALSE(is_model_of_a_role(config, "wise"));
  EXPECT_EQ(config_from_json(config_to_json(config)).role_models, config.role_models);
  EXPECT_THAT(mistake_in(text + "\"cheep\""),
              HasSubstr("roles.judge = 'cheep' names no table of [[models]]"));
  EXPECT_THAT(mistake_in(text + "\"cheap\"\nverifier = \"wise\"\nmeta-prompter = \"third\""),
              HasSubstr("no model writes kernels"));
}

TEST(ModelArms, RolesAreThoseOfTheStrategyUnlessTheConfigNamesThem) {
  EXPECT_EQ(roles_of(config_in("")), search::preset("one-plus-one").roles);
  EXPECT_THAT(roles_of(config_in("[run]\nroles = []")), testing::IsEmpty());
  const RunConfig config = config_in("[run]\nroles = [\"judge\", \"memory\"]");
  EXPECT_THAT(roles_of(config), testing::ElementsAre("judge", "memory"));
  EXPECT_EQ(roles_of(config_from_json(config_to_json(config))), roles_of(config));
}

TEST(ModelArms, OneModelOnTheCommandLineIsRefused) {
  EXPECT_THAT(mistake_in(kTwoModels, {{"endpoint.model", "m", "--model", true}}),
              HasSubstr("--model names one model, but the config has several in [[models]]"));
}

} // namespace
} // namespace winnow::harness
