#include "tasks/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace winnow::tasks {
namespace {

struct DTypeText {
  DType type;
  std::string_view name;
  std::string_view device_name;
  std::size_t bytes;
  double epsilon;
};

constexpr std::array kTypes{
    DTypeText{DType::F32, "f32", "float", 4, 0x1p-23},
    DTypeText{DType::F64, "f64", "double", 8, 0x1p-52},
    DTypeText{DType::F16, "f16", "__half", 2, 0x1p-10},
    DTypeText{DType::BF16, "bf16", "__nv_bfloat16", 2, 0x1p-7},
    DTypeText{DType::I8, "i8", "signed char", 1, 0},
    DTypeText{DType::U8, "u8", "unsigned char", 1, 0},
    DTypeText{DType::I16, "i16", "short", 2, 0},
    DTypeText{DType::U16, "u16", "unsigned short", 2, 0},
    DTypeText{DType::I32, "i32", "int", 4, 0},
    DTypeText{DType::U32, "u32", "unsigned int", 4, 0},
    DTypeText{DType::I64, "i64", "long long", 8, 0},
    DTypeText{DType::U64, "u64", "unsigned long long", 8, 0},
    DTypeText{DType::Bool, "bool", "bool", 1, 0},
    DTypeText{DType::F8E4M3, "f8e4m3", "__nv_fp8_e4m3", 1, 0x1p-3},
    DTypeText{DType::F8E5M2, "f8e5m2", "__nv_fp8_e5m2", 1, 0x1p-2},
    DTypeText{DType::I4X2, "i4x2", "unsigned char", 1, 0},
};

struct PrecisionText {
  Precision precision;
  std::string_view name;
  double epsilon;
};

constexpr std::array kPrecisions{
    PrecisionText{Precision::F64, "f64", 0x1p-52},
    PrecisionText{Precision::F32, "f32", 0x1p-23},
    PrecisionText{Precision::TF32, "tf32", 0x1p-10},
    PrecisionText{Precision::F16, "f16", 0x1p-10},
    PrecisionText{Precision::BF16, "bf16", 0x1p-7},
    PrecisionText{Precision::F8E4M3, "f8e4m3", 0x1p-3},
    PrecisionText{Precision::F8E5M2, "f8e5m2", 0x1p-2},
};

const DTypeText& entry(DType type) {
  const auto index = static_cast<std::size_t>(type) - 1;
  if (index >= kTypes.size()) {
    throw std::invalid_argument("not a dtype: " + std::to_string(static_cast<int>(type)));
  }
  return kTypes[index];
}

enum class Specials : std::uint8_t {
  Ieee,    // the top exponent holds infinities and NaNs
  NanOnly, // OCP e4m3: the top code alone is NaN, the rest of the top exponent are numbers
};
enum class Overflow : std::uint8_t { Infinity, Largest };

// A format of 1 sign bit, an exponent, and kMantissaBits of mantissa in as many bits as Bits has.
template <typename Bits, int kMantissaBits, Specials kSpecials, Overflow kOverflow> struct Small {
  static constexpr unsigned kSign = 1U << (8 * sizeof(Bits) - 1);
  static constexpr int kExponentBits = 8 * static_cast<int>(sizeof(Bits)) - 1 - kMantissaBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr bool kIeee = kSpecials == Specials::Ieee;
  static constexpr unsigned kTopExponent = ((1U << kExponentBits) - 1U) << kMantissaBits;
  static constexpr unsigned kNan = kIeee ? kTopExponent | 1U << (kMantissaBits - 1) : kSign - 1U;
  static constexpr unsigned kInfinity = kIeee ? kTopExponent : kNan;
  static constexpr unsigned kLargest = kInfinity - 1U;

  static double decode(Bits bits) {
    const double sign = (bits & kSign) != 0 ? -1.0 : 1.0;
    const unsigned code = bits & (kSign - 1U);
    if (code == kInfinity && kIeee) {
      return sign * std::numeric_limits<double>::infinity();
    }
    if (code > kLargest) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    const int exponent = static_cast<int>(code >> kMantissaBits);
    const int mantissa = static_cast<int>(code & ((1U << kMantissaBits) - 1U));
    if (exponent == 0) {
      return sign * std::ldexp(mantissa, 1 - kBias - kMantissaBits);
    }
    return sign * std::ldexp(mantissa + (1 << kMantissaBits), exponent - kBias - kMantissaBits);
  }

  // Straight from the double: rounding by way of float would round twice.
  static Bits encode(double value) {
    const unsigned sign = std::signbit(value) ? kSign : 0;
    if (std::isnan(value)) {
      return static_cast<Bits>(sign | kNan);
    }
    if (std::isinf(value)) {
      return static_cast<Bits>(sign | kInfinity);
    }
    const std::uint64_t code = rounded(std::bit_cast<std::uint64_t>(value));
    constexpr unsigned kTooLarge = kOverflow == Overflow::Largest ? kLargest : kInfinity;
    return static_cast<Bits>(sign | (code > kLargest ? kTooLarge : code));
  }

  // The code of a finite double's magnitude, as if exponents had no end.
  static std::uint64_t rounded(std::uint64_t bits) {
    const int exponent = static_cast<int>((bits >> 52U) & 0x7ffU) - 1023;
    std::uint64_t significand = bits & ((1ULL << 52U) - 1U);
    int shift = 52 - kMantissaBits;
    if (exponent > kBias + 1) {
      return kSign;
    }
    if (exponent > -kBias) { // normal: the exponent rides above the mantissa and takes carries
      significand += static_cast<std::uint64_t>(exponent + kBias) << 52U;
    } else {
      significand |= 1ULL << 52U;
      shift += 1 - kBias - exponent;
    }
    if (shift > 54) {
      return 0;
    }
    const std::uint64_t kept = significand >> static_cast<unsigned>(shift);
    const std::uint64_t rest = significand & ((1ULL << static_cast<unsigned>(shift)) - 1U);
    const std::uint64_t half = 1ULL << static_cast<unsigned>(shift - 1);
    const bool up = rest > half || (rest == half && (kept & 1U) != 0);
    return kept + (up ? 1U : 0U);
  }
};

using Half = Small<std::uint16_t, 10, Specials::Ieee, Overflow::Infinity>;
using Bfloat16 = Small<std::uint16_t, 7, Specials::Ieee, Overflow::Infinity>;
using Float8E4M3 = Small<std::uint8_t, 3, Specials::NanOnly, Overflow::Largest>;
using Float8E5M2 = Small<std::uint8_t, 2, Specials::Ieee, Overflow::Largest>;

template <typename T> T load(const void* data) {
  T value{};
  std::memcpy(&value, data, sizeof value);
  return value;
}

template <typename T> void store(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
}

template <typename T> T to_integer(double value) {
  using Limits = std::numeric_limits<T>;
  const double rounded = std::nearbyint(value);
  if (std::isnan(rounded)) {
    return 0;
  }
  if (rounded <= static_cast<double>(Limits::min())) {
    return Limits::min();
  }
  // max() of 64-bit types is not a double; the next double above it is 2^63 or 2^64.
  if (rounded >= std::ldexp(1.0, Limits::digits)) {
    return Limits::max();
  }
  return static_cast<T>(rounded);
}

template <typename T> void store_integer(void* data, double value) {
  store(data, to_integer<T>(value));
}

} // namespace

std::size_t size_bytes(DType type) {
  return entry(type).bytes;
}

bool is_floating(DType type) {
  return entry(type).epsilon > 0;
}

std::string_view to_string(DType type) {
  return entry(type).name;
}

std::optional<DType> dtype_from_string(std::string_view text) {
  for (const DTypeText& known : kTypes) {
    if (known.name == text) {
      return known.type;
    }
  }
  return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> all = [] {
    std::vector<DType> types;
    types.reserve(kTypes.size());
    for (const DTypeText& known : kTypes) {
      types.push_back(known.type);
    }
    return types;
  }();
  return all;
}

std::string_view device_type_name(DType type) {
  return entry(type).device_name;
}

double epsilon(DType type) {
  return entry(type).epsilon;
}

double load_element(DType type, const void* data) {
  switch (type) {
  case DType::F32:
    return static_cast<double>(load<float>(data));
  case DType::F64:
    return load<double>(data);
  case DType::F16:
    return Half::decode(load<std::uint16_t>(data));
  case DType::BF16:
    return Bfloat16::decode(load<std::uint16_t>(data));
  case DType::I8:
    return static_cast<double>(load<std::int8_t>(data));
  case DType::U8:
  case DType::I4X2:
    return static_cast<double>(load<std::uint8_t>(data));
  case DType::I16:
    return static_cast<double>(load<std::int16_t>(data));
  case DType::U16:
    return static_cast<double>(load<std::uint16_t>(data));
  case DType::I32:
    return static_cast<double>(load<std::int32_t>(data));
  case DType::U32:
    return static_cast<double>(load<std::uint32_t>(data));
  case DType::I64:
    return static_cast<double>(load<std::int64_t>(data));
  case DType::U64:
    return static_cast<double>(load<std::uint64_t>(data));
  case DType::Bool:
    return load<std::uint8_t>(data) != 0 ? 1.0 : 0.0;
  case DType::F8E4M3:
    return Float8E4M3::decode(load<std::uint8_t>(data));
  case DType::F8E5M2:
    return Float8E5M2::decode(load<std::uint8_t>(data));
  }
  throw std::invalid_argument("load_element: not a dtype");
}

void store_element(DType type, void* data, double value) {
  switch (type) {
  case DType::F32:
    return store(data, static_cast<float>(value));
  case DType::F64:
    return store(data, value);
  case DType::F16:
    return store(data, Half::encode(value));
  case DType::BF16:
    return store(data, Bfloat16::encode(value));
  case DType::I8:
    return store_integer<std::int8_t>(data, value);
  case DType::U8:
  case DType::I4X2:
    return store_integer<std::uint8_t>(data, value);
  case DType::I16:
    return store_integer<std::int16_t>(data, value);
  case DType::U16:
    return store_integer<std::uint16_t>(data, value);
  case DType::I32:
    return store_integer<std::int32_t>(data, value);
  case DType::U32:
    return store_integer<std::uint32_t>(data, value);
  case DType::I64:
    return store_integer<std::int64_t>(data, value);
  case DType::U64:
    return store_integer<std::uint64_t>(data, value);
  case DType::Bool:
    return store(data, static_cast<std::uint8_t>(value != 0 ? 1 : 0));
  case DType::F8E4M3:
    return store(data, Float8E4M3::encode(value));
  case DType::F8E5M2:
    return store(data, Float8E5M2::encode(value));
  }
  throw std::invalid_argument("store_element: not a dtype");
}

std::string_view to_string(Precision precision) {
  return kPrecisions.at(static_cast<std::size_t>(precision)).name;
}

std::optional<Precision> precision_from_string(std::string_view text) {
  for (const PrecisionText& known : kPrecisions) {
    if (known.name == text) {
      return known.precision;
    }
  }
  return std::nullopt;
}

const std::vector<Precision>& all_precisions() {
  static const std::vector<Precision> all = [] {
    std::vector<Precision> precisions;
    precisions.reserve(kPrecisions.size());
    for (const PrecisionText& known : kPrecisions) {
      precisions.push_back(known.precision);
    }
    return precisions;
  }();
  return all;
}

double epsilon(Precision precision) {
  return kPrecisions.at(static_cast<std::size_t>(precision)).epsilon;
}

} // namespace winnow::tasks
