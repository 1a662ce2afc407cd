#include "agents/money/prices.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShippedPrices = "configs/prices.toml";

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

std::optional<fs::path> users_file() {
  const char* xdg = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (xdg != nullptr && *xdg == '/') {
    return fs::path(xdg) / "winnow" / "prices.toml";
  }
  if (home != nullptr && *home == '/') {
    return fs::path(home) / ".config" / "winnow" / "prices.toml";
  }
  return std::nullopt;
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

std::vector<fs::path> price_files(const EndpointConfig& config) {
  if (!config.prices.empty()) {
    if (!is_file(config.prices)) {
      throw UsageError(
          fmt::format("there is no price file {}", config.prices),
          "correct endpoint.prices, or remove it to use the prices that come with Winnow");
    }
    return {config.prices};
  }
  std::vector<fs::path> files;
  if (const auto own = users_file(); own && is_file(*own)) {
    files.push_back(*own);
  }
  if (const auto shipped = find_shipped(kShippedPrices)) {
    files.push_back(*shipped);
  }
  return files;
}

std::optional<Price> endpoint_price(const EndpointConfig& config, std::string_view host,
                                    std::string_view model) {
  const auto& input = config.dollars_per_million_input;
  const auto& output = config.dollars_per_million_output;
  if (input && output) {
    Price price;
    price.input = *input;
    price.output = *output;
    price.source = "[endpoint]";
    return price;
  }
  if (input || output) {
    throw UsageError(
        "[endpoint] sets only one of dollars_per_million_input and dollars_per_million_output",
        "set both keys, or remove both to use the prices of a file");
  }
  for (const fs::path& file : price_files(config)) {
    if (auto price = find_price(load_prices(file), host, model)) {
      return price;
    }
  }
  return std::nullopt;
}

} // namespace winnow::agents
