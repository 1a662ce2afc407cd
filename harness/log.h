#pragma once

#include <string>

namespace winnow::harness {

/// Writes the log to stderr from now on. `level` is one of spdlog's names: "debug", "warn", ...
void start_log(const std::string& level);

} // namespace winnow::harness
