#include "agents/money/prices.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace winnow::agents {
namespace {

/// Whether the rest of a model's name is only a date or a version of the same model.
bool is_version(std::string_view rest) {
  // "-5" or "-1-20250805" is another model: claude-opus-4-1-20250805 is not claude-opus-4.
  constexpr std::array<std::string_view, 6> kShapes{"-dddd-dd-dd", "-dddddddd", "-dddddd",
                                                    "-dd-dd",      "-dddd",     "-ddd"};
  return rest == "-latest" || std::any_of(kShapes.begin(), kShapes.end(),
                                          [&](auto shape) { return has_shape(rest, shape); });
}

bool names(const PriceEntry& entry, std::string_view model) {
  return model == entry.model ||
         (model.starts_with(entry.model) && is_version(model.substr(entry.model.size())));
}

bool same_host(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

} // namespace

std::optional<Price> find_price(const PriceTable& table, std::string_view host,
                                std::string_view model) {
  const PriceEntry* best = nullptr;
  for (const PriceEntry& entry : table.entries) {
    if (same_host(entry.host, host) && names(entry, model) &&
        (best == nullptr || entry.model.size() > best->model.size())) {
      best = &entry;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->price);
}

} // namespace winnow::agents
