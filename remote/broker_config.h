#pragma once

#include "remote/job_transport.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace winnow::remote {

/// The name of the broker's user that coordinators are.
inline constexpr const char* kCoordinatorUser = "coordinator";

/// The files that a broker with TLS reads; PEM, absolute paths. Empty: no TLS.
struct BrokerTls {
  std::string certificate = {}, key = {}; ///< of the broker
  std::string client_ca = {};             ///< signs certificates of clients; empty: they need none
};

/// What a new broker is for.
struct BrokerPlan {
  std::string listen = "127.0.0.1:4222";
  std::string store_folder; ///< absolute; where the broker keeps its streams
  std::vector<WorkerIdentity> workers;
  BrokerTls tls = {};
};

/// The files of a broker, by name: "nats.conf", which has no secret, "passwords.conf", and for each
/// user USER.credentials with one line USER:PASSWORD. The passwords are random, 256 bits each. A
/// worker's user can do what its own work needs and nothing else. Throws UsageError if two users
/// have one name, a name is none, or the files of TLS are not complete.
std::map<std::string, std::string> broker_files(const BrokerPlan& plan);

/// Writes the files into a folder with mode 0700, each with mode 0600. Throws UsageError, and
/// writes nothing, if the folder has one of them already: a running broker may use it.
void write_private_files(const std::filesystem::path& folder,
                         const std::map<std::string, std::string>& files);

/// 256 random bits as hex digits.
std::string random_secret();

} // namespace winnow::remote
