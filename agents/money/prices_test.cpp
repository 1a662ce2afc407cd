#include "agents/money/prices.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kFile = R"(date = "2026-11-20"

[[price]]
host = "API.example.com"
model = "claude-opus-4"
input = 15
output = 75
cached_input = 1.5
cache_write = 18.75
date = "2026-10-01"
source = "https://example.com/pricing"

[[price]]
host = "api.example.com"
model = "claude-opus-4-1"
max_output = 32_000
input = 14
output = 70

[[price]]
host = "api.example.com"
model = "gemini-2.5-pro"
input = 1.25
output = 10
tiers = [{ above = 200_000, input = 2.5, output = 15 }]
)";

double input_price(std::string_view model, std::string_view host = "api.example.com") {
  const auto price = find_price(parse_prices(kFile, "prices.toml"), host, model);
  return price ? price->input : -1;
}

TEST(Prices, AreReadWithTheirSource) {
  const PriceTable table = parse_prices(kFile, "prices.toml");
  EXPECT_EQ(table.date, "2026-11-20");
  ASSERT_EQ(table.entries.size(), 3U);
  const Price& price = table.entries[0].price;
  EXPECT_EQ(price.output, 75);
  EXPECT_EQ(price.cached_input, 1.5);
  EXPECT_EQ(price.cache_write, 18.75);
  EXPECT_EQ(price.source, "prices.toml, 2026-10-01: https://example.com/pricing");
  EXPECT_EQ(table.entries[1].price.source, "prices.toml, 2026-11-20");
  EXPECT_FALSE(table.entries[1].price.cached_input);
  ASSERT_EQ(table.entries[2].price.tiers.size(), 1U);
  EXPECT_EQ(table.entries[2].price.tiers[0].above_prompt_tokens, 200'000);
  EXPECT_EQ(table.entries[2].price.tiers[0].output, 15);
}

TEST(Prices, HoldForTheModelAtItsHostOnly) {
  EXPECT_EQ(input_price("claude-opus-4"), 15);
  EXPECT_EQ(input_price("claude-opus-4", "Api.Example.com"), 15);
  EXPECT_EQ(input_price("claude-opus-4", "other.example.com"), -1);
  EXPECT_EQ(input_price("Claude-Opus-4"), -1);
}

TEST(Prices, HoldForDatedVersionsOfTheModel) {
  EXPECT_EQ(input_price("claude-opus-4-20250514"), 15);
  EXPECT_EQ(input_price("claude-opus-4-2025-05-14"), 15);
  EXPECT_EQ(input_price("claude-opus-4-latest"), 15);
  EXPECT_EQ(input_price("gemini-2.5-pro-001"), 1.25);
  EXPECT_EQ(input_price("gemini-2.5-pro-06-05"), 1.25);
  EXPECT_EQ(input_price("claude-opus-4-1-20250805"), 14) << "the longest that fits";
}

TEST(Prices, OfAnotherModelAreUnknown) {
  for (const char* model :
       {"claude-opus", "claude-opus-4-5", "claude-opus-4-5-20251101", "claude-opus-40",
        "claude-opus-4-mini", "gemini-2.5-pro-preview", "gemini-2.5-pro-", ""}) {
    EXPECT_EQ(input_price(model), -1) << model;
  }
}

std::string error_of(const std::string& text) {
  try {
    parse_prices(text, "p.toml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Prices, MistakesAreNamedWithTheirPlace) {
  const std::string head = "date = \"2026-11-20\"\n";
  const std::string entry = head + "[[price]]\nhost = \"h\"\nmodel = \"m\"\n";
  EXPECT_EQ(error_of(head), "no error");
  EXPECT_EQ(error_of(entry + "input = 1\noutput = 2\n"), "no error");
  EXPECT_THAT(error_of(""), HasSubstr("'date' is missing"));
  EXPECT_THAT(error_of("date = \"soon\""),
              StartsWith("p.toml:1:8: 'soon' is not a date; expected"));
  EXPECT_THAT(error_of(head + "prices = 1"), HasSubstr("p.toml:2:1: unknown key 'prices'"));
  EXPECT_THAT(error_of(head + "[price]\n"), HasSubstr("p.toml:2:"));
  EXPECT_THAT(error_of(entry + "input = 1\n"), HasSubstr("'price[0].output' is missing"));
  EXPECT_THAT(error_of(entry + "input = -1\noutput = 2\n"),
              StartsWith("p.toml:5:9: 'input' is -1; expected US dollars per million tokens"));
  EXPECT_THAT(error_of(entry + "input = \"$1\"\noutput = 2\n"), StartsWith("p.toml:5:9: "));
  EXPECT_THAT(error_of(entry + "input = nan\noutput = 2\n"), StartsWith("p.toml:5:9: "));
  EXPECT_THAT(error_of(entry + "input = 1\noutput = 2\ncached = 1\n"),
              HasSubstr("unknown key 'cached'"));
  EXPECT_THAT(
      error_of(entry + "input = 1\noutput = 2\ntiers = [{above = 0, input = 1, output = 1}]"),
      HasSubstr("'above' is 0"));
  EXPECT_THAT(error_of(head + "[[price]]\nhost = \"https://h/v1\"\n"),
              StartsWith("p.toml:3:8: 'https://h/v1' is not a host"));
  EXPECT_THAT(error_of(entry + "input = 1\noutput = 2\n[[price]]\nhost = \"H\"\nmodel = \"m\"\n"
                               "input = 1\noutput = 2\n"),
              StartsWith("p.toml:9:9: price[0] already has the price of 'm' at h"));
}

TEST(Prices, TheShippedFileIsGood) {
  const PriceTable table =
      load_prices(std::filesystem::path(WINNOW_SOURCE_DIR) / "configs" / "prices.toml");
  EXPECT_FALSE(table.entries.empty());
  for (const PriceEntry& entry : table.entries) {
    EXPECT_THAT(entry.price.source, HasSubstr("https://")) << entry.model << " has no source";
    EXPECT_TRUE(find_price(table, entry.host, entry.model)) << entry.model;
  }
}

} // namespace
} // namespace winnow::agents
