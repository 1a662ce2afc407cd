#include "tasks/inputs/dtype.h"

#include "base/text.h"
#include "tasks/inputs/wide_vectors.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace winnow::tasks {
namespace {

using core::Bits64; // of the rows

// Loops over elements of one type, whose conversion the compiler sees.
#define TASKS_LOOPS(name, number, Codec, ...)                                                      \
  TASKS_WIDE_VECTORS void load_##name(const std::byte* elements, double* values,                   \
                                      std::size_t count) {                                         \
    for (std::size_t i = 0; i < count; ++i) {                                                      \
      core::Codec::Bits bits = 0;                                                                  \
      std::memcpy(&bits, elements + i * sizeof(bits), sizeof(bits));                               \
      values[i] = core::Codec::decode(static_cast<Bits64>(bits));                                  \
    }                                                                                              \
  }                                                                                                \
  TASKS_WIDE_VECTORS void store_##name(const double* values, std::byte* elements,                  \
                                       std::size_t count) {                                        \
    for (std::size_t i = 0; i < count; ++i) {                                                      \
      const auto bits = static_cast<core::Codec::Bits>(core::Codec::encode(values[i]));            \
      std::memcpy(elements + i * sizeof(bits), &bits, sizeof(bits));                               \
    }                                                                                              \
  }
TASKS_DTYPES(TASKS_LOOPS)
#undef TASKS_LOOPS

// clang-format off
#define TASKS_ROW(name, number, Codec, text, device_type, header, torch, map)                      \
  DTypeRow{DType::name, #name, text, device_type, header, torch, #map, sizeof(core::Codec::Bits),  \
           core::Codec::kMantissaBits, core::Codec::kBias, load_##name, store_##name},
// clang-format on
constexpr std::array kRows{TASKS_DTYPES(TASKS_ROW)};
#undef TASKS_ROW

struct PrecisionRow {
  Precision precision;
  std::string_view name;
  FloatFormat format;
};

constexpr std::array kPrecisions{
    PrecisionRow{Precision::F64, "f64", {52, -1022, DBL_MAX}},
    PrecisionRow{Precision::F32, "f32", {23, -126, FLT_MAX}},
    PrecisionRow{Precision::TF32, "tf32", {10, -126, (2 - 0x1p-10) * 0x1p127}},
    PrecisionRow{Precision::F16, "f16", {10, -14, 65504}},
    PrecisionRow{Precision::BF16, "bf16", {7, -126, (2 - 0x1p-7) * 0x1p127}},
    PrecisionRow{Precision::F8E4M3, "f8e4m3", {3, -6, 448}},
    PrecisionRow{Precision::F8E5M2, "f8e5m2", {2, -14, 57344}},
    PrecisionRow{Precision::Int, "int", {}},
};

double epsilon_of(int mantissa_bits) {
  return mantissa_bits == 0 ? 0 : core::power_of_two(-mantissa_bits);
}

} // namespace

const DTypeRow& row_of(DType type) {
  const auto index = static_cast<std::size_t>(type) - 1;
  if (index >= kRows.size()) {
    throw std::invalid_argument("not a dtype: " + std::to_string(static_cast<int>(type)));
  }
  return kRows[index];
}

std::size_t size_bytes(DType type) {
  return row_of(type).bytes;
}

bool is_floating(DType type) {
  return row_of(type).mantissa_bits > 0;
}

std::string_view to_string(DType type) {
  return row_of(type).name;
}

std::optional<DType> dtype_from_string(std::string_view text) {
  const DTypeRow* row = find_named(kRows, text);
  return row == nullptr ? std::nullopt : std::optional(row->type);
}

const std::vector<DType>& all_dtypes() {
  static const auto all = each<DType>(kRows, &DTypeRow::type);
  return all;
}

const std::vector<std::string_view>& dtype_headers() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> headers;
    for (const DTypeRow& row : kRows) {
      if (!row.header.empty() && !contains(headers, row.header)) {
        headers.push_back(row.header);
      }
    }
    return headers;
  }();
  return all;
}

std::string_view device_type_name(DType type) {
  return row_of(type).device_type;
}

std::string_view how_to_read(DType type) {
  switch (type) {
  case DType::F4E2M1X2:
    return "A byte of f4e2m1x2 is two floats (OCP e2m1), that of the low nibble first: bit 3 is "
           "the "
           "sign, and bits 2 to 0 choose from 0, 0.5, 1, 1.5, 2, 3, 4, 6.";
  case DType::F8E8M0:
    return "A byte b of f8e8m0 is 2^(b - 127) (OCP e8m0): the float with the bits b << 23, if b is "
           "above 0. 255 would be NaN, and no input has it.";
  default:
    return {};
  }
}

double epsilon(DType type) {
  return epsilon_of(row_of(type).mantissa_bits);
}

double smallest_normal(DType type) {
  return core::power_of_two(1 - row_of(type).bias);
}

double load_element(DType type, const void* data) {
  double value = 0;
  row_of(type).load(static_cast<const std::byte*>(data), &value, 1);
  return value;
}

void store_element(DType type, void* data, double value) {
  row_of(type).store(&value, static_cast<std::byte*>(data), 1);
}

void convert_elements(DType from, const std::byte* source, DType to, std::byte* target,
                      std::size_t count) {
  const DTypeRow& read = row_of(from);
  const DTypeRow& written = row_of(to);
  std::array<double, kElementsAtOnce> values; // NOLINT(*-member-init): load() fills it
  for (std::size_t done = 0; done < count; done += kElementsAtOnce) {
    const std::size_t share = std::min(kElementsAtOnce, count - done);
    read.load(source + done * read.bytes, values.data(), share);
    written.store(values.data(), target + done * written.bytes, share);
  }
}

std::string_view to_string(Precision precision) {
  return kPrecisions.at(static_cast<std::size_t>(precision)).name;
}

std::optional<Precision> precision_from_string(std::string_view text) {
  const PrecisionRow* row = find_named(kPrecisions, text);
  return row == nullptr ? std::nullopt : std::optional(row->precision);
}

const std::vector<Precision>& all_precisions() {
  static const auto all = each<Precision>(kPrecisions, &PrecisionRow::precision);
  return all;
}

FloatFormat format_of(Precision precision) {
  return kPrecisions.at(static_cast<std::size_t>(precision)).format;
}

double epsilon(Precision precision) {
  return epsilon_of(format_of(precision).mantissa_bits);
}

} // namespace winnow::tasks
