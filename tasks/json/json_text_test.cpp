#include "tasks/json/json_fields.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

struct Part {
  std::string name;
  std::optional<double> share;
};
WINNOW_FIELDS(Part, name, share)

struct Message {
  std::vector<Part> parts;
  std::variant<Part, std::int64_t> either;
  std::array<int, 2> pair{};
  std::uint64_t seed = 0;
  std::filesystem::path file;
  std::chrono::milliseconds budget{0};
  std::map<std::string, std::int64_t> parameters;
  bool repeat = false;
  double factor = 0;
};
WINNOW_FIELDS(Message, parts, either, pair, seed, file, budget, parameters, repeat, factor)

Message message() {
  return {{{"x", 0.1}, {"quote \" and \\ and \n and \x01", std::nullopt}, {"\xc3\xa4", -0.0}},
          std::int64_t{-5},
          {1, -2},
          std::numeric_limits<std::uint64_t>::max(),
          "/tmp/a b",
          std::chrono::milliseconds(250),
          {{"BLOCK", 128}},
          true,
          1e300};
}

nlohmann::json parsed(const Message& value) {
  return nlohmann::json::parse(json_text(value));
}

TEST(JsonText, IsTheTextOfTheTree) {
  Message value = message();
  EXPECT_EQ(parsed(value), write_json(value));
  value.either = Part{"\xff is no UTF-8", 3.0};
  EXPECT_EQ(parsed(value), write_json(value));
  EXPECT_EQ(parsed(Message()), write_json(Message()));
}

TEST(JsonText, KeepsEveryNumber) {
  for (const double number :
       {0.0, -0.0, 1.0, 1e22, -1e-300, 123456789012345678.0, 0.1, std::nextafter(1.0, 2.0),
        std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()}) {
    const auto json = nlohmann::json::parse(json_text(number));
    EXPECT_TRUE(json.is_number_float()) << number;
    EXPECT_EQ(json.get<double>(), number);
    EXPECT_EQ(std::signbit(json.get<double>()), std::signbit(number)) << number;
  }
  EXPECT_EQ(json_text(std::nan("")), "\"nan\"");
  EXPECT_EQ(json_text(-std::numeric_limits<double>::infinity()), "\"-inf\"");
  EXPECT_EQ(json_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json_text(std::numeric_limits<unsigned long long>::max()), "\"18446744073709551615\"");
}

TEST(JsonText, KeepsEveryUnsignedInteger) {
  for (const unsigned long long number :
       {0ULL, 1ULL << 63U, std::numeric_limits<unsigned long long>::max()}) {
    unsigned long long read = 1;
    read_json(write_json(number), "number", read);
    EXPECT_EQ(read, number);
  }
  EXPECT_EQ(json_text(std::uint32_t{4294967295}), "4294967295");
}

TEST(JsonText, IsOneLine) {
  EXPECT_EQ(json_text(message()).find('\n'), std::string::npos);
  EXPECT_EQ(json_text(Part{"p", 2.0}), R"({"name":"p","share":2.0})");
}

} // namespace
} // namespace winnow::tasks
