#include "tasks/plan/architecture.h"

#include <charconv>

namespace winnow::tasks {
namespace {

constexpr std::string_view kNvidia = "sm_";

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

} // namespace

bool is_architecture(std::string_view text) {
  constexpr std::string_view kAmd = "gfx";
  if (text.starts_with(kNvidia)) {
    const bool has_variant = text.ends_with('a') || text.ends_with('f');
    text.remove_suffix(has_variant ? 1 : 0);
    return consists_of(text.substr(kNvidia.size()), "0123456789");
  }
  return text.empty() ||
         (text.starts_with(kAmd) && consists_of(text.substr(kAmd.size()), "0123456789abcdef"));
}

int compute_capability(std::string_view architecture) {
  int capability = 0;
  if (architecture.starts_with(kNvidia)) {
    std::from_chars(architecture.data() + kNvidia.size(), architecture.data() + architecture.size(),
                    capability);
  }
  return capability;
}

} // namespace winnow::tasks
