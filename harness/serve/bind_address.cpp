#include "harness/serve/bind_address.h"

#include "base/error.h"

#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace winnow::harness {

BindAddress parse_bind_address(std::string_view text) {
  const auto bad = [&](const std::string& why) {
    return UsageError(fmt::format("--bind {}: {}", text, why),
                      "write ADDRESS:PORT, for instance 127.0.0.1:8787 or [::1]:8787");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    throw bad("there is no port");
  }
  const std::string_view digits = text.substr(colon + 1);
  BindAddress bind;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bind.port);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size()) {
    throw bad("the port is no number from 0 to 65535");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  bind.address = host == "localhost" ? "127.0.0.1" : std::string(host);
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, bind.address.c_str(), &v4) == 1) {
    bind.is_loopback = ntohl(v4.s_addr) >> 24U == 127;
  } else if (inet_pton(AF_INET6, bind.address.c_str(), &v6) == 1) {
    bind.is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
  } else {
    throw bad("the address is neither IPv4 nor IPv6");
  }
  return bind;
}

} // namespace winnow::harness
