#include "tasks/expression/expression.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using winnow::tasks::Expression;
using winnow::tasks::ExpressionError;
using winnow::tasks::Scope;

namespace {

Scope names() {
  Scope scope;
  scope.set("n", std::int64_t{1000});
  scope.set("m", std::int64_t{-7});
  scope.set("z", std::int64_t{0});
  scope.set("eps", 1e-5);
  return scope;
}

// An error's column must be inside the expression or directly after its end.
void check(const ExpressionError& error, std::size_t size) {
  if (error.column() < 1 || static_cast<std::size_t>(error.column()) > size + 1) {
    std::abort();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Scope scope = names();
  try {
    const Expression expression = Expression::parse(text);
    for (const std::string& name : expression.names()) {
      if (expression.column_of(name) < 1) {
        std::abort();
      }
    }
    try {
      expression.evaluate(scope);
    } catch (const ExpressionError& error) {
      check(error, size);
    }
    expression.evaluate_float(scope);
  } catch (const ExpressionError& error) {
    check(error, size);
  }
  return 0;
}
