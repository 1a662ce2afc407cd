#include "agents/reply.h"
#include "agents/reply_schema.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

TEST(ReplySchema, AcceptsWhatMatches) {
  EXPECT_EQ(schema_violation(kernel_reply_schema(), R"({"reasoning": "", "kernel_file": "x"})"),
            "");
}

TEST(ReplySchema, SaysWhatDoesNot) {
  const auto violation = [](const std::string& reply) {
    return schema_violation(kernel_reply_schema(), reply);
  };
  EXPECT_THAT(violation("Sure! {\"reasoning\": \"\"}"), HasSubstr("not JSON"));
  EXPECT_THAT(violation(R"({"reasoning": ""})"), HasSubstr("kernel_file"));
  EXPECT_THAT(violation(R"({"reasoning": "", "kernel_file": 1})"), HasSubstr("kernel_file"));
  EXPECT_NE(violation(R"({"reasoning": "", "kernel_file": "", "more": 1})"), "");
  EXPECT_NE(violation("[]"), "");
  EXPECT_NE(violation(std::string(100'000, '[')), "");
}

TEST(ReplySchema, RefusesASchemaThatIsNone) {
  EXPECT_THROW(schema_violation({"s", "{"}, "{}"), Error);
}

} // namespace
} // namespace winnow::agents
