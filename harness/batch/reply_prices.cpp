#include "harness/batch/reply_prices.h"

#include "agents/endpoints/endpoint_setup.h"
#include "agents/http/url.h"
#include "agents/money/prices.h"

#include <fmt/format.h>

namespace winnow::harness {
namespace {

template <typename Rates> void scale(Rates& rates, double factor) {
  rates.input *= factor;
  rates.output *= factor;
  for (std::optional<double>* rate : {&rates.cached_input, &rates.cache_write}) {
    if (*rate) {
      **rate *= factor;
    }
  }
}

agents::Price scaled(agents::Price price, double factor) {
  scale(price, factor);
  for (agents::PriceTier& tier : price.tiers) {
    scale(tier, factor);
  }
  price.source += fmt::format(", times {:g}", factor);
  return price;
}

/// The host whose prices hold. The configured URL counts only if its server speaks this format.
std::string host(const agents::EndpointConfig& endpoint, const agents::WireFormat& format) {
  const bool own = agents::find_wire_format(endpoint.kind) == &format && !endpoint.base_url.empty();
  const auto url =
      agents::parse_url(own ? endpoint.base_url : std::string(format.default_base_url()));
  return url ? url->host : "";
}

} // namespace

ReplyPrices reply_prices(const agents::EndpointConfig& endpoint, const agents::WireFormat& format,
                         double factor) {
  return [endpoint, factor, host = host(endpoint, format)](const std::string& model) {
    auto price = agents::endpoint_price(endpoint, host, model);
    return price && factor != 1 ? scaled(*std::move(price), factor) : price;
  };
}

} // namespace winnow::harness
