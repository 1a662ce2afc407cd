#include "tasks/task/generator_text.h"

#include "tasks/inputs/generator_core.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace winnow::tasks {

const std::vector<GeneratorRow>& generator_rows() {
  using Range = NumberRange;
  constexpr Range kMean{-1, 1}, kStd{0.5, 2}, kShare{0x1p-10, 0.25};
#define TASKS_KIND(name) GeneratorSpec::Kind::name, #name
  // clang-format off
  static const std::vector<GeneratorRow> rows{
      {TASKS_KIND(Normal), "normal", "normally distributed", {"mean", kMean, "mean"},
       {"std", kStd, "standard deviation"},
       {"shift", 0.0, "shift of the mean (in standard deviations, up or down)"}},
      {TASKS_KIND(Uniform), "uniform", "uniform", {"low", Range(-2, -0.5), "low end"},
       {"high", Range(0.5, 2), "high end"}},
      {TASKS_KIND(HeavyTail), "heavy_tail", "signed, heavy-tailed",
       {"tail", Range(30, 300), "elements for each extreme one"},
       {"scale", kStd, "standard deviation"}, {"factor", 0.0, "factor of an extreme element"}},
      {TASKS_KIND(SmallIntegers), "small_integers", "small whole numbers",
       {"low", -4.0, "low end"}, {"high", 4.0, "high end"}},
      {TASKS_KIND(Index), "index", "indices", {"limit", {}},
       {"skew", 0.0, "skew (towards 1 a few values get most elements)"}},
      {TASKS_KIND(Constant), "constant", "constant", {"value", {}, "value"}},
      {TASKS_KIND(LogUniform), "log_uniform", "signed, of many magnitudes",
       {"low", Range(0x1p-24, 0x1p-16), "least magnitude"},
       {"high", Range(0x1p16, 0x1p24), "greatest magnitude"}},
      {TASKS_KIND(Sparse), "sparse", "mostly zero", {"density", kShare, "share of the others"},
       {"std", kStd, "their standard deviation"}},
      {TASKS_KIND(Ties), "ties", "few different ones, many equal",
       {"values", Range(2, 20), "number of values"}, {"step", kStd, "step"},
       {"offset", kMean, "offset"}},
      {TASKS_KIND(Permutation), "permutation", "a permutation of indices", {"length", {}}},
      {TASKS_KIND(OneHot), "one_hot", "0 and a single 1 in each group", {"length", {}}},
      {TASKS_KIND(Denormal), "denormal", "subnormal"},
      {TASKS_KIND(Special), "special", "normally distributed, with infinities or NaN among them",
       {"share", kShare, "their share"}, {"nan", 0.0}},
      {TASKS_KIND(Reference), "reference", "computed by the module, not drawn one by one"},
      {TASKS_KIND(CsrRows), "csr_rows",
       "row pointers of a sparse matrix with empty and very long rows", {"nonzeros", {}},
       {"skew", Range(0, 0.9), "skew"}},
      {TASKS_KIND(CsrColumns), "csr_columns",
       "column indices of a sparse matrix, ascending in each row"}};
  // clang-format on
#undef TASKS_KIND
  return rows;
}

const GeneratorRow& row_of(GeneratorSpec::Kind kind) {
  return generator_rows().at(static_cast<std::size_t>(kind));
}

std::string distribution_text(const TensorSpec& tensor) {
  const GeneratorSpec& spec = tensor.generator;
  const GeneratorRow& row = row_of(spec.kind);
  const bool has_exponents = spec.kind == GeneratorSpec::Kind::LogUniform;
  const auto number = [&](double value) { return has_exponents ? std::exp2(value) : value; };
  std::string ranges;
  const auto add = [&](const GeneratorParameter& told, const NumberRange& range) {
    if (!told.words.empty() && range.varies()) {
      ranges +=
          fmt::format(", {} from {} to {}", told.words, number(range.low), number(range.high));
    }
  };
  add(row.a, spec.a);
  add(row.b, spec.b);
  add(row.c, spec.c);
  const char* when = tensor.is_static ? ", drawn once" : ", drawn anew for each launch";
  return std::string(row.words) + ranges + (ranges.empty() ? "" : when);
}

} // namespace winnow::tasks
