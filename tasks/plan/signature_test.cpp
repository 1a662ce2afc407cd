#include "tasks/plan/signature.h"

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

TEST(Signature, EncodesAndDecodes) {
  const std::string text = "p4fc:x p4f:y i4:rows f4:eps b1:flag o16:v u8: p1:raw";
  const auto parameters = decode_parameters(text);
  ASSERT_TRUE(parameters);
  ASSERT_EQ(parameters->size(), 8U);
  EXPECT_EQ((*parameters)[0].kind, ParameterType::Kind::Pointer);
  EXPECT_TRUE((*parameters)[0].pointee_const);
  EXPECT_TRUE((*parameters)[0].pointee_float);
  EXPECT_EQ((*parameters)[0].pointee_size_bytes, 4);
  EXPECT_EQ((*parameters)[0].size_bytes, 8);
  EXPECT_FALSE((*parameters)[1].pointee_const);
  EXPECT_EQ((*parameters)[2].name, "rows");
  EXPECT_EQ((*parameters)[5].kind, ParameterType::Kind::Other);
  EXPECT_EQ((*parameters)[5].size_bytes, 16);
  EXPECT_EQ((*parameters)[6].name, "");
  EXPECT_EQ(encode_parameters(*parameters), text);
}

TEST(Signature, NoParametersIsAnEmptyText) {
  EXPECT_EQ(encode_parameters({}), "");
  ASSERT_TRUE(decode_parameters(""));
  EXPECT_TRUE(decode_parameters("")->empty());
}

TEST(Signature, RefusesMalformedTexts) {
  for (const char* text : {"x4:a", "i:a", "i4", "i4a", "i0:a", "i-4:a", "i99999999999:a", "p4cf:x",
                           "i4:a ", " i4:a", "i4:a  i4:b", "i4:a-b", "i4c:a", "p4f", "i4:1a"}) {
    EXPECT_FALSE(decode_parameters(text)) << text;
  }
  EXPECT_FALSE(decode_parameters(std::string(100000, 'i')));
}

} // namespace
} // namespace winnow::tasks
