#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Element types of tensors and scratch buffers; the numbers are stored, so they only ever grow.
enum class DType : std::uint8_t {
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
};

std::size_t size_bytes(DType type);
bool is_floating(DType type);
std::string_view to_string(DType type); ///< "f32", "bf16", "i32", "bool", ...
std::optional<DType> dtype_from_string(std::string_view text);
const std::vector<DType>& all_dtypes();
/// The type in device code: "float", "__half", "__nv_bfloat16", "int", "long long", ...
std::string_view device_type_name(DType type);

/// Unit round-off times two (the distance from 1 to the next number); 0 for integers.
double epsilon(DType type);

/// One element, as stored in a tensor of that type, to a double and back (round to nearest even,
/// saturating for integers). `data` points at the element; any alignment.
double load_element(DType type, const void* data);
void store_element(DType type, void* data, double value);

} // namespace winnow::tasks
