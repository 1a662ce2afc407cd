#pragma once

#include "harness/serve/exchange.h"

#include <string>

namespace winnow::harness {

/// A reply of the server itself, for a request that no application sees. `error` has no quotes.
HttpReply failure(int status, const std::string& error, int retry_after_s = 0);

/// The status line and the header, with the empty line at its end. `length`: the field that tells
/// where the body ends.
std::string head_of(const HttpReply& reply, const std::string& length, bool keep_alive);

} // namespace winnow::harness
