#include "agents/money/prices.h"
#include "base/error.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

using namespace winnow::agents;

// Every entry of a valid file must be found, must have a finite cost, and must survive encoding and
// decoding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  PriceTable table;
  try {
    table = parse_prices(text, "prices.toml");
  } catch (const winnow::UsageError&) { // the text has a mistake
    return 0;
  }
  for (const PriceEntry& entry : table.entries) {
    const auto found = find_price(table, entry.host, entry.model);
    if (!found || !price_from_json(price_json(*found))) {
      std::abort();
    }
    const double dollars = highest_cost(*found, 300'000, 1000);
    if (!std::isfinite(dollars) || dollars < 0) {
      std::abort();
    }
  }
  return 0;
}
