#include "tasks/plan/resolve/resolved_plan_json.h"

namespace winnow::tasks {

/// Enumerators whose numbers have gaps.
template <auto... kKnown> struct OneOfForm {
  using Enum = std::common_type_t<decltype(kKnown)...>;
  static void append(std::string& out, Enum value) {
    append_number(out, std::int64_t{static_cast<int>(value)});
  }
  static void read(const nlohmann::json& json, const std::string& path, Enum& value) {
    int number = 0;
    read_integer(json, path, number);
    value = static_cast<Enum>(number);
    if (((number != static_cast<int>(kKnown)) && ...)) {
      throw_bad_json(path, "the number of an enumerator");
    }
  }
};

template <>
struct JsonForm<Swizzle>
    : OneOfForm<Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128> {};
template <>
struct JsonForm<Interleave>
    : OneOfForm<Interleave::None, Interleave::Bytes16, Interleave::Bytes32> {};
template <>
struct JsonForm<L2Promotion> : OneOfForm<L2Promotion::None, L2Promotion::Bytes64,
                                         L2Promotion::Bytes128, L2Promotion::Bytes256> {};
template <>
inline constexpr EnumRange kEnumRange<OutOfBoundsFill>{OutOfBoundsFill::Zero, OutOfBoundsFill::NaN};
template <>
inline constexpr EnumRange kEnumRange<ResolvedArgument::Kind>{ResolvedArgument::Kind::Pointer,
                                                              ResolvedArgument::Kind::TensorMap};
template <>
inline constexpr EnumRange kEnumRange<LibraryCompute>{LibraryCompute::F32, LibraryCompute::I32};
template <>
inline constexpr EnumRange kEnumRange<Buffer::Kind>{Buffer::Kind::Input, Buffer::Kind::Scratch};
template <>
inline constexpr EnumRange kEnumRange<GeneratorSpec::Kind>{GeneratorSpec::Kind::Normal,
                                                           GeneratorSpec::Kind::CsrColumns};

WINNOW_FIELDS(TensorMapOptions, swizzle, interleave, l2_promotion, fill)
WINNOW_FIELDS(ResolvedTensorMap, buffer, offset_bytes, dtype, extents, strides_bytes, box,
              element_strides, options)
WINNOW_FIELDS(ResolvedArgument, kind, buffer, offset_bytes, integer, real, tensor_map, size_bytes)
WINNOW_FIELDS(LaunchStep, kernel, grid, block, cluster, shared_bytes, cooperative, arguments)
WINNOW_FIELDS(FillStep, buffer, offset_bytes, count, dtype, value)
WINNOW_FIELDS(CopyStep, from, to, from_offset_bytes, to_offset_bytes, row_bytes, rows,
              from_stride_bytes, to_stride_bytes)
WINNOW_FIELDS(LibraryOperand, buffer, dtype, count)
WINNOW_FIELDS(LibraryStep, library, operation, operands, m, n, k, batch, nonzeros, b_transposed,
              inverse, compute, alpha, beta)
WINNOW_FIELDS(CsrMatrix, rows, columns, pointers_hash)
WINNOW_FIELDS(NumberRange, low, high)
WINNOW_FIELDS(GeneratorSpec, kind, a, b, csr, c)
WINNOW_FIELDS(Buffer, name, kind, dtype, count, generator, is_static, once, keep)
WINNOW_FIELDS(ResolvedPlan, buffers, prepare, steps)

template <> struct JsonForm<std::shared_ptr<const ResolvedTensorMap>> {
  static void append(std::string& out, const std::shared_ptr<const ResolvedTensorMap>& map) {
    map == nullptr ? void(out += "null") : append_json(out, *map);
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   std::shared_ptr<const ResolvedTensorMap>& map) {
    if (json.is_null()) {
      return;
    }
    ResolvedTensorMap read;
    read_json(json, path, read);
    const std::size_t rank = read.extents.size();
    if (rank < 1 || rank > 5 || read.strides_bytes.size() != rank - 1 || read.box.size() != rank ||
        read.element_strides.size() != rank) {
      throw_bad_json(path, "lists of 1 to 5 dimensions");
    }
    map = std::make_shared<const ResolvedTensorMap>(std::move(read));
  }
};

template <> struct JsonForm<ResolvedArgument> {
  static void append(std::string& out, const ResolvedArgument& argument) {
    append_fields(out, argument);
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   ResolvedArgument& argument) {
    read_fields(json, path, argument);
    const bool has_map = argument.tensor_map != nullptr;
    if (has_map != (argument.kind == ResolvedArgument::Kind::TensorMap)) {
      throw_bad_json(path + ".tensor_map", "a tensor map for its kind of argument only");
    }
  }
};

void JsonForm<ResolvedPlan>::append(std::string& out, const ResolvedPlan& plan) {
  append_fields(out, plan);
}

void JsonForm<ResolvedPlan>::read(const nlohmann::json& json, const std::string& path,
                                  ResolvedPlan& plan) {
  read_fields(json, path, plan);
}

void to_json(nlohmann::json& json, const ResolvedPlan& plan) {
  json = write_json(plan);
}

void from_json(const nlohmann::json& json, ResolvedPlan& plan) {
  read_json(json, "plan", plan);
}

} // namespace winnow::tasks
