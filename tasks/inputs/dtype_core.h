// Converts tensor elements with identical bits on hosts and devices. The text of this file also
// goes into device code (evaluators/device/gpu/helper_kernels.h). So the file has no includes and
// calls no library.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define TASKS_ANYWHERE __host__ __device__
#elif !defined(TASKS_ANYWHERE)
#define TASKS_ANYWHERE
#endif

namespace winnow::tasks {

/// Element types of tensors and scratch buffers. The numbers are stored: append only.
enum class DType : unsigned char {
  F32 = 1,
  F64 = 2,
  F16 = 3,
  BF16 = 4,
  I8 = 5,
  U8 = 6,
  I16 = 7,
  U16 = 8,
  I32 = 9,
  U32 = 10,
  I64 = 11,
  U64 = 12,
  Bool = 13,
  F8E4M3 = 14, ///< OCP 8-bit float: no infinity, one NaN, largest 448
  F8E5M2 = 15, ///< OCP 8-bit float: like a half with 2 bits of mantissa, largest 57344
  I4X2 = 16,   ///< a byte of two signed 4-bit integers, low nibble first; its value is the byte
};

namespace core {

using Bits64 = unsigned long long;

/// 2^exponent for an exponent in [-1022, 1023].
TASKS_ANYWHERE inline double power_of_two(int exponent) {
  return __builtin_bit_cast(double, static_cast<Bits64>(1023 + exponent) << 52U);
}

/// The special values of a small float format. Ieee: infinities and NaNs have the top exponent.
/// NanOnly: the top code is NaN, and there are no infinities (OCP e4m3).
enum class Specials : unsigned char { Ieee, NanOnly };
/// The result for a finite number that is too large.
enum class Overflow : unsigned char { Infinity, Largest };

/// A format with 1 sign bit and kMantissa bits of mantissa out of kTotal bits; the others are the
/// exponent.
template <int kTotal, int kMantissa, Specials kSpecials, Overflow kOverflow> struct SmallFloat {
  static constexpr int kMantissaBits = kMantissa;
  static constexpr unsigned kSign = 1U << (kTotal - 1);
  static constexpr int kExponentBits = kTotal - 1 - kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr bool kIeee = kSpecials == Specials::Ieee;
  static constexpr unsigned kTopExponent = ((1U << kExponentBits) - 1U) << kMantissaBits;
  static constexpr unsigned kNan = kIeee ? kTopExponent | 1U << (kMantissaBits - 1) : kSign - 1U;
  static constexpr unsigned kInfinity = kIeee ? kTopExponent : kNan;
  static constexpr unsigned kLargest = kInfinity - 1U;
  static constexpr unsigned kTooLarge = kOverflow == Overflow::Largest ? kLargest : kInfinity;

  // Rounds directly from double: a step through float would round twice.
  TASKS_ANYWHERE static unsigned encode(double value) {
    constexpr Bits64 kDoubleInfinity = 0x7ff0000000000000ULL;
    const Bits64 bits = __builtin_bit_cast(Bits64, value);
    const unsigned sign = (bits >> 63U) != 0 ? kSign : 0U;
    const Bits64 magnitude = bits & 0x7fffffffffffffffULL;
    if (magnitude > kDoubleInfinity) {
      return sign | kNan;
    }
    if (magnitude == kDoubleInfinity) {
      return sign | kInfinity;
    }
    const Bits64 code = rounded(magnitude);
    return sign | (code > kLargest ? kTooLarge : static_cast<unsigned>(code));
  }

  TASKS_ANYWHERE static double decode(unsigned bits) {
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    const unsigned code = bits & (kSign - 1U);
    if (code > kLargest) {
      const bool is_infinite = kIeee && code == kInfinity;
      return sign * __builtin_bit_cast(double,
                                       is_infinite ? 0x7ff0000000000000ULL : 0x7ff8000000000000ULL);
    }
    const int exponent = static_cast<int>(code >> kMantissaBits);
    const auto mantissa = static_cast<double>(code & ((1U << kMantissaBits) - 1U));
    return exponent == 0 ? sign * mantissa * power_of_two(1 - kBias - kMantissaBits)
                         : sign * (mantissa + (1U << kMantissaBits)) *
                               power_of_two(exponent - kBias - kMantissaBits);
  }

  // The rounded code of a finite double's magnitude, before the overflow check.
  TASKS_ANYWHERE static Bits64 rounded(Bits64 magnitude) {
    const int exponent = static_cast<int>(magnitude >> 52U) - 1023;
    Bits64 significand = magnitude & ((1ULL << 52U) - 1U);
    int shift = 52 - kMantissaBits;
    if (exponent > kBias + 1) {
      return kSign;
    }
    if (exponent > -kBias) { // normal: a carry out of the mantissa increments the exponent above it
      significand += static_cast<Bits64>(exponent + kBias) << 52U;
    } else {
      significand |= 1ULL << 52U;
      shift += 1 - kBias - exponent;
    }
    if (shift > 54) {
      return 0;
    }
    const Bits64 kept = significand >> static_cast<unsigned>(shift);
    const Bits64 rest = significand & ((1ULL << static_cast<unsigned>(shift)) - 1U);
    const Bits64 half = 1ULL << static_cast<unsigned>(shift - 1);
    const bool up = rest > half || (rest == half && (kept & 1U) != 0);
    return kept + (up ? 1U : 0U);
  }
};

using Half = SmallFloat<16, 10, Specials::Ieee, Overflow::Infinity>;
using Bfloat16 = SmallFloat<16, 7, Specials::Ieee, Overflow::Infinity>;
using Float8E4M3 = SmallFloat<8, 3, Specials::NanOnly, Overflow::Largest>;
using Float8E5M2 = SmallFloat<8, 2, Specials::Ieee, Overflow::Largest>;

/// To the nearest whole number, ties to even.
TASKS_ANYWHERE inline double nearest_whole(double value) {
  constexpr double kOneIsLast = 0x1p52; // doubles from here on are whole numbers
  if (value >= 0 && value < kOneIsLast) {
    return (value + kOneIsLast) - kOneIsLast;
  }
  if (value < 0 && value > -kOneIsLast) {
    return (value - kOneIsLast) + kOneIsLast;
  }
  return value;
}

/// Rounds and saturates to T; NaN gives 0. The low bytes of the result are the element.
template <typename T> TASKS_ANYWHERE Bits64 integer_bits(double value) {
  constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(1);
  constexpr T kHighest = static_cast<T>(~0ULL >> (64U - 8U * sizeof(T) + (kSigned ? 1U : 0U)));
  constexpr T kLowest = kSigned ? static_cast<T>(-kHighest - 1) : static_cast<T>(0);
  const double whole = nearest_whole(value);
  if (whole != whole) {
    return 0;
  }
  if (whole <= static_cast<double>(kLowest)) {
    return static_cast<Bits64>(kLowest);
  }
  if (whole >= static_cast<double>(kHighest)) { // in double: 2^63 or 2^64 for 64 bits
    return static_cast<Bits64>(kHighest);
  }
  return static_cast<Bits64>(static_cast<T>(whole));
}

/// Converts `value` to an element of `type`. The low bytes of the result are the element.
/// store_element() in dtype.h describes the rounding. Returns 0 for an invalid type.
TASKS_ANYWHERE inline Bits64 element_bits(DType type, double value) {
  switch (type) {
  case DType::F32: // the bits of a converted NaN depend on the machine
    return value != value ? 0x7fc00000U : __builtin_bit_cast(unsigned, static_cast<float>(value));
  case DType::F64:
    return __builtin_bit_cast(Bits64, value);
  case DType::F16:
    return Half::encode(value);
  case DType::BF16:
    return Bfloat16::encode(value);
  case DType::I8:
    return integer_bits<signed char>(value);
  case DType::U8:
  case DType::I4X2:
    return integer_bits<unsigned char>(value);
  case DType::I16:
    return integer_bits<short>(value);
  case DType::U16:
    return integer_bits<unsigned short>(value);
  case DType::I32:
    return integer_bits<int>(value);
  case DType::U32:
    return integer_bits<unsigned>(value);
  case DType::I64:
    return integer_bits<long long>(value);
  case DType::U64:
    return integer_bits<Bits64>(value);
  case DType::Bool:
    return value != 0 ? 1 : 0;
  case DType::F8E4M3:
    return Float8E4M3::encode(value);
  case DType::F8E5M2:
    return Float8E5M2::encode(value);
  }
  return 0;
}

/// Converts the low bytes of `bits` to the value of an element of `type`; ignores the higher bytes.
/// Returns 0 for an invalid type.
TASKS_ANYWHERE inline double element_value(DType type, Bits64 bits) {
  switch (type) {
  case DType::F32:
    return static_cast<double>(__builtin_bit_cast(float, static_cast<unsigned>(bits)));
  case DType::F64:
    return __builtin_bit_cast(double, bits);
  case DType::F16:
    return Half::decode(static_cast<unsigned>(bits & 0xffffU));
  case DType::BF16:
    return Bfloat16::decode(static_cast<unsigned>(bits & 0xffffU));
  case DType::I8:
    return static_cast<double>(static_cast<signed char>(bits));
  case DType::U8:
  case DType::I4X2:
    return static_cast<double>(static_cast<unsigned char>(bits));
  case DType::I16:
    return static_cast<double>(static_cast<short>(bits));
  case DType::U16:
    return static_cast<double>(static_cast<unsigned short>(bits));
  case DType::I32:
    return static_cast<double>(static_cast<int>(bits));
  case DType::U32:
    return static_cast<double>(static_cast<unsigned>(bits));
  case DType::I64:
    return static_cast<double>(static_cast<long long>(bits));
  case DType::U64:
    return static_cast<double>(bits);
  case DType::Bool:
    return (bits & 0xffU) != 0 ? 1.0 : 0.0;
  case DType::F8E4M3:
    return Float8E4M3::decode(static_cast<unsigned>(bits & 0xffU));
  case DType::F8E5M2:
    return Float8E5M2::decode(static_cast<unsigned>(bits & 0xffU));
  }
  return 0;
}

} // namespace core
} // namespace winnow::tasks
