#include "agents/keys/secret_shapes.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal_of_secret(const EndpointConfig& config) {
  try {
    refuse_secrets(config);
  } catch (const UsageError& error) {
    return std::string(error.what()) + " " + error.remedy();
  }
  return "accepted";
}

TEST(SecretNames, AreKnownInAnyFormAndCase) {
  for (const char* name : {"Authorization",
                           "Proxy-Authorization",
                           "proxy-authorization ",
                           "api_key",
                           "API_KEY",
                           "X-Api-Key",
                           "x-goog-api-key",
                           "apiKey",
                           "accessToken",
                           "AccessToken",
                           "Cookie",
                           "Set-Cookie",
                           "X-Auth-Token",
                           "hf_token",
                           "client_secret",
                           "Ocp-Apim-Subscription-Key",
                           "key",
                           "token",
                           "\tX-Amz-Security-Token",
                           "db.password",
                           "privateKey",
                           "X-Signature",
                           "api_key_2",
                           "X-Api-Key-V2",
                           "API-KEYS",
                           "accesstoken",
                           "APIToken",
                           "xauthtoken",
                           "accesskey",
                           "APIKEY"}) {
    EXPECT_TRUE(names_secret(name)) << name;
  }
  for (const char* name : {"top_k",           "max_tokens",       "max_completion_tokens",
                           "stop_token_ids",  "prompt_cache_key", "chat_template_kwargs",
                           "X-Title",         "HTTP-Referer",     "anthropic-beta",
                           "OpenAI-Project",  "min_tokens",       "skip_special_tokens",
                           "monkey",          "author",           "return_token_ids",
                           "keyframes",       "tokens",           "bad_words_tokens",
                           "monkeys",         "keys_to_skip",     "top_k_2",
                           "logprob_tokens_5"}) {
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

TEST(SecretShapes, AreKnownByTheirBeginning) {
  for (const char* text :
       {"Bearer abcdefgh", "basic dXNlcjpwYXNz", "sk-proj-0123456789abcdef0123",
        "AIzaSyA0123456789abcdefghijk", "echo sk-ant-api03-0123456789abcdef",
        "https://user:pass@host/v1", "nats://token@host:4222", "a http://u@h b",
        "nats://u:pa$word@host", "ApiKey abcdefgh", "glpat-0123456789abcdefghij",
        "r8_0123456789abcdef0123", "https://gateway/sk-proj-0123456789abcdef0123/v1"}) {
    EXPECT_TRUE(looks_secret(text)) << text;
    EXPECT_TRUE(command_holds_secret(text)) << text;
  }
  for (const char* text :
       {"gpt-5-mini", "bearer of news and more", "https://host/v1@2", "risk-sk-learn", "sk-learn",
        "cat ~/.config/key", "me@example.com", "basic"}) {
    EXPECT_FALSE(looks_secret(text)) << text;
    EXPECT_FALSE(command_holds_secret(text)) << text;
  }
  for (const char* command : {"curl https://u:$PASSWORD@host", "curl https://${TOKEN}@host/key"}) {
    EXPECT_TRUE(looks_secret(command)) << command;
    EXPECT_FALSE(command_holds_secret(command)) << command;
  }
}

TEST(RefuseSecrets, LooksAtEveryPlaceThatIsStored) {
  const auto with = [](auto change) {
    EndpointConfig config;
    change(config);
    return refusal_of_secret(config);
  };
  EXPECT_EQ(refusal_of_secret(EndpointConfig{}), "accepted");
  for (const char* header : {"Proxy-Authorization: hunter2", "api_key : hunter2", " COOKIE:hunter2",
                             "X-Anything: Bearer hunter2-hunter2"}) {
    const std::string text = with([&](EndpointConfig& c) { c.extra_headers = {header}; });
    EXPECT_THAT(text, HasSubstr("holds a secret")) << header;
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  }
  for (const char* proxy :
       {"http://me:hunter2@proxy:3128", "me:hunter2@proxy", "socks5://hunter2@p",
        "http://me:hunter2$@proxy", "http://me:$hunter2@proxy"}) {
    const std::string text = with([&](EndpointConfig& c) { c.proxy = proxy; });
    EXPECT_THAT(text, HasSubstr("proxy holds a secret")) << proxy;
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  }
  for (const char* body :
       {R"({"api_key": "hunter2"})", R"({"a": [{"b": {"accessToken": "hunter2"}}]})",
        R"({"tools": [{"headers": {"x": "Bearer hunter2hunter2"}}]})"}) {
    const std::string text = with([&](EndpointConfig& c) { c.extra_body = body; });
    EXPECT_THAT(text, HasSubstr("of extra_body holds a secret")) << body;
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(with([](EndpointConfig& c) {
              c.extra_body = R"({"top_k": 20, "key": null, "stop": ["</s>"], "token": 7})";
              c.extra_headers = {"X-Title: winnow", "anthropic-beta: output-128k-2025-02-19"};
              c.proxy = "http://proxy:3128";
            }),
            "accepted");
  EXPECT_THAT(with([](EndpointConfig& c) { c.base_url = "https://h/v1?a=1&key=hunter2"; }),
              HasSubstr("and a secret in it"));
  EXPECT_THAT(with([](EndpointConfig& c) { c.base_url = "https://u:hunter2@h/v1"; }),
              AllOf(HasSubstr("contains a user or password"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(with([](EndpointConfig& c) { c.base_url = "https://u:hu$nter2@h/v1"; }),
              HasSubstr("contains a user or password"));
  EXPECT_THAT(with([](EndpointConfig& c) { c.base_url = "https://h/sk-0123456789abcdef01/v1"; }),
              HasSubstr("base_url holds a secret"));
  EXPECT_THAT(with([](EndpointConfig& c) { c.api_key_cmd = "echo sk-proj-0123456789abcdef0123"; }),
              HasSubstr("api_key_cmd holds a secret"));
}

} // namespace
} // namespace winnow::agents
