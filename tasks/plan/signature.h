#pragma once

#include "base/fields.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::tasks {

/// A kernel parameter, taken from the compiled module.
struct ParameterType {
  enum class Kind : std::uint8_t { Pointer, SignedInteger, UnsignedInteger, Float, Bool, Other };
  std::string name; ///< as in the source; may be empty
  Kind kind = Kind::Other;
  int size_bytes = 0;         ///< of the parameter; 8 for pointers
  int pointee_size_bytes = 0; ///< pointers only; 1 for void
  bool pointee_const = false;
  bool pointee_float = false; ///< pointers only: elements are float, double, half or bfloat16
};

/// The resources of a multiprocessor that a kernel uses; known for GPU code only.
struct KernelResources {
  std::string kernel;          ///< the same name as KernelSignature::kernel
  int registers = 0;           ///< per thread
  int spill_store_bytes = 0;   ///< per thread
  int spill_load_bytes = 0;    ///< per thread
  int stack_bytes = 0;         ///< per thread, spills included
  int static_shared_bytes = 0; ///< per block
};
WINNOW_FIELDS(KernelResources, kernel, registers, spill_store_bytes, spill_load_bytes, stack_bytes,
              static_shared_bytes)

struct KernelSignature {
  std::string kernel; ///< instantiated, as the plan names it: "row_softmax<128, 4>"
  std::vector<ParameterType> parameters;
  std::optional<KernelResources> resources; ///< nullopt: not known on this device
};

/// The facts about a kernel file that are known after compiling.
struct CompiledFacts {
  std::vector<KernelSignature> signatures;
  std::map<std::string, std::int64_t> constants; ///< value of each requested constant expression
};

/// One item per parameter, separated by spaces: KIND SIZE [POINTEE] [c] ":" NAME. Example: "p4fc:x
/// p4f:y i4:rows f4:eps b1:flag o16:v". p4fc means a pointer to const 4-byte floating elements.
std::string encode_parameters(const std::vector<ParameterType>& parameters);
/// nullopt for malformed text. The text comes from a candidate's binary, so it can be malformed.
std::optional<std::vector<ParameterType>> decode_parameters(std::string_view text);

} // namespace winnow::tasks
