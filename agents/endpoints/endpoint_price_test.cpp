#include "agents/endpoints/endpoint_setup.h"
#include "base/error.h"
#include "base/files.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

class PriceFiles : public ::testing::Test {
protected:
  PriceFiles() {
    setenv("XDG_CONFIG_HOME", directory_.path().c_str(), 1);
    std::filesystem::create_directories(directory_.path() / "winnow");
  }
  ~PriceFiles() override { unsetenv("XDG_CONFIG_HOME"); }

  void write_users_file(const std::string& text) const {
    write_file_atomic(directory_.path() / "winnow" / "prices.toml", text);
  }

  TemporaryDirectory directory_{"prices"};
  EndpointConfig config_;
};

TEST_F(PriceFiles, TheUsersFileComesFirst) {
  write_users_file("date = \"2026-11-20\"\n[[price]]\nhost = \"h\"\nmodel = \"m\"\ninput = 1\n"
                   "output = 2\n");
  ASSERT_FALSE(price_files(config_).empty());
  EXPECT_EQ(price_files(config_)[0], directory_.path() / "winnow" / "prices.toml");
  ASSERT_TRUE(endpoint_price(config_, "h", "m"));
  EXPECT_EQ(endpoint_price(config_, "h", "m")->output, 2);
  EXPECT_FALSE(endpoint_price(config_, "h", "other")) << "unknown, and not free";
}

TEST_F(PriceFiles, AFileThatIsNamedIsTheOnlyOne) {
  write_users_file("nonsense");
  config_.prices = directory_.path() / "mine.toml";
  EXPECT_THROW(endpoint_price(config_, "h", "m"), UsageError) << "there is none";
  write_file_atomic(config_.prices, "date = \"2026-11-20\"\n");
  EXPECT_FALSE(endpoint_price(config_, "h", "m"));
}

TEST_F(PriceFiles, TheEndpointsOwnPricesComeBeforeAnyFile) {
  write_users_file("nonsense");
  config_.dollars_per_million_input = 1;
  EXPECT_THROW(endpoint_price(config_, "h", "m"), UsageError) << "half a price is a mistake";
  config_.dollars_per_million_output = 4;
  ASSERT_TRUE(endpoint_price(config_, "h", "m"));
  EXPECT_EQ(endpoint_price(config_, "h", "m")->output, 4);
  EXPECT_EQ(endpoint_price(config_, "h", "m")->source, "[endpoint]");
}

} // namespace
} // namespace winnow::agents
