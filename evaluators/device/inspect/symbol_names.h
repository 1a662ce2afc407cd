#pragma once

#include <string>

namespace winnow::evaluators {

/// "_Z4axpyILi4EEvPfi" as "void axpy<4>(float*, int)"; what is no mangled name stays as it is.
std::string demangle(const std::string& symbol);

/// "void a::scale<128>(float*)" as "scale".
std::string unqualified(const std::string& demangled);

} // namespace winnow::evaluators
