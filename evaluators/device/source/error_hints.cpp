// Remedies for the most frequent mistakes of models.
#include "evaluators/device/source/compiler_messages.h"
#include "tasks/inputs/dtype.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string missing_header(std::string_view message) {
  static const std::map<std::string_view, std::string_view> kHeaders{
      {"'half'", "cuda_fp16.h"},
      {"'half2'", "cuda_fp16.h"},
      {"'__half2'", "cuda_fp16.h"},
      {"'__nv_bfloat162'", "cuda_bf16.h"},
      {"'__float2half'", "cuda_fp16.h"},
      {"'__half2float'", "cuda_fp16.h"},
      {"'nvcuda'", "mma.h"},
      {"'cooperative_groups'", "cooperative_groups.h"},
      {"'__bfloat162float'", "cuda_bf16.h"},
      {"'cub'", "cub/cub.cuh"}};
  const bool unknown =
      contains(message, "unknown type name") || contains(message, "undeclared") ||
      contains(message, "was not declared") || contains(message, "has not been") ||
      contains(message, "does not name a type") || contains(message, "is not a namespace-name") ||
      contains(message, "expected namespace name") || contains(message, "is undefined") ||
      contains(message, "must be a namespace name");
  for (const auto& [name, header] : kHeaders) {
    if (unknown && contains(message, name)) {
      return "add #include <" + std::string(header) + ">";
    }
  }
  for (const tasks::DType type : tasks::all_dtypes()) {
    const tasks::DTypeRow& row = tasks::row_of(type);
    if (unknown && !row.header.empty() && contains(message, fmt::format("'{}'", row.device_type))) {
      return fmt::format("add #include <{}>", row.header);
    }
  }
  return {};
}

std::string quoted_name(std::string_view message) {
  const std::size_t open = message.find('\'');
  const std::size_t close = message.find('\'', open == std::string_view::npos ? open : open + 1);
  if (close == std::string_view::npos) {
    return {};
  }
  std::string name(message.substr(open + 1, close - open - 1));
  return name.substr(name.find_last_of(" :") == std::string::npos ? 0
                                                                  : name.find_last_of(" :") + 1);
}

bool is_array_size_error(std::string_view message) {
  return contains(message, "variable length array") || contains(message, "variable-sized") ||
         contains(message, "array bound is not") ||
         contains(message, "is not an integral constant") || contains(message, "storage size of") ||
         contains(message, "not a constant expression") ||
         contains(message, "is not usable in a constant expression");
}

} // namespace

std::string error_hint(const CompilerError& error,
                       const std::map<std::string, std::int64_t>& parameters) {
  std::string message = error.message;
  std::replace(message.begin(), message.end(), '"', '\''); // NVRTC quotes names with "
  const std::string name = quoted_name(message);
  if (contains(message, "'w'") && (contains(message, "uint3") || contains(message, "dim3"))) {
    return "threadIdx, blockIdx, blockDim and gridDim have only x, y and z";
  }
  if (is_array_size_error(message)) {
    return "the size of an array must be a constant: make it a parameter of the plan or a template "
           "argument";
  }
  if (contains(message, "floating-point error")) {
    return "a constant expression must not overflow, underflow or divide by zero: write the number "
           "itself";
  }
  if (contains(message, "must have a constant value")) {
    return "the value must be known at compile time: make it a parameter of the plan or a template "
           "argument";
  }
  if (contains(message, "uses too much shared data")) {
    return kUseDynamicShared;
  }
  if (contains(message, "Insufficient registers")) {
    return "an instruction needs more registers than a thread may have: use a smaller tile for "
           "each thread, "
           "fewer threads in a block, or a smaller number in __launch_bounds__";
  }
  const bool again = contains(message, "redefinition") || contains(message, "redeclared") ||
                     contains(message, "conflicting declaration") ||
                     contains(message, "redeclaration") || contains(message, "has already been de");
  for (const auto& [parameter, value] : parameters) {
    if (again && (name == parameter || contains(message, parameter + "'"))) {
      return "'" + parameter +
             "' is a parameter of the plan and visible to the code as a constant: "
             "remove this definition";
    }
  }
  if (error.at_end) {
    return "the source does not close a block or statement: look for a missing '}' or ';'";
  }
  if (contains(message, "undeclared identifier 'torch'") || contains(message, "'torch' was not") ||
      contains(message, "'at' has not been") || contains(message, "undeclared identifier 'at'") ||
      contains(message, "'torch' is undefined") ||
      contains(message, "'torch' must be a namespace") ||
      contains(message, "marked as a __host__ function") || contains(message, "cuda runtime API")) {
    return "there is no host code and no PyTorch here: send device code and a plan";
  }
  return missing_header(message);
}

} // namespace winnow::evaluators
