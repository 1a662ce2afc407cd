#include "remote/broker_credentials.h"

#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace winnow::remote {
namespace {

constexpr std::uint64_t kMostBytes = 4096;

/// The texts "USER:PASSWORD" and "PASSWORD" shall reach no store and no log.
std::string kept(std::string text) {
  keep_secret(trim(text));
  keep_secret(trim(std::string_view(text).substr(text.find(':') + 1)));
  return text;
}

std::string credentials_text(const std::string& file) {
  if (!file.empty()) {
    require_private(file, "a password");
    return kept(read_file(file, kMostBytes));
  }
  static std::mutex mutex;
  static std::string remembered; // a command may connect several times
  const std::lock_guard lock(mutex);
  if (auto value = take_variable(kCredentialsVariable)) {
    remembered = *std::move(value);
  }
  return kept(remembered);
}

void check_tls_files(const std::string& url, const BrokerFiles& files) {
  const std::pair<const char*, const std::string&> options[] = {
      {"--broker-ca", files.ca},
      {"--broker-certificate", files.certificate},
      {"--broker-key", files.key}};
  for (const auto& [option, file] : options) {
    if (!file.empty() && !url.starts_with("tls://")) {
      throw UsageError(std::string(option) + " is of no use with " + url +
                           ", whose traffic is not encrypted",
                       "write tls:// in the place of nats://");
    }
    if (!file.empty() && !is_file(file)) {
      throw UsageError(std::string(option) + ": there is no file " + file,
                       "give the path of a PEM file");
    }
  }
  if (files.certificate.empty() != files.key.empty()) {
    throw UsageError("--broker-certificate and --broker-key belong together",
                     "give both files, or none");
  }
  if (!files.key.empty()) {
    require_private(files.key, "a private key");
  }
}

} // namespace

void require_private(const std::string& file, const std::string& content) {
  if (mode_if_shared(file)) {
    throw UsageError("other users of this machine can read " + file + ", which holds " + content,
                     "chmod 600 " + file);
  }
}

BrokerAddress broker_address(const std::string& url, const BrokerFiles& files) {
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
  check_tls_files(url, files);
  BrokerAddress address{url, {}, {}, files.ca, files.certificate, files.key};
  const std::string& credentials_file = files.credentials;
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
