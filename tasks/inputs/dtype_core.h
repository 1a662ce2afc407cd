// Converts tensor elements with identical bits on hosts and devices. The text of this file also
// goes into device code (evaluators/device/gpu/helper_kernels.h). So the file has no includes and
// calls no library.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define TASKS_ANYWHERE __host__ __device__
#elif defined(__clang__) // whose loops over elements vectorise only if all of the body is inlined
#define TASKS_ANYWHERE __attribute__((always_inline))
#else
#define TASKS_ANYWHERE
#endif

namespace winnow::tasks {

// clang-format off
/// The element types of tensors and scratch buffers: enumerator, stored number (append only), codec,
/// name, type in device code, header that defines it, name in PyTorch, and the type as tensor maps
/// have it. F8E4M3 and F8E5M2 are the 8-bit floats of the OCP: F8E4M3 has no infinity, one NaN, and
/// 448 is its largest number; F8E5M2 is like a half with 2 bits of mantissa, up to 57344.
/// The last three are codes, whose value is the byte. I4X2 is two signed 4-bit integers, low nibble
/// first. F4E2M1X2 and F8E8M0 are of the OCP Microscaling Formats Specification v1.0: two floats
/// with 2 bits of exponent and 1 of mantissa, low nibble first as CUDA and PyTorch pack them, and
/// the power of two 2^(byte - 127), where 255 is NaN. MXFP4 is 32 such floats and an F8E8M0; NVFP4
/// is 16 and an F8E4M3.
#define TASKS_DTYPES(ROW)                                                                             \
  ROW(F32, 1, Single, "f32", "float", "", "float32", FLOAT32)                                         \
  ROW(F64, 2, Double, "f64", "double", "", "float64", FLOAT64)                                        \
  ROW(F16, 3, Half, "f16", "__half", "cuda_fp16.h", "float16", FLOAT16)                               \
  ROW(BF16, 4, Bfloat16, "bf16", "__nv_bfloat16", "cuda_bf16.h", "bfloat16", BFLOAT16)                \
  ROW(I8, 5, Integer<signed char>, "i8", "signed char", "", "int8", UINT8)                            \
  ROW(U8, 6, Integer<unsigned char>, "u8", "unsigned char", "", "uint8", UINT8)                       \
  ROW(I16, 7, Integer<short>, "i16", "short", "", "int16", UINT16)                                    \
  ROW(U16, 8, Integer<unsigned short>, "u16", "unsigned short", "", "uint16", UINT16)                 \
  ROW(I32, 9, Integer<int>, "i32", "int", "", "int32", INT32)                                         \
  ROW(U32, 10, Integer<unsigned>, "u32", "unsigned int", "", "uint32", UINT32)                        \
  ROW(I64, 11, Integer<long long>, "i64", "long long", "", "int64", INT64)                            \
  ROW(U64, 12, Integer<Bits64>, "u64", "unsigned long long", "", "uint64", UINT64)                    \
  ROW(Bool, 13, Boolean, "bool", "bool", "", "bool", UINT8)                                           \
  ROW(F8E4M3, 14, Float8E4M3, "f8e4m3", "__nv_fp8_e4m3", "cuda_fp8.h", "float8_e4m3fn", UINT8)        \
  ROW(F8E5M2, 15, Float8E5M2, "f8e5m2", "__nv_fp8_e5m2", "cuda_fp8.h", "float8_e5m2", UINT8)          \
  ROW(I4X2, 16, Integer<unsigned char>, "i4x2", "unsigned char", "", "uint8", UINT8)                  \
  ROW(F4E2M1X2, 17, Integer<unsigned char>, "f4e2m1x2", "unsigned char", "", "uint8", UINT8)          \
  ROW(F8E8M0, 18, Integer<unsigned char>, "f8e8m0", "unsigned char", "", "uint8", UINT8)
// clang-format on

#define TASKS_ENUMERATOR(name, number, ...) name = number,
enum class DType : unsigned char { TASKS_DTYPES(TASKS_ENUMERATOR) };
#undef TASKS_ENUMERATOR

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

// A codec converts doubles to the elements of a type and back. The low bytes of a code are the
// element. `Bits` has its size. Integers have no mantissa.

/// A format with 1 sign bit and kMantissa bits of mantissa out of kTotal bits; the others are the
/// exponent.
template <typename BitsOfElement, int kMantissa, Specials kSpecials, Overflow kOverflow>
struct SmallFloat {
  using Bits = BitsOfElement;
  static constexpr int kTotal = 8 * sizeof(Bits);
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
  TASKS_ANYWHERE static Bits64 encode(double value) {
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

  TASKS_ANYWHERE static double decode(Bits64 bits) {
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    const unsigned code = static_cast<unsigned>(bits) & (kSign - 1U);
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

using Half = SmallFloat<unsigned short, 10, Specials::Ieee, Overflow::Infinity>;
using Bfloat16 = SmallFloat<unsigned short, 7, Specials::Ieee, Overflow::Infinity>;
using Float8E4M3 = SmallFloat<unsigned char, 3, Specials::NanOnly, Overflow::Largest>;
using Float8E5M2 = SmallFloat<unsigned char, 2, Specials::Ieee, Overflow::Largest>;

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

struct Single {
  using Bits = unsigned;
  static constexpr int kMantissaBits = 23, kBias = 127;
  TASKS_ANYWHERE static Bits64 encode(double value) { // the bits of a NaN depend on the machine
    return value != value ? 0x7fc00000U : __builtin_bit_cast(unsigned, static_cast<float>(value));
  }
  TASKS_ANYWHERE static double decode(Bits64 bits) {
    return static_cast<double>(__builtin_bit_cast(float, static_cast<unsigned>(bits)));
  }
};

struct Double {
  using Bits = Bits64;
  static constexpr int kMantissaBits = 52, kBias = 1023;
  TASKS_ANYWHERE static Bits64 encode(double value) { return __builtin_bit_cast(Bits64, value); }
  TASKS_ANYWHERE static double decode(Bits64 bits) { return __builtin_bit_cast(double, bits); }
};

/// Rounds and saturates to T; NaN gives 0.
template <typename T> struct Integer {
  using Bits = T;
  static constexpr int kMantissaBits = 0, kBias = 0;
  TASKS_ANYWHERE static Bits64 encode(double value) {
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
  TASKS_ANYWHERE static double decode(Bits64 bits) {
    return static_cast<double>(static_cast<T>(bits));
  }
};

struct Boolean {
  using Bits = unsigned char;
  static constexpr int kMantissaBits = 0, kBias = 0;
  TASKS_ANYWHERE static Bits64 encode(double value) { return value != 0 ? 1 : 0; }
  TASKS_ANYWHERE static double decode(Bits64 bits) { return (bits & 0xffU) != 0 ? 1.0 : 0.0; }
};

/// Converts `value` to an element of `type`. The low bytes of the result are the element.
/// store_element() in dtype.h describes the rounding. Returns 0 for an invalid type.
TASKS_ANYWHERE inline Bits64 element_bits(DType type, double value) {
  switch (type) {
#define TASKS_ENCODE(name, number, Codec, ...)                                                     \
  case DType::name:                                                                                \
    return Codec::encode(value);
    TASKS_DTYPES(TASKS_ENCODE)
#undef TASKS_ENCODE
  }
  return 0;
}

/// Converts the low bytes of `bits` to the value of an element of `type`; ignores the higher bytes.
/// Returns 0 for an invalid type.
TASKS_ANYWHERE inline double element_value(DType type, Bits64 bits) {
  switch (type) {
#define TASKS_DECODE(name, number, Codec, ...)                                                     \
  case DType::name:                                                                                \
    return Codec::decode(bits);
    TASKS_DTYPES(TASKS_DECODE)
#undef TASKS_DECODE
  }
  return 0;
}

} // namespace core
} // namespace winnow::tasks
