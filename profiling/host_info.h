#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace winnow::profiling {

/// The machine of a measurement; stored with every run.
struct HostInfo {
  std::string cpu_model;    ///< "AMD EPYC 9R14"
  unsigned cores = 1;       ///< available to this process
  std::string kernel;       ///< "Linux 6.1.0-18-amd64"
  std::string distribution; ///< "Debian GNU/Linux 12 (bookworm)"
  double memory_gib = 0;
};

/// Reads /proc and uname once. A field stays empty if its source is not readable.
const HostInfo& host_info();
void to_json(nlohmann::json& json, const HostInfo& host);

} // namespace winnow::profiling
