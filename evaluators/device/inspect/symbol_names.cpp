#include "evaluators/device/inspect/symbol_names.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace winnow::evaluators {

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : symbol;
}

std::string unqualified(const std::string& demangled) {
  std::string name = demangled.substr(0, demangled.find_first_of("(<"));
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

} // namespace winnow::evaluators
