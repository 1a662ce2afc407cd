#include "tasks/inputs/dtype.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
    PrecisionText{Precision::Int, "int", 0},
};

const DTypeText& entry(DType type) {
  const auto index = static_cast<std::size_t>(type) - 1;
  if (index >= kTypes.size()) {
    throw std::invalid_argument("not a dtype: " + std::to_string(static_cast<int>(type)));
  }
  return kTypes[index];
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
  core::Bits64 bits = 0;
  std::memcpy(&bits, data, size_bytes(type)); // little-endian: the low bytes
  return core::element_value(type, bits);
}

void store_element(DType type, void* data, double value) {
  const core::Bits64 bits = core::element_bits(type, value);
  std::memcpy(data, &bits, size_bytes(type)); // little-endian: the low bytes
}

namespace {

// Loops over elements of one type, whose conversion the compiler sees.
template <DType kType, class Bits>
void load_all(const std::byte* data, double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, data + i * sizeof(Bits), sizeof(Bits));
    values[i] = core::element_value(kType, bits);
  }
}
template <DType kType, class Bits>
void store_all(const double* values, std::byte* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<Bits>(core::element_bits(kType, values[i]));
    std::memcpy(data + i * sizeof(Bits), &bits, sizeof(Bits));
  }
}

void load_block(DType type, const std::byte* data, double* values, std::size_t count) {
  switch (type) {
  case DType::F32:
    return load_all<DType::F32, std::uint32_t>(data, values, count);
  case DType::F64:
    return load_all<DType::F64, std::uint64_t>(data, values, count);
  case DType::F16:
    return load_all<DType::F16, std::uint16_t>(data, values, count);
  case DType::BF16:
    return load_all<DType::BF16, std::uint16_t>(data, values, count);
  case DType::F8E4M3:
    return load_all<DType::F8E4M3, std::uint8_t>(data, values, count);
  case DType::F8E5M2:
    return load_all<DType::F8E5M2, std::uint8_t>(data, values, count);
  default:
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = load_element(type, data + i * size_bytes(type));
    }
  }
}

void store_block(DType type, const double* values, std::byte* data, std::size_t count) {
  switch (type) {
  case DType::F32:
    return store_all<DType::F32, std::uint32_t>(values, data, count);
  case DType::F64:
    return store_all<DType::F64, std::uint64_t>(values, data, count);
  case DType::F16:
    return store_all<DType::F16, std::uint16_t>(values, data, count);
  case DType::BF16:
    return store_all<DType::BF16, std::uint16_t>(values, data, count);
  case DType::F8E4M3:
    return store_all<DType::F8E4M3, std::uint8_t>(values, data, count);
  case DType::F8E5M2:
    return store_all<DType::F8E5M2, std::uint8_t>(values, data, count);
  default:
    for (std::size_t i = 0; i < count; ++i) {
      store_element(type, data + i * size_bytes(type), values[i]);
    }
  }
}

} // namespace

void convert_elements(DType from, const std::byte* source, DType to, std::byte* target,
                      std::size_t count) {
  constexpr std::size_t kBlock = 256; // elements; a block fits into the L1 cache
  std::array<double, kBlock> values;  // NOLINT(*-member-init): load_block() fills it
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t share = std::min(kBlock, count - done);
    load_block(from, source + done * size_bytes(from), values.data(), share);
    store_block(to, values.data(), target + done * size_bytes(to), share);
  }
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
