#include "tasks/plan/resolve/plan_tensor_map.h"

#include "base/text.h"
#include "tasks/plan/resolve/plan_buffers.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

// The requirements of cuTensorMapEncodeTiled, from its documentation in cuda.h.
constexpr std::int64_t kMaxMapExtent = std::int64_t{1} << 32;
constexpr std::int64_t kStrideEndBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMaxBox = 256;
constexpr std::int64_t kMaxElementStride = 8;
constexpr std::int64_t kAlignmentBytes = 16;
constexpr std::int64_t kInterleave32AlignmentBytes = 32;
constexpr std::size_t kMinInterleavedRank = 3;

class TensorMapResolver {
public:
  TensorMapResolver(const PlanContext& context, const TensorMap& map, const Scope& scope,
                    const std::vector<Buffer>& buffers)
      : context_(context), map_(map), scope_(scope),
        place_(resolve_buffer(context, map.buffer, scope, buffers)) {}

  ResolvedTensorMap resolve() {
    const Buffer& buffer = *place_.buffer;
    result_.buffer = buffer.name;
    result_.offset_bytes = place_.offset * bytes_of(buffer.dtype);
    result_.dtype = map_.dtype.value_or(buffer.dtype);
    result_.options = map_.options;
    result_.extents = list(map_.extents, "extents", kMaxMapExtent, "1 to 2^32 elements");
    result_.box = list(map_.box, "box", kMaxBox, "1 to 256 elements");
    result_.element_strides =
        map_.element_strides.empty()
            ? std::vector<std::int64_t>(rank(), 1)
            : list(map_.element_strides, "element_strides", kMaxElementStride, "1 to 8");
    check_options();
    check_address();
    set_strides();
    check_box();
    check_inside();
    return std::move(result_);
  }

private:
  static std::int64_t bytes_of(DType dtype) { return static_cast<std::int64_t>(size_bytes(dtype)); }
  std::size_t rank() const { return map_.extents.size(); }
  std::int64_t element_bytes() const { return bytes_of(result_.dtype); }
  bool interleaved() const { return map_.options.interleave != Interleave::None; }
  std::int64_t alignment() const {
    return map_.options.interleave == Interleave::Bytes32 ? kInterleave32AlignmentBytes
                                                          : kAlignmentBytes;
  }

  std::string name_of(std::string_view key, std::size_t index) const {
    return fmt::format("{}[{}] of tensor map '{}'", key, index, map_.name);
  }

  std::vector<std::int64_t> list(const std::vector<PlanExpression>& values, std::string_view key,
                                 std::int64_t most, const std::string& expected) const {
    std::vector<std::int64_t> result;
    result.reserve(values.size());
    for (const PlanExpression& value : values) {
      result.push_back(
          context_.integer_in(value, scope_, name_of(key, result.size()), 1, most, expected));
    }
    return result;
  }

  /// A message about a hidden shape omits `numbers`.
  [[noreturn]] void fail(SourcePosition at, const std::string& what, const std::string& numbers,
                         const std::string& expected) const {
    context_.fail(at,
                  fmt::format("{} for {}{}", what, context_.shape_text(),
                              context_.hidden() ? "" : ": " + numbers),
                  expected);
  }

  void check_options() const {
    const TensorMapOptions& options = map_.options;
    if (interleaved() && rank() < kMinInterleavedRank) {
      context_.fail(
          map_.at,
          fmt::format("tensor map '{}' is interleaved and has {} dimensions", map_.name, rank()),
          "at least 3 dimensions, or \"interleave\": \"none\"");
    }
    if (options.interleave == Interleave::Bytes32 && options.swizzle != Swizzle::Bytes32) {
      context_.fail(
          map_.at,
          fmt::format("tensor map '{}' is interleaved by 32B but not swizzled by 32B", map_.name),
          "\"swizzle\": \"32B\" with \"interleave\": \"32B\"");
    }
    const bool has_nan = is_floating(result_.dtype) && element_bytes() > 1;
    if (options.fill == OutOfBoundsFill::NaN && !has_nan) {
      context_.fail(map_.at,
                    fmt::format("tensor map '{}' of dtype {} is filled with nan", map_.name,
                                to_string(result_.dtype)),
                    "\"fill\": \"zero\" (\"nan\" is for f16, bf16, f32 and f64)");
    }
  }

  // Device buffers start at multiples of 256 bytes.
  void check_address() const {
    if (result_.offset_bytes % alignment() != 0) {
      fail(map_.buffer.offset.at,
           fmt::format("tensor map '{}' does not begin at a multiple of {} bytes", map_.name,
                       alignment()),
           fmt::format("\"at\" is byte {} of '{}'", result_.offset_bytes, result_.buffer),
           fmt::format("an offset that is a multiple of {} bytes", alignment()));
    }
  }

  void set_strides() {
    std::int64_t packed = element_bytes();
    for (std::size_t i = 0; i + 1 < rank(); ++i) {
      const bool overflow = __builtin_mul_overflow(packed, result_.extents[i], &packed);
      packed = overflow ? kStrideEndBytes : packed;
      std::int64_t stride = packed;
      if (!map_.strides.empty()) {
        stride = context_.integer_in(map_.strides[i], scope_, name_of("strides", i), 1,
                                     kStrideEndBytes, "1 to 2^40 elements") *
                 element_bytes();
      }
      check_stride(i, stride);
      result_.strides_bytes.push_back(stride);
    }
  }

  void check_stride(std::size_t index, std::int64_t stride) const {
    const bool packed = map_.strides.empty();
    const SourcePosition at = packed ? map_.extents[index].at : map_.strides[index].at;
    const std::string what = name_of("strides", index);
    const std::string numbers = fmt::format("{} bytes{}", stride, packed ? " when packed" : "");
    if (stride >= kStrideEndBytes) {
      fail(at, what + " is too large", numbers, "less than 2^40 bytes");
    }
    if (stride % alignment() != 0) {
      fail(at, fmt::format("{} is not a multiple of {} bytes", what, alignment()), numbers,
           fmt::format(
               "multiples of {} bytes: pad the rows, or launch another kernel for such shapes",
               alignment()));
    }
  }

  void check_box() const {
    const std::int64_t inner = result_.box[0] * element_bytes();
    const std::string numbers =
        fmt::format("{} elements of {} bytes", result_.box[0], element_bytes());
    if (!interleaved() && inner % kAlignmentBytes != 0) {
      fail(map_.box[0].at,
           fmt::format("{} is not a multiple of {} bytes", name_of("box", 0), kAlignmentBytes),
           numbers, "an inner box whose size is a multiple of 16 bytes");
    }
    const auto width = static_cast<std::int64_t>(map_.options.swizzle);
    if (!interleaved() && width != 0 && inner > width) {
      fail(map_.box[0].at, name_of("box", 0) + " is wider than the swizzle", numbers,
           fmt::format("at most {} bytes with \"swizzle\": \"{}B\"", width, width));
    }
  }

  // The end of the map, in bytes from the start of the buffer; nullopt on overflow.
  std::optional<std::int64_t> end_bytes() const {
    std::int64_t end = 0;
    bool overflow = __builtin_mul_overflow(result_.extents[0], element_bytes(), &end) ||
                    __builtin_add_overflow(end, result_.offset_bytes, &end);
    for (std::size_t i = 0; i < result_.strides_bytes.size(); ++i) {
      std::int64_t span = 0;
      overflow =
          overflow ||
          __builtin_mul_overflow(result_.extents[i + 1] - 1, result_.strides_bytes[i], &span) ||
          __builtin_add_overflow(end, span, &end);
    }
    return overflow ? std::nullopt : std::optional(end);
  }

  void check_inside() const {
    const std::int64_t bytes = place_.buffer->count * bytes_of(place_.buffer->dtype);
    const auto end = end_bytes();
    if (!end || *end > bytes) {
      fail(map_.at,
           fmt::format("tensor map '{}' does not fit its tensor '{}'", map_.name, result_.buffer),
           fmt::format("it reaches byte {} of {}", end ? std::to_string(*end) : "2^63", bytes),
           "extents, strides and \"at\" that stay inside the buffer");
    }
  }

  const PlanContext& context_;
  const TensorMap& map_;
  const Scope& scope_;
  BufferPlace place_;
  ResolvedTensorMap result_;
};

} // namespace

std::vector<const PlanExpression*> expressions_of(const TensorMap& map) {
  std::vector<const PlanExpression*> found;
  for (const auto* list : {&map.extents, &map.strides, &map.box, &map.element_strides}) {
    for (const PlanExpression& value : *list) {
      found.push_back(&value);
    }
  }
  for (const PlanExpression* value : {&map.buffer.by, &map.buffer.offset}) {
    if (!value->expression.empty()) {
      found.push_back(value);
    }
  }
  return found;
}

// Whether some name in the map means another value at this use than it means outside of loops.
bool TensorMaps::has_loop_values(const TensorMap& map, const Scope& used_in) const {
  for (const PlanExpression* value : expressions_of(map)) {
    for (const std::string& name : value->expression.names()) {
      if (used_in.find(name) != scope_.find(name)) {
        return true;
      }
    }
  }
  return false;
}

std::shared_ptr<const ResolvedTensorMap> TensorMaps::find(const std::string& name,
                                                          SourcePosition at, const Scope& used_in) {
  if (!context_.facts().tensor_maps) {
    context_.fail_unsupported(
        at, fmt::format("tensor map '{}': this device has no tensor memory accelerator", name));
  }
  const auto& maps = context_.file().plan.tensor_maps;
  const TensorMap* map = find_named(maps, name);
  const auto resolve = [&] {
    return std::make_shared<const ResolvedTensorMap>(
        TensorMapResolver(context_, *map, used_in, buffers_).resolve());
  };
  if (has_loop_values(*map, used_in)) {
    return resolve();
  }
  auto& known = resolved_[name];
  if (known == nullptr) {
    known = resolve();
  }
  return known;
}

} // namespace winnow::tasks
