#pragma once

#include "harness/serve/exchange.h"

#include <memory>

namespace winnow::harness {

class Connection;

/// The request of a connection, for the application's thread. Passes each part of the answer to the
/// network's thread.
std::shared_ptr<Exchange> make_exchange(std::shared_ptr<Connection> connection,
                                        HttpRequest request);

} // namespace winnow::harness
