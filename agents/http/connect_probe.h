#pragma once

#include <string>

namespace winnow::agents {

/// Whether something accepts connections at this URL's host and port. Sends nothing; waits half a
/// second at most.
bool accepts_connections(const std::string& url);

} // namespace winnow::agents
