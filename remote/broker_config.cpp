#include "remote/broker_config.h"

#include "base/files.h"
#include "base/random_bits.h"
#include "remote/job_message.h"

#include <set>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

constexpr const char* kHead =
    R"(# Configuration of nats-server for Winnow: nats-server -c nats.conf
# `winnow broker init` wrote this file. It holds no secret: see passwords.conf beside it.
listen: "{}"
server_name: winnow
max_payload: 8MB # of a job and of a result
jetstream {{
  store_dir: "{}"
}}
{}
include "passwords.conf"

system_account: SYS
accounts {{
  SYS {{ users: [ {{ user: system, password: $password_system }} ] }}
  WINNOW {{
    jetstream: enabled
    users: [
      {{ user: {}, password: $password_coordinator }}
)";

constexpr const char* kTail = R"(    ]
  }
}
)";

/// The subjects that a worker publishes to: it asks for jobs of its pool, looks the pool's tasks
/// and rules up, and sends its own results and heartbeats. Each subject names the pool.
std::vector<std::string> rights_to_publish(const WorkerIdentity& worker) {
  std::vector<std::string> subjects;
  const auto add_stream = [&](const std::string& stream) {
    for (const char* request : {"MSG.NEXT", "INFO"}) {
      subjects.push_back(fmt::format("$JS.API.CONSUMER.{}.{}.{}", request, stream, worker.pool));
    }
    subjects.push_back(fmt::format("$JS.ACK.{}.{}.>", stream, worker.pool));
  };
  add_stream("WJOB");
  if (worker.trusted) {
    add_stream("WTRUST");
  }
  subjects.push_back(fmt::format("$JS.API.STREAM.INFO.KV_wpool_{}", worker.pool));
  subjects.push_back(fmt::format("$JS.API.DIRECT.GET.KV_wpool_{}.>", worker.pool));
  subjects.push_back(fmt::format("wresult.{}.*.*.{}", worker.pool, worker.name));
  subjects.push_back(fmt::format("wworker.{}.{}", worker.pool, worker.name));
  return subjects;
}

std::string user_of(const WorkerIdentity& worker, std::size_t number) {
  std::string subjects;
  for (const std::string& subject : rights_to_publish(worker)) {
    subjects += fmt::format("            \"{}\"\n", subject);
  }
  return fmt::format("      # a worker of the pool '{}'{}\n"
                     "      {{ user: {}, password: $password_{}, permissions: {{\n"
                     "          publish: [\n{}          ]\n"
                     "          subscribe: [ \"_INBOX_{}.>\", \"wcancel.{}.*\", \"wask\" ] }} }}\n",
                     worker.pool, worker.trusted ? ", which may know the held-out shapes" : "",
                     worker.name, number, subjects, worker.name, worker.pool);
}

std::string quoted(const std::string& path) {
  if (path.find_first_of("\"\\\n") != std::string::npos) {
    throw UsageError("the path '" + path + "' has a character that nats-server does not read",
                     "use paths without quotes, backslashes and line breaks");
  }
  return '"' + path + '"';
}

std::string tls_block(const BrokerTls& tls) {
  if (tls.certificate.empty() != tls.key.empty() ||
      (tls.certificate.empty() && !tls.client_ca.empty())) {
    throw UsageError("TLS needs the certificate of the broker and its key",
                     "give --tls-certificate and --tls-key");
  }
  if (tls.certificate.empty()) {
    return "# Without TLS: the traffic is not encrypted.\n";
  }
  std::string block = fmt::format("tls {{\n  cert_file: {}\n  key_file: {}\n",
                                  quoted(tls.certificate), quoted(tls.key));
  if (!tls.client_ca.empty()) {
    block += fmt::format("  ca_file: {}\n  verify: true # clients need a certificate\n",
                         quoted(tls.client_ca));
  }
  return block + "}\n";
}

void check_names(const BrokerPlan& plan) {
  std::set<std::string> names{kCoordinatorUser, "system"};
  for (const WorkerIdentity& worker : plan.workers) {
    for (const std::string& name : {worker.name, worker.pool}) {
      if (!is_name(name)) {
        throw UsageError("'" + name + "' cannot be the name of a worker or a pool",
                         "use up to 64 letters, digits, '-' and '_'");
      }
    }
    if (!names.insert(worker.name).second) {
      throw UsageError("two users of the broker cannot both be '" + worker.name + "'",
                       "give each worker a name of its own");
    }
  }
}

} // namespace

void write_private_files(const std::filesystem::path& folder,
                         const std::map<std::string, std::string>& files) {
  for (const auto& [name, text] : files) {
    if (std::filesystem::exists(folder / name)) {
      throw UsageError((folder / name).string() + " exists already",
                       "give another folder, or move the old files away");
    }
  }
  std::error_code ignored;
  if (std::filesystem::create_directories(folder, ignored)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  }
  for (const auto& [name, text] : files) {
    write_file_atomic(folder / name, text, Readers::Owner);
  }
}

std::string random_secret() {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", random_bits(), random_bits(), random_bits(),
                     random_bits());
}

std::map<std::string, std::string> broker_files(const BrokerPlan& plan) {
  check_names(plan);
  std::map<std::string, std::string> files;
  std::string& conf = files["nats.conf"];
  std::string& passwords = files["passwords.conf"];
  conf = fmt::format(kHead, plan.listen, plan.store_folder, tls_block(plan.tls), kCoordinatorUser);
  const auto add_password = [&](const std::string& variable, const std::string& user) {
    const std::string password = random_secret();
    passwords += fmt::format("password_{}: \"{}\"\n", variable, password);
    if (!user.empty()) {
      files[user + ".credentials"] = user + ":" + password + "\n";
    }
  };
  add_password("system", "");
  add_password("coordinator", kCoordinatorUser);
  for (std::size_t i = 0; i < plan.workers.size(); ++i) {
    conf += user_of(plan.workers[i], i);
    add_password(std::to_string(i), plan.workers[i].name);
  }
  conf += kTail;
  return files;
}

} // namespace winnow::remote
