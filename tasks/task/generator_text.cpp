#include "tasks/task/generator_text.h"

#include "tasks/inputs/generator_core.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// A kind of generator in words. A parameter without a name is not told.
struct KindInWords {
  std::string_view elements;
  std::string_view a = "", b = "", c = "";
};

KindInWords words_of(GeneratorSpec::Kind kind) {
  using enum GeneratorSpec::Kind;
  switch (kind) {
  case Normal:
    return {"normally distributed", "mean", "standard deviation",
            "shift of the mean (in standard deviations, up or down)"};
  case Uniform:
    return {"uniform", "low end", "high end"};
  case HeavyTail:
    return {"signed, heavy-tailed", "elements for each extreme one", "standard deviation",
            "factor of an extreme element"};
  case SmallIntegers:
    return {"small whole numbers", "low end", "high end"};
  case Index:
    return {"indices", "", "skew (towards 1 a few values get most elements)"};
  case Constant:
    return {"constant", "value"};
  case LogUniform:
    return {"signed, of many magnitudes", "least magnitude", "greatest magnitude"};
  case Sparse:
    return {"mostly zero", "share of the others", "their standard deviation"};
  case Ties:
    return {"few different ones, many equal", "number of values", "step", "offset"};
  case Permutation:
    return {"a permutation of indices"};
  case OneHot:
    return {"0 and a single 1 in each group"};
  case Denormal:
    return {"subnormal"};
  case Special:
    return {"normally distributed, with infinities or NaN among them", "their share"};
  case Reference:
    return {"computed by the module, not drawn one by one"};
  case CsrRows:
    return {"row pointers of a sparse matrix with empty and very long rows", "", "skew"};
  case CsrColumns:
    return {"column indices of a sparse matrix, ascending in each row"};
  }
  return {};
}

} // namespace

std::string distribution_text(const TensorSpec& tensor) {
  const GeneratorSpec& spec = tensor.generator;
  const KindInWords words = words_of(spec.kind);
  const bool has_exponents = spec.kind == GeneratorSpec::Kind::LogUniform;
  const auto number = [&](double value) { return has_exponents ? std::exp2(value) : value; };
  std::string ranges;
  const auto add = [&](std::string_view name, const NumberRange& range) {
    if (!name.empty() && range.varies()) {
      ranges += fmt::format(", {} from {} to {}", name, number(range.low), number(range.high));
    }
  };
  add(words.a, spec.a);
  add(words.b, spec.b);
  add(words.c, spec.c);
  const char* when = tensor.is_static ? ", drawn once" : ", drawn anew for each launch";
  return std::string(words.elements) + ranges + (ranges.empty() ? "" : when);
}

} // namespace winnow::tasks
