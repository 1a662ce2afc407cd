#include "agents/reply/reply.h"
#include "agents/reply/reply_schema.h"
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using testing::HasSubstr;

TEST(ReplySchema, AcceptsWhatMatches) {
  EXPECT_EQ(schema_violation(kernel_reply_schema(), R"({"reasoning": "", "kernel_file": "x"})"),
            "");
  EXPECT_EQ(schema_violation(kernel_reply_schema(), "<think>{}</think>\n```json\n"
                                                    R"({"reasoning": "", "kernel_file": "x"})"
                                                    "\n```\n"),
            "")
      << "the readers of replies read it, too";
}

TEST(ReplySchema, SaysWhatDoesNot) {
  const auto violation = [](const std::string& reply) {
    return schema_violation(kernel_reply_schema(), reply);
  };
  EXPECT_THAT(violation("Sure! I have no idea."), HasSubstr("not JSON"));
  EXPECT_EQ(violation(R"({"reasoning": ""})"),
            R"(the outermost value violates "required": ["reasoning","kernel_file"])");
  EXPECT_EQ(violation(R"({"reasoning": "", "kernel_file": 1})"),
            R"(/kernel_file violates "type": "string")");
  EXPECT_EQ(violation(R"({"reasoning": "", "kernel_file": "", "more": 1})"),
            R"(/more violates "additionalProperties": false)");
  EXPECT_EQ(violation("[]"), R"(the outermost value violates "type": "object")");
  EXPECT_NE(violation(std::string(100'000, '[')), "");
}

TEST(ReplySchema, RefusesASchemaThatIsNone) {
  EXPECT_THROW(schema_violation({"s", "{"}, "{}"), Error);
  EXPECT_THROW(schema_violation({"s", "[]"}, "{}"), Error);
}

} // namespace
} // namespace winnow::agents
