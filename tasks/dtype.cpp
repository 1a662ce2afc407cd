#include "tasks/dtype.h"

#include <array>
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

// A code of a small floating format (dtype_core.h).
template <class Format> double decode(unsigned bits) {
  const double sign = (bits & Format::kSign) != 0 ? -1.0 : 1.0;
  const unsigned code = bits & (Format::kSign - 1U);
  if (code == Format::kInfinity && Format::kIeee) {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (code > Format::kLargest) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr int kMantissaBits = Format::kMantissaBits;
  const int exponent = static_cast<int>(code >> kMantissaBits);
  const int mantissa = static_cast<int>(code & ((1U << kMantissaBits) - 1U));
  if (exponent == 0) {
    return sign * std::ldexp(mantissa, 1 - Format::kBias - kMantissaBits);
  }
  return sign *
         std::ldexp(mantissa + (1 << kMantissaBits), exponent - Format::kBias - kMantissaBits);
}

template <typename T> T load(const void* data) {
  T value{};
  std::memcpy(&value, data, sizeof value);
  return value;
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
    return decode<core::Half>(load<std::uint16_t>(data));
  case DType::BF16:
    return decode<core::Bfloat16>(load<std::uint16_t>(data));
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
    return decode<core::Float8E4M3>(load<std::uint8_t>(data));
  case DType::F8E5M2:
    return decode<core::Float8E5M2>(load<std::uint8_t>(data));
  }
  throw std::invalid_argument("load_element: not a dtype");
}

void store_element(DType type, void* data, double value) {
  const core::Bits64 bits = core::element_bits(type, value);
  std::memcpy(data, &bits, size_bytes(type)); // little-endian: the low bytes
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
