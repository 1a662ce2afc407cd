#include "agents/endpoints/endpoint_factory.h"
#include "agents/endpoints/live_endpoint_fixture.h"
#include "agents/http/url.h"
#include "base/availability.h"
#include "base/error.h"
#include "base/files.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const EndpointConfig& config) {
  try {
    make_endpoint(config);
  } catch (const UsageError& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(MakeEndpoint, RefusesABaseUrlThatIsNone) {
  for (const char* url : {"not a url", "ftp://host/v1", "file:///etc/passwd", "http://",
                          "localhost:8000/v1", "https://exa mple.com/v1"}) {
    EXPECT_THAT(refusal(config_for(url)), HasSubstr("is not an http or https URL")) << url;
  }
  EXPECT_THAT(refusal(config_for("https://h/v1?key=x")),
              HasSubstr("has a query (?...) or a fragment (#...)"));
  const std::string with_password = refusal(config_for("https://user:hunter2@h/v1"));
  EXPECT_THAT(with_password, HasSubstr("contains a user or password"));
  EXPECT_THAT(with_password, Not(HasSubstr("hunter2")));
}

TEST(ConnectProbe, TellsWhetherAServerListens) {
  std::string url;
  {
    const tests::FakeEndpoint server(std::vector<tests::FakeReply>(1));
    url = server.base_url();
    EXPECT_TRUE(accepts_connections(url));
  }
  EXPECT_FALSE(accepts_connections(url));
}

TEST(MakeEndpoint, RefusesAMissingOrUnusableKey) {
  EndpointConfig config = config_for("https://api.example.com/v1");
  EXPECT_EQ(refusal(config), "accepted");
  config.api_key_env = "WINNOW_TEST_NO_SUCH_KEY";
  EXPECT_EQ(refusal(config), "no key for api.example.com: the environment variable "
                             "WINNOW_TEST_NO_SUCH_KEY is not set");
  setenv("WINNOW_TEST_BAD_KEY", "sk-1\r\nX-Injected: 1", 1);
  config.api_key_env = "WINNOW_TEST_BAD_KEY";
  EXPECT_THAT(refusal(config),
              HasSubstr("the key from the environment variable WINNOW_TEST_BAD_KEY holds a space"));
  EXPECT_THAT(refusal(config), Not(HasSubstr("sk-1")));
}

TEST(MakeEndpoint, RefusesUnknownKindsNumbersAndFiles) {
  EndpointConfig config;
  config.kind = "antropic";
  EXPECT_EQ(refusal(config), "[endpoint] unknown kind 'antropic'; did you mean 'anthropic'?");
  config.kind = "openai";
  EXPECT_EQ(refusal(config), "[endpoint] kind: 'openai' is a provider, not a kind");
  config.kind = "replay";
  config.file = "/nonexistent.jsonl";
  EXPECT_THAT(refusal(config), HasSubstr("no such file: /nonexistent.jsonl"));
  config.parallel = 0;
  EXPECT_EQ(refusal(config), "[endpoint] parallel is 0; expected 1 to 1024");
  config = config_for("https://api.example.com/v1");
  config.model = "";
  EXPECT_EQ(refusal(config), "the endpoint has no model");
}

TEST(ProbeEndpoint, SaysWhatIsMissingWithoutCalling) {
  EndpointConfig config = config_for("https://api.example.com/v1");
  const Availability ready = probe_endpoint(config);
  EXPECT_TRUE(ready.ok);
  EXPECT_EQ(ready.detail, "api.example.com/v1, key in the environment variable WINNOW_TEST_KEY");
  config.api_key_env = "WINNOW_TEST_NO_SUCH_KEY";
  const Availability missing = probe_endpoint(config);
  EXPECT_FALSE(missing.ok);
  EXPECT_THAT(missing.why, HasSubstr("WINNOW_TEST_NO_SUCH_KEY is not set"));
  EXPECT_THAT(missing.remedy, HasSubstr("export WINNOW_TEST_NO_SUCH_KEY"));
  const TemporaryDirectory directory("probe");
  config.kind = "replay";
  config.file = (directory.path() / "calls.jsonl").string();
  EXPECT_FALSE(probe_endpoint(config).ok);
  std::ofstream(config.file) << "\n";
  EXPECT_TRUE(probe_endpoint(config).ok);
}

TEST(EndpointWarning, TellsThatAKeyGoesUnencryptedToAnotherMachine) {
  EXPECT_THAT(endpoint_warning(config_for("http://gpu.example.com:8000/v1")),
              HasSubstr("the key goes unencrypted to gpu.example.com:8000/v1"));
  EXPECT_THAT(endpoint_warning(config_for("http://127.evil.example/v1")), HasSubstr("unencrypted"));
  for (const char* url : {"https://gpu.example.com/v1", "http://localhost:8000/v1",
                          "http://127.0.0.2/v1", "http://[::1]:8000/v1"}) {
    EXPECT_EQ(endpoint_warning(config_for(url)), "") << url;
  }
}

} // namespace
} // namespace winnow::agents
