#include "tasks/inputs/dtype.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::tasks {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint16_t bits16(DType type, double value) {
  std::uint16_t bits = 0;
  store_element(type, &bits, value);
  return bits;
}

TEST(DType, NamesRoundTrip) {
  EXPECT_EQ(all_dtypes().size(), 18U);
  for (const DType type : all_dtypes()) {
    EXPECT_EQ(dtype_from_string(to_string(type)), type);
    EXPECT_FALSE(device_type_name(type).empty());
    EXPECT_EQ(is_floating(type), epsilon(type) > 0);
  }
  EXPECT_EQ(dtype_from_string("float"), std::nullopt);
  EXPECT_THROW(size_bytes(static_cast<DType>(0)), std::invalid_argument);
  EXPECT_THROW(size_bytes(static_cast<DType>(19)), std::invalid_argument);
}

TEST(DType, SizesAndEpsilons) {
  EXPECT_EQ(size_bytes(DType::BF16), 2U);
  EXPECT_EQ(size_bytes(DType::U64), 8U);
  EXPECT_EQ(epsilon(DType::F32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilon(DType::F64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(epsilon(DType::F16), 0x1p-10);
  EXPECT_EQ(epsilon(DType::BF16), 0x1p-7);
  EXPECT_EQ(device_type_name(DType::I64), "long long");
  EXPECT_EQ(size_bytes(DType::F8E4M3), 1U);
  EXPECT_EQ(epsilon(DType::F8E4M3), 0x1p-3);
  EXPECT_EQ(epsilon(DType::F8E5M2), 0x1p-2);
  EXPECT_EQ(device_type_name(DType::F8E5M2), "__nv_fp8_e5m2");
  EXPECT_EQ(size_bytes(DType::I4X2), 1U);
  EXPECT_EQ(device_type_name(DType::I4X2), "unsigned char");
  EXPECT_EQ(size_bytes(DType::F4E2M1X2), 1U);
  EXPECT_EQ(size_bytes(DType::F8E8M0), 1U);
}

// Stores contain these numbers.
TEST(DType, NumbersStay) {
  EXPECT_EQ(static_cast<int>(DType::Bool), 13);
  EXPECT_EQ(static_cast<int>(DType::F8E4M3), 14);
  EXPECT_EQ(static_cast<int>(DType::F8E5M2), 15);
  EXPECT_EQ(static_cast<int>(DType::I4X2), 16);
  EXPECT_EQ(static_cast<int>(DType::F4E2M1X2), 17);
  EXPECT_EQ(static_cast<int>(DType::F8E8M0), 18);
}

TEST(Precision, NamesRoundTripAndAgreeWithDTypes) {
  EXPECT_EQ(all_precisions().size(), 8U);
  for (const Precision precision : all_precisions()) {
    EXPECT_EQ(precision_from_string(to_string(precision)), precision);
    if (const auto dtype = dtype_from_string(to_string(precision))) {
      EXPECT_EQ(epsilon(precision), epsilon(*dtype));
    } else {
      EXPECT_TRUE(precision == Precision::TF32 || precision == Precision::Int);
    }
  }
  EXPECT_EQ(epsilon(Precision::Int), 0);
  EXPECT_EQ(epsilon(Precision::TF32), 0x1p-10);
  EXPECT_EQ(precision_from_string("i32"), std::nullopt);
}

std::uint8_t bits8(DType type, double value) {
  std::uint8_t bits = 0;
  store_element(type, &bits, value);
  return bits;
}

struct SmallFloatCase {
  DType type;
  double value;
  std::uint16_t bits;
};

class SmallFloat : public testing::TestWithParam<SmallFloatCase> {};

TEST_P(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(bits16(GetParam().type, GetParam().value), GetParam().bits) << GetParam().value;
}

INSTANTIATE_TEST_SUITE_P(
    Values, SmallFloat,
    testing::Values(
        SmallFloatCase{DType::F16, 0.0, 0x0000}, SmallFloatCase{DType::F16, -0.0, 0x8000},
        SmallFloatCase{DType::F16, 1.0, 0x3c00}, SmallFloatCase{DType::F16, -2.0, 0xc000},
        SmallFloatCase{DType::F16, 1 + 0x1p-11, 0x3c00},     // tie: rounds to even
        SmallFloatCase{DType::F16, 1 + 3 * 0x1p-11, 0x3c02}, // tie: rounds to even
        SmallFloatCase{DType::F16, 1 + 0x1p-11 + 0x1p-40,
                       0x3c01}, // a step through float would make it a tie
        SmallFloatCase{DType::F16, 65504, 0x7bff}, SmallFloatCase{DType::F16, 65519.99, 0x7bff},
        SmallFloatCase{DType::F16, 65520, 0x7c00}, SmallFloatCase{DType::F16, 1e300, 0x7c00},
        SmallFloatCase{DType::F16, -kInfinity, 0xfc00}, SmallFloatCase{DType::F16, 0x1p-14, 0x0400},
        SmallFloatCase{DType::F16, 0x1p-24, 0x0001}, SmallFloatCase{DType::F16, 0x1p-25, 0x0000},
        SmallFloatCase{DType::F16, 0x1.8p-25, 0x0001},
        SmallFloatCase{DType::F16, 0x1.ff8p-15, 0x03ff},
        SmallFloatCase{DType::F16, 0x1.ffcp-15, 0x0400}, SmallFloatCase{DType::F16, 1e-300, 0x0000},
        SmallFloatCase{DType::BF16, 1.0, 0x3f80}, SmallFloatCase{DType::BF16, 1 + 0x1p-8, 0x3f80},
        SmallFloatCase{DType::BF16, 1 + 3 * 0x1p-8, 0x3f82},
        SmallFloatCase{DType::BF16, 3.4e38, 0x7f80}, SmallFloatCase{DType::BF16, 0x1p-133, 0x0001},
        SmallFloatCase{DType::BF16, -0x1p-126, 0x8080}));

TEST(DType, SmallFloatsRoundTrip) {
  for (const DType type : {DType::F16, DType::BF16}) {
    for (unsigned bits = 0; bits < 0x10000U; ++bits) {
      const auto stored = static_cast<std::uint16_t>(bits);
      const double value = load_element(type, &stored);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(value));
        const std::uint16_t again = bits16(type, value);
        EXPECT_TRUE(std::isnan(load_element(type, &again)));
      } else {
        ASSERT_EQ(bits16(type, value), stored);
      }
    }
  }
}

// Tables 1 and 2 of the OCP 8-bit floating point specification (OFP8). A finite overflow saturates;
// an infinity does not.
TEST(DType, EightBitFloatsRoundAndSaturate) {
  EXPECT_EQ(bits8(DType::F8E4M3, 448), 0x7e);
  EXPECT_EQ(bits8(DType::F8E4M3, 464), 0x7e);
  EXPECT_EQ(bits8(DType::F8E4M3, -1e300), 0xfe);
  EXPECT_EQ(bits8(DType::F8E4M3, kInfinity), 0x7f);
  EXPECT_EQ(bits8(DType::F8E4M3, std::nan("")), 0x7f);
  EXPECT_EQ(bits8(DType::F8E4M3, 1), 0x38);
  EXPECT_EQ(bits8(DType::F8E4M3, 0x1p-6), 0x08);
  EXPECT_EQ(bits8(DType::F8E4M3, 0x1p-9), 0x01);
  EXPECT_EQ(bits8(DType::F8E4M3, 0x1p-10), 0x00);              // tie: rounds to even
  EXPECT_EQ(bits8(DType::F8E4M3, 1 + 0x1p-4), 0x38);           // tie: rounds to even
  EXPECT_EQ(bits8(DType::F8E4M3, 1 + 3 * 0x1p-4), 0x3a);       // tie: rounds to even
  EXPECT_EQ(bits8(DType::F8E4M3, 1 + 0x1p-4 + 0x1p-45), 0x39); // a float would be a tie
  EXPECT_EQ(bits8(DType::F8E5M2, 57344), 0x7b);
  EXPECT_EQ(bits8(DType::F8E5M2, 65536), 0x7b);
  EXPECT_EQ(bits8(DType::F8E5M2, -kInfinity), 0xfc);
  EXPECT_EQ(bits8(DType::F8E5M2, 0x1p-14), 0x04);
  EXPECT_EQ(bits8(DType::F8E5M2, 0x1p-16), 0x01);
  EXPECT_EQ(bits8(DType::F8E5M2, 1 + 0x1p-3), 0x3c); // tie: rounds to even
}

TEST(DType, EightBitFloatsRoundTrip) {
  for (const DType type : {DType::F8E4M3, DType::F8E5M2}) {
    int nans = 0;
    for (unsigned bits = 0; bits < 0x100U; ++bits) {
      const auto stored = static_cast<std::uint8_t>(bits);
      const double value = load_element(type, &stored);
      nans += std::isnan(value) ? 1 : 0;
      if (!std::isnan(value)) {
        EXPECT_EQ(bits8(type, value), stored) << value;
      }
    }
    EXPECT_EQ(nans, type == DType::F8E4M3 ? 2 : 6);
  }
  const std::uint8_t infinite = 0x7c;
  EXPECT_EQ(load_element(DType::F8E5M2, &infinite), kInfinity);
}

TEST(DType, CodesGoAsTheirByte) {
  for (const DType type : {DType::I4X2, DType::F4E2M1X2, DType::F8E8M0}) {
    for (const double value : {0.0, 1.0, 128.0, 255.0}) {
      EXPECT_EQ(bits8(type, value), value);
      const std::uint8_t stored = bits8(type, value);
      EXPECT_EQ(load_element(type, &stored), value);
    }
    EXPECT_EQ(bits8(type, 256), 255);
    EXPECT_EQ(bits8(type, -1), 0);
    EXPECT_FALSE(is_floating(type)); // so outputs are compared exactly
  }
  EXPECT_NE(how_to_read(DType::F4E2M1X2), "");
  EXPECT_NE(how_to_read(DType::F8E8M0), "");
  EXPECT_EQ(how_to_read(DType::F8E4M3), "");
}

TEST(DType, IntegersRoundAndSaturate) {
  const auto stored = [](DType type, double value) {
    std::array<std::byte, 9> storage{};
    store_element(type, storage.data() + 1, value); // an unaligned address
    return load_element(type, storage.data() + 1);
  };
  EXPECT_EQ(stored(DType::I8, 300), 127);
  EXPECT_EQ(stored(DType::I8, -300), -128);
  EXPECT_EQ(stored(DType::U8, -1), 0);
  EXPECT_EQ(stored(DType::I32, 2.5), 2);
  EXPECT_EQ(stored(DType::I32, 3.5), 4);
  EXPECT_EQ(stored(DType::I32, kInfinity), 2147483647);
  EXPECT_EQ(stored(DType::I32, std::nan("")), 0);
  EXPECT_EQ(stored(DType::U32, 4294967295.0), 4294967295.0);
  EXPECT_EQ(stored(DType::I64, 1e30), 0x1p63);
  EXPECT_EQ(stored(DType::U64, 0x1p63), 0x1p63);
  EXPECT_EQ(stored(DType::Bool, 0.25), 1);
  EXPECT_EQ(stored(DType::F32, 0.1), static_cast<double>(0.1F));
  EXPECT_EQ(stored(DType::F64, 0.1), 0.1);
}

TEST(DType, ManyElementsConvertLikeOne) {
  constexpr std::size_t kCount = 1000; // no multiple of a block
  std::vector<std::byte> source(kCount * sizeof(double));
  std::uint64_t bits = 1;
  for (std::size_t i = 0; i < source.size(); ++i) {
    bits = bits * 6364136223846793005U + 1442695040888963407U; // any bits, NaN and infinity too
    source[i] = static_cast<std::byte>(bits >> 56U);
  }
  for (const DType from : all_dtypes()) {
    for (const DType to : all_dtypes()) {
      std::vector<std::byte> one_by_one(kCount * size_bytes(to)), together(one_by_one.size());
      for (std::size_t i = 0; i < kCount; ++i) {
        store_element(to, one_by_one.data() + i * size_bytes(to),
                      load_element(from, source.data() + i * size_bytes(from)));
      }
      convert_elements(from, source.data(), to, together.data(), kCount);
      EXPECT_EQ(together, one_by_one) << to_string(from) << " to " << to_string(to);
    }
  }
}

} // namespace
} // namespace winnow::tasks
