#pragma once

#include "remote/job_transport.h"

#include <string>

namespace winnow::remote {

/// The variable that may hold USER:PASSWORD in the place of a file.
inline constexpr const char* kCredentialsVariable = "WINNOW_BROKER_CREDENTIALS";

/// The files of a connection, for the members of BrokerAddress. Empty: none.
struct BrokerFiles {
  std::string credentials = {}; ///< one line USER:PASSWORD
  std::string ca = {}, certificate = {}, key = {};
};

/// The address with the user and the password of `files.credentials`. Empty:
/// $WINNOW_BROKER_CREDENTIALS, which is then removed from the environment, else no user. Throws
/// UsageError for an address that is not nats:// or tls://, or that has a password in it; for files
/// of TLS with nats://, a certificate without its key, and a file that does not exist; and for
/// credentials or a key that other users can read.
BrokerAddress broker_address(const std::string& url, const BrokerFiles& files);

/// Throws UsageError if other users of this machine can read the file. `content`: for the message,
/// "a password".
void require_private(const std::string& file, const std::string& content);

} // namespace winnow::remote
