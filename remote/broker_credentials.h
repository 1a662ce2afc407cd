#pragma once

#include "remote/job_transport.h"

#include <string>

namespace winnow::remote {

/// The variable that may hold USER:PASSWORD in the place of a file.
inline constexpr const char* kCredentialsVariable = "WINNOW_BROKER_CREDENTIALS";

/// The address with the user and the password of `credentials_file`, which holds one line
/// USER:PASSWORD. Empty: $WINNOW_BROKER_CREDENTIALS, which is then removed from the
/// environment, else no user. Throws UsageError for an address
/// that is not nats:// or tls://, that has a password in it, and for a file that others can read.
BrokerAddress broker_address(const std::string& url, const std::string& credentials_file,
                             const std::string& ca_file);

} // namespace winnow::remote
