#pragma once

#include "tasks/inputs/dtype_core.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// Elements that a loop converts at once: as doubles, they fit into the L1 cache.
constexpr std::size_t kElementsAtOnce = 256;
/// The least number of elements that justifies a thread in a parallel loop: about a millisecond.
constexpr std::uint64_t kElementsPerThread = std::uint64_t{1} << 16U;

/// A row of TASKS_DTYPES, with what its codec knows.
struct DTypeRow {
  DType type;
  std::string_view enumerator; ///< "F32"
  std::string_view name;       ///< "f32", "bf16", "i32", "bool", ...
  /// In device code: "float", "__half", "__nv_bfloat16", ...; "unsigned char" for a code.
  std::string_view device_type;
  std::string_view header;     ///< that defines it, "cuda_fp16.h"; empty: none
  std::string_view torch;      ///< "float32"
  std::string_view tensor_map; ///< "FLOAT32" of CU_TENSOR_MAP_DATA_TYPE_FLOAT32
  std::size_t bytes;
  int mantissa_bits; ///< 0: an integer
  int bias;          ///< of the exponent; 0: an integer
  void (*load)(const std::byte* elements, double* values, std::size_t count);
  void (*store)(const double* values, std::byte* elements, std::size_t count);
};
const DTypeRow& row_of(DType type);

std::size_t size_bytes(DType type);
bool is_floating(DType type);
std::string_view to_string(DType type); ///< its name
std::optional<DType> dtype_from_string(std::string_view text);
const std::vector<DType>& all_dtypes();
/// The headers of all rows, each once.
const std::vector<std::string_view>& dtype_headers();
#define TASKS_ONE(...) +1
constexpr auto kLastDType = static_cast<DType>(TASKS_DTYPES(TASKS_ONE));
#undef TASKS_ONE
std::string_view device_type_name(DType type);
/// How device code reads a float whose type is a code: a sentence for people and models. Else
/// empty.
std::string_view how_to_read(DType type);

/// The distance from 1 to the next number (twice the unit round-off); 0 for integers.
double epsilon(DType type);
double smallest_normal(DType type); ///< of a floating type

/// Reads or writes one element of a tensor, as a double. `data` points at the element and needs no
/// alignment. A store rounds to nearest, ties to even. A store of a value that is too large gives
/// the largest value of an integer type or an 8-bit float (as CUDA's conversions do), and infinity
/// in a wider float. An infinity stays an infinity, but becomes NaN in F8E4M3. A code (I4X2,
/// F4E2M1X2, F8E8M0) is its byte, 0 to 255.
double load_element(DType type, const void* data);
void store_element(DType type, void* data, double value);
/// The same bits as store_element(load_element()) for each element; much faster. The ranges must
/// not overlap.
void convert_elements(DType from, const std::byte* source, DType to, std::byte* target,
                      std::size_t count);

/// The arithmetic for which a tolerance holds. A floating dtype stands for its own arithmetic. TF32
/// is the format in which tensor cores multiply f32 tensors (10 bits of mantissa). Int is exact.
enum class Precision : std::uint8_t { F64, F32, TF32, F16, BF16, F8E4M3, F8E5M2, Int };
std::string_view to_string(Precision precision); ///< "tf32", "int", or the dtype's name
std::optional<Precision> precision_from_string(std::string_view text);
const std::vector<Precision>& all_precisions();
double epsilon(Precision precision); ///< as epsilon(DType)

/// A float format, for rounding to it.
struct FloatFormat {
  int mantissa_bits = 0;
  int least_exponent = 0; ///< of normal numbers
  double largest = 0;
};
FloatFormat format_of(Precision precision); ///< not for Int

} // namespace winnow::tasks
