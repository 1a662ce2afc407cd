#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/money/price.h"
#include "agents/wire/wire_format.h"

#include <functional>
#include <optional>
#include <string>

namespace winnow::harness {

/// The price of a model's replies; nullopt: unknown.
using ReplyPrices = std::function<std::optional<agents::Price>(const std::string& model)>;

/// The endpoint's prices times `factor` (batch APIs cost half), for requests in `format`.
ReplyPrices reply_prices(const agents::EndpointConfig& endpoint, const agents::WireFormat& format,
                         double factor);

} // namespace winnow::harness
