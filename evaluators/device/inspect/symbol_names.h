#pragma once

#include <string>

namespace winnow::evaluators {

/// "_Z4axpyILi4EEvPfi" -> "void axpy<4>(float*, int)". Returns any other text unchanged.
std::string demangle(const std::string& symbol);

/// "void a::scale<128>(float*)" -> "scale".
std::string unqualified(const std::string& demangled);

} // namespace winnow::evaluators
