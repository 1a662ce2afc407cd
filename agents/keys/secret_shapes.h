#pragma once

#include "agents/model/endpoint_config.h"

#include <string>
#include <string_view>

namespace winnow::agents {

/// Whether a member, header or parameter of this name usually holds a secret: "api_key",
/// "Proxy-Authorization", "accessToken", in any case and with spaces around it.
bool names_secret(std::string_view name);

/// Whether the text holds what looks like a secret: "Bearer ...", a provider's key ("sk-..."), a
/// URL with a user or password.
bool looks_secret(std::string_view text);
/// The same for a command of the shell, which may put a password in: "https://user:$PASSWORD@host".
bool command_holds_secret(std::string_view command);

/// Throws UsageError if the configuration holds a secret, because it is stored with every run. The
/// message never repeats the secret.
void refuse_secrets(const EndpointConfig& config);

} // namespace winnow::agents
