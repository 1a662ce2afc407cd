#pragma once

#include <string>

namespace winnow::agents {

/// Whether a server accepts connections at this URL's host and port. Sends nothing and waits at
/// most half a second.
bool accepts_connections(const std::string& url);

} // namespace winnow::agents
