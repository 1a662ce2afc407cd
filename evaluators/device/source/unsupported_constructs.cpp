#include "evaluators/device/source/unsupported_constructs.h"

namespace winnow::evaluators {

std::optional<ConstructHint> find_unsupported(const std::vector<CompilerError>& errors,
                                              const std::vector<ConstructHint>& hints) {
  for (const CompilerError& error : errors) {
    const std::size_t mark = error.message.find(kUnsupportedPrefix);
    if (mark != std::string::npos) {
      return ConstructHint{error.message.substr(mark + kUnsupportedPrefix.size()), error.line};
    }
  }
  if (!hints.empty()) {
    return hints.front();
  }
  return std::nullopt;
}

} // namespace winnow::evaluators
