#include "agents/endpoints/providers.h"
#include "agents/wire/wire_format.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Providers, SpeakKnownFormats) {
  for (const Provider& provider : providers()) {
    EXPECT_NE(find_wire_format(provider.kind), nullptr) << provider.name;
    EndpointConfig config;
    config.provider = provider.name;
    resolve_provider(config);
    EXPECT_EQ(config.kind, provider.kind);
    EXPECT_EQ(config.base_url, provider.base_url);
  }
}

TEST(Providers, LeaveABaseUrlThatIsGiven) {
  EndpointConfig config;
  config.provider = "vllm";
  config.base_url = "http://gpu-box:9000/v1";
  resolve_provider(config);
  EXPECT_EQ(config.base_url, "http://gpu-box:9000/v1");
}

TEST(Providers, ReadProviderAndModel) {
  const auto [provider, model] = parse_provider_model("openrouter/z-ai/glm-5");
  EXPECT_EQ(provider, "openrouter");
  EXPECT_EQ(model, "z-ai/glm-5");
  for (const char* text : {"opnai/gpt-5", "openai", "openai/", "/gpt-5", ""}) {
    EXPECT_THROW(parse_provider_model(text), UsageError) << text;
  }
}

TEST(Providers, AKeyGoesOnlyToTheHostItIsFor) {
  EndpointConfig config;
  EXPECT_THAT(key_variables(config, "api.openai.com"), ElementsAre("OPENAI_API_KEY"));
  EXPECT_THAT(key_variables(config, "generativelanguage.googleapis.com"),
              ElementsAre("GOOGLE_API_KEY", "GEMINI_API_KEY"));
  EXPECT_THAT(key_variables(config, "evil.example.com"), IsEmpty());
  config.api_key_env = "MY_KEY";
  EXPECT_THAT(key_variables(config, "my.example.com"), ElementsAre("MY_KEY"));
}

} // namespace
} // namespace winnow::agents
