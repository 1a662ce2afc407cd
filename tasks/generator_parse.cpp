#include "tasks/generator_parse.h"

#include "base/text.h"

#include <cmath>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

void check_generator(const TomlReader& table, const GeneratorSpec& spec) {
  constexpr double kLargestExact = 0x1p53;
  using Kind = GeneratorSpec::Kind;
  const bool whole = spec.a == std::floor(spec.a) && spec.b == std::floor(spec.b) &&
                     std::abs(spec.a) <= kLargestExact && std::abs(spec.b) <= kLargestExact;
  switch (spec.kind) {
  case Kind::Normal:
  case Kind::HeavyTail:
    if (spec.b < 0) {
      table.fail({}, "a negative deviation", "0 or more");
    }
    return;
  case Kind::Uniform:
    if (spec.a >= spec.b) {
      table.fail({}, fmt::format("low = {} is not below high = {}", spec.a, spec.b), "low < high");
    }
    return;
  case Kind::SmallIntegers:
    if (!whole || spec.a > spec.b) {
      table.fail({}, fmt::format("[{}, {}] is no range of whole numbers", spec.a, spec.b),
                 "whole numbers with low <= high");
    }
    return;
  case Kind::Index:
    if (!whole || spec.a < 1) {
      table.fail("limit", fmt::format("limit = {}", spec.a), "a whole number of at least 1");
    }
    return;
  case Kind::Constant:
    return;
  }
}

} // namespace

GeneratorSpec parse_generator(const TomlReader& table) {
  using Kind = GeneratorSpec::Kind;
  struct KindKeys {
    std::string name;
    Kind kind;
    std::string a_key, b_key; ///< empty: not used
    double a, b;
  };
  static const std::vector<KindKeys> kinds{
      {"normal", Kind::Normal, "mean", "std", 0, 1},
      {"uniform", Kind::Uniform, "low", "high", -1, 1},
      {"heavy_tail", Kind::HeavyTail, "", "scale", 0, 1},
      {"small_integers", Kind::SmallIntegers, "low", "high", -4, 4},
      {"index", Kind::Index, "limit", "", 0, 0},
      {"constant", Kind::Constant, "value", "", 0, 0},
  };
  const std::string name = table.string("kind");
  std::vector<std::string> names;
  for (const KindKeys& known : kinds) {
    names.push_back(known.name);
    if (known.name != name) {
      continue;
    }
    std::vector<std::string> keys{"kind"};
    GeneratorSpec spec{known.kind, known.a, known.b};
    const bool required = known.kind == Kind::Index || known.kind == Kind::Constant;
    if (!known.a_key.empty()) {
      keys.push_back(known.a_key);
      spec.a = required ? table.number(known.a_key) : table.number_or(known.a_key, known.a);
    }
    if (!known.b_key.empty()) {
      keys.push_back(known.b_key);
      spec.b = table.number_or(known.b_key, known.b);
    }
    table.allow_keys(keys);
    check_generator(table, spec);
    return spec;
  }
  table.fail("kind", fmt::format("unknown generator '{}'{}", name, suggestion(name, names)),
             "one of " + join(names, ", "));
}

} // namespace winnow::tasks
