// Precompiled: what most tests include. See headers.h.
#pragma once

#include "cmake/headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::precompiled {

inline void use_matchers(const nlohmann::json& json, const std::string& text,
                         const std::vector<std::string>& texts) {
  EXPECT_EQ(json, json);
  EXPECT_EQ(json, 1);
  EXPECT_EQ(json, 1.5);
  EXPECT_EQ(json, true);
  EXPECT_EQ(json, text);
  EXPECT_EQ(json, "abcd");
  EXPECT_EQ(text, text);
  EXPECT_EQ(text, "abcd");
  EXPECT_EQ(texts, texts);
  EXPECT_EQ(texts.size(), 1U);
  EXPECT_EQ(1, 1);
  EXPECT_EQ(1.5, 1.5);
  EXPECT_NE(json, json);
  EXPECT_GT(json, 1);
  EXPECT_NE(text, "");
  EXPECT_TRUE(json);
  EXPECT_THAT(text, testing::HasSubstr("a"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("a")));
  EXPECT_THAT(texts, testing::IsEmpty());
  EXPECT_THAT(texts, testing::Contains("a"));
  EXPECT_THAT(texts, testing::Contains(testing::HasSubstr("a")));
  EXPECT_THAT(texts, testing::ElementsAre("a"));
  EXPECT_THAT(texts, testing::ElementsAre("a", "b"));
  EXPECT_THAT(texts, testing::ElementsAre("a", "b", "c"));
  EXPECT_THAT(texts, testing::ElementsAre(testing::HasSubstr("a")));
}

} // namespace winnow::precompiled
