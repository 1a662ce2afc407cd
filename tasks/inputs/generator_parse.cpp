#include "tasks/inputs/generator_parse.h"

#include "base/text.h"
#include "tasks/expression/toml_expression.h"
#include "tasks/inputs/csr_pattern.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

using GeneratorKind = GeneratorSpec::Kind;

/// The keys of a generator kind in task.toml. An empty key is unused. A key without a default is
/// required.
struct KindKeys {
  std::string_view name;
  GeneratorKind kind;
  std::string_view a_key, b_key;
  std::optional<double> a, b;
};

const std::vector<KindKeys>& kinds() {
  static const std::vector<KindKeys> all{
      {"normal", GeneratorKind::Normal, "mean", "std", 0, 1},
      {"uniform", GeneratorKind::Uniform, "low", "high", -1, 1},
      {"heavy_tail", GeneratorKind::HeavyTail, "tail", "scale", 100, 1},
      {"small_integers", GeneratorKind::SmallIntegers, "low", "high", -4, 4},
      {"index", GeneratorKind::Index, "limit", "", {}, 0},
      {"constant", GeneratorKind::Constant, "value", "", {}, 0},
      {"log_uniform", GeneratorKind::LogUniform, "low", "high", 0x1p-20, 0x1p20},
      {"sparse", GeneratorKind::Sparse, "density", "std", 0.1, 1},
      {"ties", GeneratorKind::Ties, "values", "step", 5, 1},
      {"permutation", GeneratorKind::Permutation, "length", "", {}, 0},
      {"one_hot", GeneratorKind::OneHot, "length", "", {}, 0},
      {"denormal", GeneratorKind::Denormal, "", "", 0, 0},
      {"special", GeneratorKind::Special, "share", "nan", 0.01, 0},
      {"reference", GeneratorKind::Reference, "", "", 0, 0},
      {"csr_rows", GeneratorKind::CsrRows, "nonzeros", "skew", {}, 0.5},
      {"csr_columns", GeneratorKind::CsrColumns, "", "", 0, 0},
  };
  return all;
}

const KindKeys& kind_of(const TomlReader& table) {
  const std::string name = table.string("kind");
  std::vector<std::string> names;
  for (const KindKeys& known : kinds()) {
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

bool is_whole(double value) {
  constexpr double kLargestExact = 0x1p53;
  return value == std::floor(value) && std::abs(value) <= kLargestExact;
}

void require_floating(const TomlReader& table, const TensorSpec& tensor) {
  if (!is_floating(tensor.dtype)) {
    table.fail("kind",
               fmt::format("generator '{}' for a tensor of dtype {}", table.string("kind"),
                           to_string(tensor.dtype)),
               "a floating dtype");
  }
}

// Converts the magnitudes of log_uniform to exponents.
void take_octaves(const TomlReader& table, GeneratorSpec& spec) {
  constexpr double kSmallest = 0x1p-1022;
  const bool in_range = spec.a >= kSmallest && spec.b >= 2 * spec.a && std::isfinite(spec.b);
  if (!in_range) {
    table.fail({}, fmt::format("magnitudes from {} to {}", spec.a, spec.b),
               "0 < low, and high at least twice low");
  }
  spec.a = std::ilogb(spec.a);
  spec.b = std::ilogb(spec.b);
}

double smallest_normal(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 0x1p-1022;
  case DType::F16:
  case DType::F8E5M2:
    return 0x1p-14;
  case DType::F8E4M3:
    return 0x1p-6;
  default: // f32, bf16
    return 0x1p-126;
  }
}

void check_share(const TomlReader& table, std::string_view key, double share) {
  if (!(share >= 0 && share <= 1)) {
    table.fail(key, fmt::format("{} = {}", key, share), "0 to 1");
  }
}

void check_tail(const TomlReader& table, const GeneratorSpec& spec) {
  constexpr double kLongest = 1e6;
  if (!is_whole(spec.a) || spec.a < 1 || spec.a > kLongest) {
    table.fail("tail", fmt::format("tail = {}", spec.a), "a whole number from 1 to 1000000");
  }
}

void check_spread(const TomlReader& table, const GeneratorSpec& spec) {
  if (spec.b < 0) {
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
    if (spec.a >= spec.b) {
      table.fail({}, fmt::format("low = {} is not below high = {}", spec.a, spec.b), "low < high");
    }
    return;
  case GeneratorKind::SmallIntegers:
    if (!is_whole(spec.a) || !is_whole(spec.b) || spec.a > spec.b) {
      table.fail({}, fmt::format("[{}, {}] is not a range of whole numbers", spec.a, spec.b),
                 "whole numbers with low <= high");
    }
    return;
  case GeneratorKind::Ties:
    if (!is_whole(spec.a) || spec.a < 1 || !std::isfinite(spec.b)) {
      table.fail("values", fmt::format("values = {}", spec.a), "a whole number of at least 1");
    }
    return;
  case GeneratorKind::LogUniform:
  case GeneratorKind::Denormal:
  case GeneratorKind::Special:
    check_floating_kind(table, tensor, spec);
    return;
  case GeneratorKind::CsrRows:
    check_share(table, "skew", spec.b);
    return;
  case GeneratorKind::CsrColumns:
  case GeneratorKind::Index:
  case GeneratorKind::Permutation:
  case GeneratorKind::OneHot:
  case GeneratorKind::Constant:
  case GeneratorKind::Reference:
    return;
  }
}

// The value of a key; for a boolean key, true is 1.
double value_of(const TomlReader& table, const KindKeys& known, std::string_view key,
                std::optional<double> fallback) {
  if (known.kind == GeneratorKind::Special && key == "nan") {
    return table.boolean_or(key, false) ? 1 : 0;
  }
  return fallback ? table.number_or(key, *fallback) : table.number(key);
}

} // namespace

void parse_generator(const TomlReader& table, TensorSpec& tensor) {
  const KindKeys& known = kind_of(table);
  std::vector<std::string> keys{"kind"};
  GeneratorSpec spec{known.kind, known.a.value_or(1), known.b.value_or(0)};
  if (!known.a_key.empty()) {
    keys.emplace_back(known.a_key);
    if (has_extent(known.kind)) {
      tensor.generator_extent = read_expression(table, known.a_key);
    } else {
      spec.a = value_of(table, known, known.a_key, known.a);
    }
  }
  if (!known.b_key.empty()) {
    keys.emplace_back(known.b_key);
    spec.b = value_of(table, known, known.b_key, known.b);
  }
  if (known.kind == GeneratorKind::CsrRows || known.kind == GeneratorKind::CsrColumns) {
    tensor.csr = parse_csr_pattern(table, tensor, known.kind == GeneratorKind::CsrRows, keys);
  }
  table.allow_keys(keys);
  check_generator(table, tensor, spec);
  tensor.generator = spec;
}

} // namespace winnow::tasks
