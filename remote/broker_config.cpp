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
)";

/// Workers say "$JS.API..."; every account has that for streams of its own. So an account of a pool
/// maps it to this, which is the coordinators' account.
constexpr const char* kOwnApi = "$JS.API";
constexpr const char* kMappedApi = "WAPI";

/// What the workers of a pool ask or send.
struct Service {
  std::string subject;
  bool has_many_answers = false;

  bool is_mapped() const { return subject.starts_with(kOwnApi); }
  std::string mapped() const {
    return is_mapped() ? kMappedApi + subject.substr(std::string_view(kOwnApi).size()) : subject;
  }
};

/// Getting jobs of a stream.
std::vector<Service> services_of_stream(const char* stream, const std::string& pool) {
  return {{fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", stream, pool), true},
          {fmt::format("$JS.API.CONSUMER.INFO.{}.{}", stream, pool)},
          {fmt::format("$JS.ACK.{}.{}.>", stream, pool)}};
}

/// What the worker sends, or any worker of the pool if `worker` is "*": it asks for jobs of its
/// pool, looks the pool's tasks and rules up, and sends its own results and heartbeats.
std::vector<Service> services_of(const std::string& pool, const std::string& worker, bool trusted) {
  std::vector<Service> services = services_of_stream("WJOB", pool);
  if (trusted) {
    const std::vector<Service> more = services_of_stream("WTRUST", pool);
    services.insert(services.end(), more.begin(), more.end());
  }
  services.insert(services.end(), {{"$JS.API.STREAM.INFO.KV_wpool_" + pool},
                                   {"$JS.API.DIRECT.GET.KV_wpool_" + pool + ".>"},
                                   {fmt::format("wresult.{}.*.*.{}", pool, worker)},
                                   {fmt::format("wworker.{}.{}", pool, worker)}});
  return services;
}

std::string exports_to(const std::string& pool) {
  std::string text =
      fmt::format("      {{ stream: \"wcancel.{0}.*\", accounts: [ \"POOL_{0}\" ] }}\n", pool);
  for (const Service& service : services_of(pool, "*", true)) {
    text +=
        fmt::format("      {{ service: \"{}\", accounts: [ \"POOL_{}\" ]{} }}\n", service.subject,
                    pool, service.has_many_answers ? ", response_type: stream" : "");
  }
  return text;
}

std::string user_of(const WorkerIdentity& worker, std::size_t number) {
  std::string subjects;
  for (const Service& service : services_of(worker.pool, worker.name, worker.trusted)) {
    subjects += fmt::format("            \"{}\"\n", service.subject);
    subjects += service.is_mapped() ? fmt::format("            \"{}\"\n", service.mapped()) : "";
  }
  return fmt::format("{}      {{ user: {}, password: $password_{}, permissions: {{\n"
                     "          publish: [\n{}          ]\n"
                     "          subscribe: [ \"_INBOX_{}.>\", \"wcancel.{}.*\", \"wask\" ] }} }}\n",
                     worker.trusted ? "      # may know the held-out shapes\n" : "", worker.name,
                     number, subjects, worker.name, worker.pool);
}

std::string account_of(const std::string& pool, const std::string& users) {
  std::string imports, mappings;
  for (const Service& service : services_of(pool, "*", true)) {
    imports +=
        fmt::format("      {{ service: {{ account: WINNOW, subject: \"{}\" }}, to: \"{}\" }}\n",
                    service.subject, service.mapped());
    mappings += service.is_mapped()
                    ? fmt::format("      \"{}\": \"{}\"\n", service.subject, service.mapped())
                    : "";
  }
  return fmt::format("  POOL_{0} {{\n    imports: [\n"
                     "      {{ stream: {{ account: WINNOW, subject: \"wask\" }} }}\n"
                     "      {{ stream: {{ account: WINNOW, subject: \"wcancel.{0}.*\" }} }}\n"
                     "{1}    ]\n    mappings: {{\n{2}    }}\n    users: [\n{3}    ]\n  }}\n",
                     pool, imports, mappings, users);
}

/// Each pool is an account of its own. So the answer to what a worker asks reaches its pool only,
/// whatever the worker names as the place for answers.
std::string accounts_of(const std::vector<WorkerIdentity>& workers) {
  std::map<std::string, std::string> users; // by pool
  for (std::size_t i = 0; i < workers.size(); ++i) {
    users[workers[i].pool] += user_of(workers[i], i);
  }
  std::string exports, pools;
  for (const auto& [pool, text] : users) {
    exports += exports_to(pool);
    pools += account_of(pool, text);
  }
  return fmt::format("  WINNOW {{\n    jetstream: enabled\n"
                     "    users: [ {{ user: {}, password: $password_coordinator }} ]\n"
                     "    exports: [\n      {{ stream: \"wask\" }}\n{}    ]\n  }}\n{}}}\n",
                     kCoordinatorUser, exports, pools);
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
  conf = fmt::format(kHead, plan.listen, plan.store_folder, tls_block(plan.tls)) +
         accounts_of(plan.workers);
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
    add_password(std::to_string(i), plan.workers[i].name);
  }
  return files;
}

} // namespace winnow::remote
