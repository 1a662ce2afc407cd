#pragma once

#include "tasks/inputs/dtype_core.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

std::size_t size_bytes(DType type);
bool is_floating(DType type);
std::string_view to_string(DType type); ///< "f32", "bf16", "i32", "bool", ...
std::optional<DType> dtype_from_string(std::string_view text);
const std::vector<DType>& all_dtypes();
/// The type in device code: "float", "__half", "__nv_bfloat16", "__nv_fp8_e4m3", "int", "long
/// long",
/// ...; "unsigned char" for I4X2.
std::string_view device_type_name(DType type);

/// Unit round-off times two (the distance from 1 to the next number); 0 for integers.
double epsilon(DType type);

/// One element, as stored in a tensor of that type, to a double and back. `data` points at the
/// element; any alignment. Stores round to nearest even. What is too large becomes the largest
/// value of an integer or 8-bit float (as CUDA's conversions do), and infinity in wider floats;
/// an infinity stays one, or becomes NaN in F8E4M3. I4X2 goes as its byte, 0 to 255.
double load_element(DType type, const void* data);
void store_element(DType type, void* data, double value);

/// The arithmetic that a tolerance is stated for: that of a floating dtype; tf32, in which tensor
/// cores multiply f32 tensors (10 bits of mantissa); or that of integers, which is exact.
enum class Precision : std::uint8_t { F64, F32, TF32, F16, BF16, F8E4M3, F8E5M2, Int };
std::string_view to_string(Precision precision); ///< "tf32", "int", else the dtype's name
std::optional<Precision> precision_from_string(std::string_view text);
const std::vector<Precision>& all_precisions();
double epsilon(Precision precision); ///< as for a dtype

} // namespace winnow::tasks
