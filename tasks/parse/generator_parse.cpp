#include "tasks/parse/generator_parse.h"

#include "base/text.h"
#include "tasks/expression/toml_expression.h"
#include "tasks/task/csr_pattern.h"
#include "tasks/task/generator_text.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using GeneratorKind = GeneratorSpec::Kind;

const GeneratorRow& kind_of(const TomlReader& table) {
  const std::string name = table.string("kind");
  std::vector<std::string> names;
  for (const GeneratorRow& known : generator_rows()) {
    if (known.name == name) {
      return known;
    }
    names.emplace_back(known.name);
  }
  table.fail_unknown("kind", "generator", name, names);
}

bool has_extent(GeneratorKind kind) {
  return kind == GeneratorKind::Index || kind == GeneratorKind::Permutation ||
         kind == GeneratorKind::OneHot || kind == GeneratorKind::CsrRows;
}

bool is_whole(const NumberRange& range) {
  constexpr double kLargestExact = 0x1p53;
  return range.low == std::floor(range.low) && range.high == std::floor(range.high) &&
         range.low >= -kLargestExact && range.high <= kLargestExact;
}

void require_floating(const TomlReader& table, const TensorSpec& tensor) {
  if (!is_floating(tensor.dtype)) {
    table.fail("kind",
               fmt::format("generator '{}' for a tensor of dtype {}", table.string("kind"),
                           to_string(tensor.dtype)),
               "a floating dtype");
  }
}

std::string text_of(const NumberRange& range) {
  return range.varies() ? fmt::format("[{}, {}]", range.low, range.high)
                        : fmt::format("{}", range.low);
}

// Every number of `a` must be below every number of `b`: a launch may draw any two.
void require_ascending(const TomlReader& table, const GeneratorSpec& spec,
                       const std::string& expected) {
  if (spec.a.high >= spec.b.low) {
    table.fail({}, fmt::format("low = {} and high = {}", text_of(spec.a), text_of(spec.b)),
               expected);
  }
}

// Converts the magnitudes of log_uniform to exponents.
void take_octaves(const TomlReader& table, GeneratorSpec& spec) {
  constexpr double kSmallest = 0x1p-1022;
  if (spec.a.low < kSmallest || spec.b.low < 2 * spec.a.high) {
    table.fail({}, fmt::format("magnitudes from {} to {}", text_of(spec.a), text_of(spec.b)),
               "0 < low, and high at least twice low");
  }
  spec.a = {double(std::ilogb(spec.a.low)), double(std::ilogb(spec.a.high))};
  spec.b = {double(std::ilogb(spec.b.low)), double(std::ilogb(spec.b.high))};
}

void check_share(const TomlReader& table, std::string_view key, const NumberRange& share) {
  if (share.low < 0 || share.high > 1) {
    table.fail(key, fmt::format("{} = {}", key, text_of(share)), "0 to 1");
  }
}

void check_tail(const TomlReader& table, const GeneratorSpec& spec) {
  constexpr double kLongest = 1e6;
  if (!is_whole(spec.a) || spec.a.low < 1 || spec.a.high > kLongest) {
    table.fail("tail", fmt::format("tail = {}", text_of(spec.a)),
               "a whole number from 1 to 1000000");
  }
  if (table.has("factor") && spec.c.low < 1) {
    table.fail("factor", fmt::format("factor = {}", text_of(spec.c)), "at least 1");
  }
}

void check_spread(const TomlReader& table, const GeneratorSpec& spec) {
  if (spec.b.low < 0) {
    table.fail({}, "a negative deviation", "0 or more");
  }
}

// Checks the kinds that only floating dtypes may have.
void check_floating_kind(const TomlReader& table, const TensorSpec& tensor, GeneratorSpec& spec) {
  require_floating(table, tensor);
  if (spec.kind == GeneratorKind::LogUniform) {
    take_octaves(table, spec);
  } else if (spec.kind == GeneratorKind::Denormal) {
    spec.a = smallest_normal(tensor.dtype);
  } else {
    check_share(table, "share", spec.a);
  }
}

void check_generator(const TomlReader& table, const TensorSpec& tensor, GeneratorSpec& spec) {
  switch (spec.kind) {
  case GeneratorKind::Sparse:
    check_share(table, "density", spec.a);
    [[fallthrough]];
  case GeneratorKind::Normal:
    check_spread(table, spec);
    return;
  case GeneratorKind::HeavyTail:
    check_tail(table, spec);
    check_spread(table, spec);
    return;
  case GeneratorKind::Uniform:
    require_ascending(table, spec, "every low below every high");
    return;
  case GeneratorKind::SmallIntegers:
    if (!is_whole(spec.a) || !is_whole(spec.b) || spec.a.high > spec.b.low) {
      table.fail({},
                 fmt::format("low = {} and high = {} are no range of whole numbers",
                             text_of(spec.a), text_of(spec.b)),
                 "whole numbers with low <= high");
    }
    return;
  case GeneratorKind::Ties:
    if (!is_whole(spec.a) || spec.a.low < 1) {
      table.fail("values", fmt::format("values = {}", text_of(spec.a)),
                 "a whole number of at least 1");
    }
    return;
  case GeneratorKind::LogUniform:
  case GeneratorKind::Denormal:
  case GeneratorKind::Special:
    check_floating_kind(table, tensor, spec);
    return;
  case GeneratorKind::CsrRows:
  case GeneratorKind::Index:
    check_share(table, "skew", spec.b);
    return;
  case GeneratorKind::CsrColumns:
  case GeneratorKind::Permutation:
  case GeneratorKind::OneHot:
  case GeneratorKind::Constant:
  case GeneratorKind::Reference:
    return;
  }
}

double end_of_range(const TomlReader& table, std::string_view key, const TomlReader& item) {
  constexpr double kMost = 1e300; // so that no difference of two ends is infinite
  const auto end = item.as_number();
  if (!end || !(std::abs(*end) <= kMost)) {
    item.fail({}, fmt::format("an end of '{}' is no number", table.full_name(key)), "a number");
  }
  return *end;
}

NumberRange read_range(const TomlReader& table, std::string_view key) {
  if (!table.value(key, "a number or a range").is_list()) {
    return table.number(key);
  }
  const std::vector<TomlReader> ends = table.list(key, "two numbers");
  const bool is_pair = ends.size() == 2;
  const NumberRange range =
      is_pair ? NumberRange(end_of_range(table, key, ends[0]), end_of_range(table, key, ends[1]))
              : NumberRange();
  if (range.low >= range.high) {
    table.fail(key, fmt::format("'{}' is no range", table.full_name(key)),
               "a number, or [low, high] with low below high");
  }
  return range;
}

// The value of a key; for a boolean key, true is 1.
NumberRange value_of(const TomlReader& table, const GeneratorRow& known,
                     const GeneratorParameter& parameter, std::vector<std::string>& keys) {
  if (parameter.key.empty()) {
    return *parameter.fallback;
  }
  keys.emplace_back(parameter.key);
  if (known.kind == GeneratorKind::Special && parameter.key == "nan") {
    return table.boolean_or(parameter.key, false) ? 1.0 : 0.0;
  }
  return parameter.fallback && !table.has(parameter.key) ? *parameter.fallback
                                                         : read_range(table, parameter.key);
}

// A float whose type is a code is drawn as its byte. Other bytes would saturate, or be NaN.
void check_code(const TomlReader& table, const TensorSpec& tensor, const GeneratorSpec& spec) {
  if (how_to_read(tensor.dtype).empty() || spec.kind == GeneratorKind::Reference) {
    return;
  }
  const int largest = tensor.dtype == DType::F8E8M0 ? 254 : 255;
  const NumberRange last = spec.kind == GeneratorKind::SmallIntegers ? spec.b : spec.a;
  const bool is_code =
      (spec.kind == GeneratorKind::SmallIntegers || spec.kind == GeneratorKind::Constant) &&
      is_whole(last) && spec.a.low >= 0 && last.high <= largest;
  if (!is_code) {
    table.fail({}, fmt::format("the draws are not all codes of {}", to_string(tensor.dtype)),
               fmt::format("small_integers or constant from 0 to {}", largest));
  }
}

bool can_vary(GeneratorKind kind) {
  using enum GeneratorSpec::Kind;
  return kind != Permutation && kind != OneHot && kind != Denormal && kind != Reference;
}

} // namespace

GeneratorSpec default_generator() {
  const GeneratorRow& normal = row_of(GeneratorKind::Normal);
  return {normal.kind, *normal.a.fallback, *normal.b.fallback};
}

bool is_fixed(const TensorSpec& tensor) {
  const GeneratorSpec& spec = tensor.generator;
  const bool is_float = is_floating(tensor.dtype) || tensor.dtype == DType::F8E8M0;
  if (tensor.role == Role::Output || tensor.is_static || !is_float || !can_vary(spec.kind)) {
    return false;
  }
  return spec.kind == GeneratorKind::Normal
             ? !spec.a.varies() || !spec.b.varies()
             : !spec.a.varies() && !spec.b.varies() && !spec.c.varies();
}

void parse_generator(const TomlReader& table, TensorSpec& tensor) {
  const GeneratorRow& known = kind_of(table);
  std::vector<std::string> keys{"kind"};
  GeneratorSpec spec{known.kind};
  if (has_extent(known.kind)) {
    keys.emplace_back(known.a.key);
    tensor.generator_extent = read_expression(table, known.a.key);
  } else {
    spec.a = value_of(table, known, known.a, keys);
  }
  spec.b = value_of(table, known, known.b, keys);
  spec.c = value_of(table, known, known.c, keys);
  if (known.kind == GeneratorKind::CsrRows || known.kind == GeneratorKind::CsrColumns) {
    tensor.csr = parse_csr_pattern(table, tensor, known.kind == GeneratorKind::CsrRows, keys);
  }
  table.allow_keys(keys);
  check_generator(table, tensor, spec);
  check_code(table, tensor, spec);
  tensor.generator = spec;
}

void require_ranges(const TomlReader& table, const TensorSpec& tensor) {
  if (!is_fixed(tensor)) {
    return;
  }
  table.fail({},
             fmt::format("'{}' has the same distribution in every launch, so a kernel may know it",
                         tensor.name),
             tensor.generator.kind == GeneratorKind::Normal
                 ? "ranges for mean and std, such as mean = [-1, 1], std = [0.5, 2]"
                 : "a range for a number of the generator, such as [0.5, 2]");
}

} // namespace winnow::tasks
