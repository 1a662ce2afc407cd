#include "remote/broker_credentials.h"

#include "base/files.h"
#include "base/text.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <sys/stat.h>

namespace winnow::remote {
namespace {

constexpr std::uint64_t kMostBytes = 4096;

void check_private(const std::string& file) {
  struct stat facts {};
  const bool is_open =
      stat(file.c_str(), &facts) == 0 && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  if (is_open) {
    throw UsageError("other users of this machine can read " + file + ", which holds a password",
                     "chmod 600 " + file);
  }
}

std::string credentials_text(const std::string& file) {
  if (!file.empty()) {
    check_private(file);
    return read_file(file, kMostBytes);
  }
  static std::mutex mutex;
  static std::string remembered; // a command may connect several times
  const std::lock_guard lock(mutex);
  if (char* value = std::getenv(kCredentialsVariable); value != nullptr) {
    remembered = value;
    explicit_bzero(value, remembered.size()); // no child and no reader of /proc finds the password
    unsetenv(kCredentialsVariable);
  }
  return remembered;
}

} // namespace

BrokerAddress broker_address(const std::string& url, const std::string& credentials_file,
                             const std::string& ca_file) {
  const bool is_address =
      (url.starts_with("nats://") || url.starts_with("tls://")) && url.size() > url.find("//") + 2;
  if (!is_address) {
    throw UsageError("--broker: '" + url + "' is no address of a broker",
                     "write nats://HOST:4222 or tls://HOST:4222");
  }
  if (url.find('@') != std::string::npos) {
    throw UsageError("--broker: an address must not have a password in it, because other users "
                     "of this machine can see command lines",
                     "use --broker-credentials FILE or $" + std::string(kCredentialsVariable));
  }
  BrokerAddress address{url, {}, {}, ca_file};
  const std::string text = credentials_text(credentials_file);
  const std::string_view line = trim(text);
  if (line.empty() && credentials_file.empty()) {
    return address;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || line.find('\n') != std::string_view::npos) {
    throw UsageError(
        (credentials_file.empty() ? "$" + std::string(kCredentialsVariable) : credentials_file) +
            " has no line USER:PASSWORD",
        "use a file that `winnow broker init` wrote");
  }
  address.user = line.substr(0, colon);
  address.password = line.substr(colon + 1);
  return address;
}

} // namespace winnow::remote
