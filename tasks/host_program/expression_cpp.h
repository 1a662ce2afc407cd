#pragma once

#include "tasks/expression/expression.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace winnow::tasks {

/// How an expression becomes C++ text.
struct CppNames {
  std::function<std::string(const std::string&)> variable; ///< the C++ name of a plan's name
  std::function<std::int64_t(const std::string&)> size_of; ///< bytes of an element
};

/// The expression as C++, for the functions in tasks/host_program/support.cuh. An integer
/// expression has the type long long, and is a constant expression if its names are.
std::string integer_cpp(const Expression& expression, const CppNames& names);
/// As integer_cpp(), computed in double.
std::string real_cpp(const Expression& expression, const CppNames& names);
/// A double in full precision, also infinite or not a number.
std::string real_literal(double value);

} // namespace winnow::tasks
