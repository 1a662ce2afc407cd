#include "agents/money/price.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

Price full_price() {
  Price price;
  price.input = 3;
  price.output = 15;
  price.cached_input = 0.3;
  price.cache_write = 3.75;
  price.source = "a page";
  price.tiers = {{200'000, 6, 22.5, 0.6, std::nullopt}, {500'000, 12, 45, std::nullopt, 15}};
  return price;
}

Usage usage(std::int64_t prompt, std::int64_t cached, std::int64_t written,
            std::int64_t completion) {
  Usage result;
  result.prompt_tokens = prompt;
  result.cached_tokens = cached;
  result.cache_write_tokens = written;
  result.completion_tokens = completion;
  result.reasoning_tokens = completion / 2; // part of the completion: not paid twice
  return result;
}

TEST(Price, EachKindOfTokenHasItsOwn) {
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(100'000, 0, 0, 0)), 0.3);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(100'000, 100'000, 0, 0)), 0.03);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(100'000, 0, 100'000, 0)), 0.375);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(0, 0, 0, 100'000)), 1.5);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(100'000, 40'000, 20'000, 1000)),
                   0.12 + 0.012 + 0.075 + 0.015);
}

TEST(Price, WhatIsAbsentCostsAsMuchAsInput) {
  Price price;
  price.input = 2;
  price.output = 8;
  EXPECT_DOUBLE_EQ(cost(price, usage(100'000, 50'000, 25'000, 0)), 0.2);
}

TEST(Price, TheTierOfAPromptHoldsForAllOfItsTokens) {
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(200'000, 0, 0, 1000)), 0.6 + 0.015);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(200'001, 0, 0, 1000)), 1.200006 + 0.0225);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(200'001, 0, 200'001, 0)), 1.200006)
      << "a tier without a price for writing";
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(600'000, 600'000, 0, 0)), 7.2);
}

TEST(Price, NonsensicalCountsCostNothingExtra) {
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(100'000, 200'000, 300'000, 0)), 0.03);
  EXPECT_DOUBLE_EQ(cost(full_price(), usage(-5, -5, -5, -5)), 0);
}

TEST(Price, TheHighestCostIsThatOfAPromptThatIsCached) {
  EXPECT_DOUBLE_EQ(highest_cost(full_price(), 100'000, 1000), 0.375 + 0.015);
  Price price = full_price();
  price.cache_write = 0.5;
  EXPECT_DOUBLE_EQ(highest_cost(price, 100'000, 1000), 0.3 + 0.015);
}

TEST(Price, IsReadAsItWasWritten) {
  const auto again = price_from_json(nlohmann::json::parse(price_json(full_price()).dump()));
  ASSERT_TRUE(again);
  EXPECT_EQ(price_json(*again), price_json(full_price()));
  EXPECT_EQ(again->source, "a page");
  ASSERT_EQ(again->tiers.size(), 2U);
  EXPECT_EQ(again->tiers[1].above_prompt_tokens, 500'000);
  EXPECT_FALSE(again->tiers[1].cached_input);
  EXPECT_EQ(again->tiers[1].cache_write, 15);
}

TEST(Price, OtherJsonIsNoPrice) {
  for (const char* text :
       {"null", "[]", "{}", R"({"input":1})", R"({"input":-1,"output":1})",
        R"({"input":"1","output":1})", R"({"input":1,"output":1,"cached_input":null})",
        R"({"input":1,"output":1,"tiers":[{"input":1,"output":1}]})",
        R"({"input":1,"output":1,"tiers":[7]})"}) {
    EXPECT_FALSE(price_from_json(nlohmann::json::parse(text))) << text;
  }
}

} // namespace
} // namespace winnow::agents
