#include "agents/endpoints/endpoint_price.h"

#include "agents/money/prices.h"
#include "base/error.h"
#include "base/files.h"

#include <cstdlib>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

namespace fs = std::filesystem;

constexpr const char* kShippedPrices = "configs/prices.toml";

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
