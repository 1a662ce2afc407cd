#include "evaluators/device/source/source_edits.h"

#include <algorithm>

namespace winnow::evaluators {

std::string apply_edits(std::string_view source, std::vector<SourceEdit> edits) {
  std::stable_sort(edits.begin(), edits.end(),
                   [](const SourceEdit& a, const SourceEdit& b) { return a.begin < b.begin; });
  std::string out;
  std::size_t at = 0;
  for (const SourceEdit& edit : edits) {
    out += source.substr(at, edit.begin - at);
    out += edit.text;
    const std::string_view removed = source.substr(edit.begin, edit.end - edit.begin);
    const auto lost = std::count(removed.begin(), removed.end(), '\n') -
                      std::count(edit.text.begin(), edit.text.end(), '\n');
    out.append(static_cast<std::size_t>(std::max<std::ptrdiff_t>(lost, 0)), '\n');
    at = edit.end;
  }
  return out += source.substr(at);
}

} // namespace winnow::evaluators
