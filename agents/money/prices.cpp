#include "agents/money/prices.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/text/toml_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>

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

namespace {

constexpr std::uint64_t kMaxPricesBytes = std::uint64_t{4} << 20U;
// No provider charges more for a million tokens. A higher price was probably meant per token or in
// cents.
constexpr double kHighestPrice = 100'000;

double read_dollars(const TomlReader& table, const std::string& key) {
  const double value = table.number(key);
  if (value < 0 || value > kHighestPrice) {
    table.fail(key, fmt::format("'{}' is {:g}", key, value),
               fmt::format("US dollars per million tokens, 0 to {:g}", kHighestPrice));
  }
  return value;
}

std::optional<double> read_optional_dollars(const TomlReader& table, const std::string& key) {
  return table.has(key) ? std::optional(read_dollars(table, key)) : std::nullopt;
}

template <typename Rates> void read_rates(const TomlReader& table, Rates& rates) {
  rates.input = read_dollars(table, "input");
  rates.output = read_dollars(table, "output");
  rates.cached_input = read_optional_dollars(table, "cached_input");
  rates.cache_write = read_optional_dollars(table, "cache_write");
}

std::string read_date(const TomlReader& table) {
  std::string date = table.string("date");
  if (!has_shape(date, "dddd-dd-dd")) {
    table.fail("date", fmt::format("'{}' is not a date", date), "a date such as \"2026-11-20\"");
  }
  return date;
}

std::string read_name(const TomlReader& table, const std::string& key, const std::string& example) {
  std::string name = table.string(key);
  const bool good = !name.empty() && std::all_of(name.begin(), name.end(),
                                                 [](char c) { return c > ' ' && c <= '~'; });
  if (!good) {
    table.fail(key, fmt::format("'{}' is empty or has spaces in it", key), example);
  }
  return name;
}

std::string read_host(const TomlReader& table) {
  std::string host = read_name(table, "host", "a host such as \"api.openai.com\"");
  if (host.find('/') != std::string::npos) {
    table.fail("host", fmt::format("'{}' is not a host", host),
               "the host alone, such as \"api.openai.com\"");
  }
  std::transform(host.begin(), host.end(), host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return host;
}

std::vector<PriceTier> read_tiers(const TomlReader& entry) {
  std::vector<PriceTier> tiers;
  if (!entry.has("tiers")) {
    return tiers;
  }
  for (const TomlReader& table : entry.tables("tiers")) {
    table.allow_keys({"above", "input", "output", "cached_input", "cache_write"});
    PriceTier tier;
    tier.above_prompt_tokens = table.integer("above");
    const std::int64_t before = tiers.empty() ? 0 : tiers.back().above_prompt_tokens;
    if (tier.above_prompt_tokens <= before) {
      table.fail(
          "above", fmt::format("'above' is {}", tier.above_prompt_tokens),
          fmt::format("a number of prompt tokens above {}: each tier begins above the one before",
                      before));
    }
    read_rates(table, tier);
    tiers.push_back(tier);
  }
  return tiers;
}

PriceEntry read_entry(const TomlReader& table, const std::string& file, const std::string& date) {
  table.allow_keys({"host", "model", "input", "output", "cached_input", "cache_write", "tiers",
                    "max_output", "date", "source", "note"});
  PriceEntry entry;
  entry.host = read_host(table);
  entry.model = read_name(table, "model", "the model's name, as requests contain it");
  read_rates(table, entry.price);
  entry.price.tiers = read_tiers(table);
  if (table.has("max_output")) {
    entry.price.max_output_tokens = table.integer("max_output");
  }
  entry.price.source = fmt::format("{}, {}", file, table.has("date") ? read_date(table) : date);
  if (const std::string url = table.string_or("source", ""); !url.empty()) {
    entry.price.source += ": " + url;
  }
  table.string_or("note", ""); // read only to allow the key; notes are for people
  return entry;
}

} // namespace

PriceTable parse_prices(std::string_view text, const std::string& file) {
  const TomlReader root = TomlReader::parse(text, file);
  root.allow_keys({"date", "price"});
  PriceTable table;
  table.date = read_date(root);
  if (!root.has("price")) {
    return table; // a table without entries is allowed: all prices are unknown
  }
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (const TomlReader& item : root.tables("price")) {
    PriceEntry entry = read_entry(item, file, table.date);
    const auto [first, is_new] = seen.emplace(std::pair(entry.host, entry.model), seen.size());
    if (!is_new) {
      item.fail("model",
                fmt::format("price[{}] already has the price of '{}' at {}", first->second,
                            entry.model, entry.host),
                "one entry for each model and host");
    }
    table.entries.push_back(std::move(entry));
  }
  return table;
}

PriceTable load_prices(const std::filesystem::path& file) {
  try {
    return parse_prices(read_file(file, kMaxPricesBytes), file.string());
  } catch (const UsageError&) {
    throw;
  } catch (const Error& failure) {
    throw UsageError(fmt::format("the prices cannot be read: {}", failure.what()),
                     "name a file like configs/prices.toml in [endpoint] prices");
  }
}

} // namespace winnow::agents
