#pragma once

#include "agents/endpoint_config.h"
#include "agents/money/price.h"
#include "agents/wire/wire_format.h"

#include <functional>
#include <optional>
#include <string>

namespace winnow::harness {

/// What a reply of this model costs; nullopt: unknown.
using ReplyPrices = std::function<std::optional<agents::Price>(const std::string& model)>;

/// The endpoint's prices times `factor` (batch APIs bill half), where the requests are in `format`.
ReplyPrices reply_prices(const agents::EndpointConfig& endpoint, const agents::WireFormat& format,
                         double factor);

} // namespace winnow::harness
