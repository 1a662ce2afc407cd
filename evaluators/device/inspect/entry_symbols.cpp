#include "evaluators/device/inspect/entry_symbols.h"

#include <cstring>

namespace winnow::evaluators {
namespace {

std::string symbol_bytes(const ElfReader& module, const std::string& name) {
  auto bytes = module.read_symbol(name);
  if (!bytes) {
    throw ElfError("the module has no symbol " + name);
  }
  return std::move(*bytes);
}

} // namespace

std::vector<std::string> read_signatures(const ElfReader& module, std::size_t count) {
  std::vector<std::string> signatures;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string bytes = symbol_bytes(module, "winnow_signature_" + std::to_string(i));
    signatures.push_back(bytes.substr(0, bytes.find('\0')));
  }
  return signatures;
}

std::vector<std::int64_t> read_constants(const ElfReader& module, std::size_t count) {
  std::vector<std::int64_t> constants;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "winnow_constant_" + std::to_string(i);
    const std::string bytes = symbol_bytes(module, name);
    std::int64_t value = 0;
    if (bytes.size() != sizeof value) {
      throw ElfError("the symbol " + name + " is not a 64-bit number");
    }
    std::memcpy(&value, bytes.data(), sizeof value);
    constants.push_back(value);
  }
  return constants;
}

std::string symbol_of(const std::map<std::string, std::string>& symbols,
                      const std::string& kernel) {
  const auto found = symbols.find(kernel);
  if (found == symbols.end()) {
    throw ElfError("the compiler gave kernel '" + kernel + "' no symbol");
  }
  return found->second;
}

} // namespace winnow::evaluators
