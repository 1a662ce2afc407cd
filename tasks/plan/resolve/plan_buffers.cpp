#include "tasks/plan/resolve/plan_buffers.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

// Larger than any buffer, and small enough that the byte count does not overflow.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;

std::int64_t element_bytes(const Buffer& buffer) {
  return static_cast<std::int64_t>(size_bytes(buffer.dtype));
}

// " (4096 elements)"; empty for a hidden shape.
std::string size_text(const PlanContext& context, const Buffer& buffer) {
  return context.hidden() ? std::string() : fmt::format(" ({} elements)", buffer.count);
}

std::int64_t elements(const PlanContext& context, const PlanExpression& value, const Scope& scope,
                      std::string_view what) {
  return context.integer_in(value, scope, what, 0, kMaxElements, "0 or more elements");
}

const Buffer& not_null(const PlanContext& context, const BufferReference& reference,
                       const BufferPlace& place, std::string_view what) {
  if (place.buffer == nullptr) {
    context.fail(reference.at, fmt::format("the {} has a null pointer", what), "a buffer");
  }
  return *place.buffer;
}

void must_be_writable(const PlanContext& context, const BufferReference& reference,
                      const Buffer& buffer, std::string_view what) {
  if (buffer.kind == Buffer::Kind::Input) {
    context.fail(reference.at, fmt::format("the {} writes to input '{}'", what, buffer.name),
                 "an output, inout or scratch buffer: inputs are read-only");
  }
}

// The value that a store leaves.
double as_stored(DType dtype, double value) {
  std::array<std::byte, 8> storage{};
  store_element(dtype, storage.data(), value);
  return load_element(dtype, storage.data());
}

// Whether a store keeps the value. A floating type rounds a number, but F8E4M3 has no infinity and
// would store NaN.
bool holds(DType dtype, double value) {
  const double stored = as_stored(dtype, value);
  return is_floating(dtype) ? (!std::isinf(value) || std::isinf(stored)) &&
                                  (!std::isnan(value) || std::isnan(stored))
                            : stored == value;
}

void check_value(const PlanContext& context, const Buffer& buffer, double value,
                 SourcePosition at) {
  if (!holds(buffer.dtype, value)) {
    const bool floating = is_floating(buffer.dtype);
    const double stored = as_stored(buffer.dtype, value);
    context.fail(at,
                 fmt::format("the value {} does not fit '{}' of dtype {}{}", value, buffer.name,
                             to_string(buffer.dtype),
                             floating ? fmt::format(", which has no {} and would store {}",
                                                    std::isnan(value) ? "nan" : "inf", stored)
                                      : ""),
                 floating ? "a finite value" : "a value of that type");
  }
}

// One side of a copy: the elements [offset, offset + extent) of a buffer.
struct Range {
  const Buffer& buffer;
  std::int64_t offset;
  std::int64_t extent;
};

Range row_range(const PlanContext& context, const BufferReference& reference,
                const BufferPlace& place, std::int64_t count, std::int64_t rows,
                std::int64_t stride, std::string_view what) {
  const Buffer& buffer = *place.buffer;
  std::int64_t extent = 0;
  const bool overflow = __builtin_mul_overflow(rows - 1, stride, &extent) ||
                        __builtin_add_overflow(extent, count, &extent);
  if (overflow || extent > buffer.count - place.offset) {
    const std::string numbers =
        context.hidden() ? std::string()
                         : fmt::format(": {} rows of {} every {} elements from element {}", rows,
                                       count, stride, place.offset);
    context.fail(reference.at,
                 fmt::format("the copy goes past the end of {} '{}' for {}{}", what, buffer.name,
                             context.shape_text(), numbers),
                 "a range inside the buffer" + size_text(context, buffer));
  }
  return {buffer, place.offset, extent};
}

void set_count(const PlanContext& context, const ScratchBuffer& scratch, const Scope& scope,
               std::int64_t& free_bytes, Buffer& buffer) {
  const std::string what = fmt::format("the count of scratch '{}'", scratch.name);
  buffer.count = context.integer_in(scratch.count, scope, what, 1,
                                    std::numeric_limits<std::int64_t>::max(), "at least 1");
  if (buffer.count > free_bytes / element_bytes(buffer)) {
    context.fail(
        scratch.count.at,
        context.statement(scratch.count, scope, what, std::to_string(buffer.count)),
        fmt::format(
            "scratch buffers of at most {} bytes together ('{}' takes {} bytes per element)",
            context.facts().memory_bytes, scratch.name, element_bytes(buffer)));
  }
  free_bytes -= buffer.count * element_bytes(buffer);
}

bool overlap(const Range& a, const Range& b) {
  return &a.buffer == &b.buffer && a.offset < b.offset + b.extent && b.offset < a.offset + a.extent;
}

} // namespace

BufferPlace resolve_buffer(const PlanContext& context, const BufferReference& reference,
                           const Scope& scope, const std::vector<Buffer>& buffers) {
  std::size_t index = 0;
  if (!reference.by.expression.empty()) {
    const auto last = static_cast<std::int64_t>(reference.pick.size()) - 1;
    index = static_cast<std::size_t>(
        context.integer_in(reference.by, scope, "by", 0, last,
                           fmt::format("0 to {}: an index into the {} items of \"pick\"", last,
                                       reference.pick.size())));
  }
  const auto& name = reference.pick[index];
  BufferPlace place;
  if (!name) {
    return place;
  }
  place.buffer = find_named(buffers, *name);
  if (!reference.offset.expression.empty()) {
    place.offset = context.integer_in(
        reference.offset, scope, "at", 0, place.buffer->count - 1,
        fmt::format("an element of '{}'{}", *name, size_text(context, *place.buffer)));
  }
  return place;
}

void add_scratch(const PlanContext& context, const Scope& scope, std::vector<Buffer>& buffers) {
  std::int64_t free_bytes = context.facts().memory_bytes;
  for (const ScratchBuffer& scratch : context.file().plan.scratch) {
    Buffer buffer;
    buffer.name = scratch.name;
    buffer.kind = Buffer::Kind::Scratch;
    buffer.dtype = scratch.dtype;
    buffer.once = scratch.once;
    buffer.keep = scratch.keep;
    try {
      set_count(context, scratch, scope, free_bytes, buffer);
    } catch (const UnknownValue&) {
      buffer.count = kMaxElements; // checked again after compiling
    }
    if (scratch.once) {
      check_value(context, buffer, *scratch.once, scratch.at);
    }
    buffers.push_back(std::move(buffer));
  }
}

std::optional<FillStep> resolve_fill(const PlanContext& context, const Fill& fill,
                                     const Scope& scope, const std::vector<Buffer>& buffers) {
  const BufferPlace place = resolve_buffer(context, fill.buffer, scope, buffers);
  const Buffer& buffer = not_null(context, fill.buffer, place, "fill");
  must_be_writable(context, fill.buffer, buffer, "fill");
  check_value(context, buffer, fill.value, fill.buffer.at);
  const std::int64_t rest = buffer.count - place.offset;
  std::int64_t count = rest;
  if (!fill.count.expression.empty()) {
    count = context.integer_in(
        fill.count, scope, "count", 0, rest,
        fmt::format("0 up to the end of '{}'{}", buffer.name, size_text(context, buffer)));
  }
  if (count == 0) {
    return std::nullopt;
  }
  return FillStep{buffer.name, place.offset * element_bytes(buffer), count, buffer.dtype,
                  fill.value};
}

std::optional<CopyStep> resolve_copy(const PlanContext& context, const Copy& copy,
                                     const Scope& scope, const std::vector<Buffer>& buffers) {
  const BufferPlace from_place = resolve_buffer(context, copy.from, scope, buffers);
  const BufferPlace to_place = resolve_buffer(context, copy.to, scope, buffers);
  const Buffer& from = not_null(context, copy.from, from_place, "copy");
  const Buffer& to = not_null(context, copy.to, to_place, "copy");
  must_be_writable(context, copy.to, to, "copy");
  if (from.dtype != to.dtype) {
    context.fail(copy.to.at,
                 fmt::format("a copy from '{}' of dtype {} to '{}' of dtype {}", from.name,
                             to_string(from.dtype), to.name, to_string(to.dtype)),
                 "the same dtype on both sides");
  }
  const auto or_default = [&](const PlanExpression& value, std::string_view what,
                              std::int64_t fallback) {
    return value.expression.empty() ? fallback : elements(context, value, scope, what);
  };
  const std::int64_t count = or_default(copy.count, "count", from.count - from_place.offset);
  const std::int64_t rows = or_default(copy.rows, "rows", 1);
  const std::int64_t from_stride = or_default(copy.from_stride, "from_stride", count);
  const std::int64_t to_stride = or_default(copy.to_stride, "to_stride", count);
  if (count == 0 || rows == 0) {
    return std::nullopt;
  }
  if (rows > 1 && to_stride < count) {
    context.fail(copy.to_stride.at,
                 context.statement(copy.to_stride, scope, "to_stride", std::to_string(to_stride)),
                 "at least \"count\": the rows would overlap");
  }
  const Range source =
      row_range(context, copy.from, from_place, count, rows, from_stride, "source");
  const Range target = row_range(context, copy.to, to_place, count, rows, to_stride, "target");
  if (overlap(source, target)) {
    context.fail(copy.to.at,
                 fmt::format("the source and the target of the copy overlap in '{}' for {}",
                             to.name, context.shape_text()),
                 "ranges that do not overlap");
  }
  const std::int64_t bytes = element_bytes(from);
  return CopyStep{from.name,     to.name, from_place.offset * bytes, to_place.offset * bytes,
                  count * bytes, rows,    from_stride * bytes,       to_stride * bytes};
}

} // namespace winnow::tasks
