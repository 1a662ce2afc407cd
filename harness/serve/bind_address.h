#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace winnow::harness {

/// Where a server listens.
struct BindAddress {
  std::string address;     ///< "127.0.0.1", "::1"
  std::uint16_t port = 0;  ///< 0: any free port
  bool is_loopback = true; ///< only programs of this machine can connect
};
/// "127.0.0.1:8787", "localhost:0", "[::1]:8787", "0.0.0.0:8787". Throws UsageError; names of hosts
/// other than localhost are not looked up.
BindAddress parse_bind_address(std::string_view text);

} // namespace winnow::harness
