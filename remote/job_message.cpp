#include "remote/job_message.h"

#include "base/error.h"
#include "base/text.h"
#include "tasks/json/json_fields.h"
#include "tasks/plan/device_facts.h"

#include <algorithm>

namespace winnow::remote {
namespace {

using Json = nlohmann::json;

constexpr int kMessageVersion = 1;
constexpr const char* kJobSchema = "winnow.job";
constexpr const char* kRulesSchema = "winnow.pool-rules";
constexpr const char* kWorkerSchema = "winnow.worker";
constexpr std::size_t kMostDevices = 1024; // of a worker
constexpr std::size_t kMostNameBytes = 64;

/// The parts of a DeviceReport that travel.
struct DeviceMessage {
  std::string kind, id, name, uuid, driver;
  tasks::DeviceFacts facts;
};
WINNOW_FIELDS(DeviceMessage, kind, id, name, uuid, driver, facts)

} // namespace

WINNOW_FIELDS(Job, kind, evaluator_version, publication, task, request)
WINNOW_FIELDS(PoolRules, evaluator_version, device_kind, device_name, isolation, torch, quarantined)
WINNOW_FIELDS(HeldJob, job, made, all)
WINNOW_FIELDS(Heartbeat, pool, evaluator_version, trusted, isolation, torch, devices, held,
              last_fault, environment)

} // namespace winnow::remote

namespace winnow::tasks {

template <>
constexpr EnumRange kEnumRange<remote::JobKind>{static_cast<int>(remote::JobKind::Evaluation),
                                                static_cast<int>(remote::JobKind::Sitting)};

template <> struct JsonForm<nlohmann::json> {
  static void append(std::string& out, const nlohmann::json& value) { append_tree(out, value); }
  static void read(const nlohmann::json& json, const std::string& /*path*/, nlohmann::json& value) {
    value = json;
  }
};

template <> struct JsonForm<evaluators::DeviceReport> {
  static void append(std::string& out, const evaluators::DeviceReport& device) {
    append_json(out, remote::DeviceMessage{device.kind, device.id, device.name, device.uuid,
                                           device.driver, device.facts});
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   evaluators::DeviceReport& device) {
    remote::DeviceMessage message;
    read_json(json, path, message);
    device = {message.kind,   message.id, message.name, message.uuid,
              message.driver, {},         message.facts};
    device.availability = Availability::yes("at a worker");
  }
};

} // namespace winnow::tasks

namespace winnow::remote {
namespace {

void check_isolation_name(const std::string& isolation, const std::string& path) {
  if (!isolation.empty() && !process::isolation_from_string(isolation)) {
    tasks::throw_bad_json(path, "the name of an isolation level");
  }
}

} // namespace

std::string_view to_string(JobKind kind) {
  return kind == JobKind::Evaluation ? "evaluation" : "sitting";
}

std::string encode(const Job& job) {
  return tasks::write_document(job, kJobSchema, kMessageVersion);
}

Job decode_job(std::string_view text) {
  return tasks::read_document<Job>(text, kJobSchema, kMessageVersion, "job");
}

std::string encode(const PoolRules& rules) {
  return tasks::write_document(rules, kRulesSchema, kMessageVersion);
}

PoolRules decode_pool_rules(std::string_view text) {
  auto rules = tasks::read_document<PoolRules>(text, kRulesSchema, kMessageVersion, "pool");
  check_isolation_name(rules.isolation, "pool.isolation");
  return rules;
}

std::string encode(const Heartbeat& heartbeat) {
  return tasks::write_document(heartbeat, kWorkerSchema, kMessageVersion);
}

Heartbeat decode_heartbeat(std::string_view text) {
  auto heartbeat = tasks::read_document<Heartbeat>(text, kWorkerSchema, kMessageVersion, "worker");
  check_isolation_name(heartbeat.isolation, "worker.isolation");
  if (heartbeat.devices.empty() || heartbeat.devices.size() > kMostDevices) {
    tasks::throw_bad_json("worker.devices", "1 to " + std::to_string(kMostDevices) + " devices");
  }
  return heartbeat;
}

bool is_isolated(const std::string& isolation, const std::string& required) {
  if (required.empty()) {
    return true;
  }
  const auto has = process::isolation_from_string(isolation);
  const auto needs = process::isolation_from_string(required);
  return has && needs && *has >= *needs;
}

std::string objection(const PoolRules& rules, const Heartbeat& worker) {
  if (rules.evaluator_version != worker.evaluator_version) {
    return "the pool needs version " + std::to_string(rules.evaluator_version) +
           " of the evaluator, and this Winnow has version " +
           std::to_string(worker.evaluator_version);
  }
  for (const evaluators::DeviceReport& device : worker.devices) {
    if (device.kind != rules.device_kind || device.name != rules.device_name) {
      return "the pool judges on " + rules.device_kind + " (" + rules.device_name + "), and " +
             device.id + " is " + device.kind + " (" + device.name + ")";
    }
  }
  if (!is_isolated(worker.isolation, rules.isolation)) {
    return "the pool requires the isolation '" + rules.isolation +
           "', and this machine has only '" + worker.isolation + "'";
  }
  if (rules.torch && !worker.torch) {
    return "the pool has tasks whose reference is a PyTorch module, and this worker has no PyTorch";
  }
  return {};
}

bool is_quarantined(const PoolRules& rules, std::string_view worker) {
  return contains(rules.quarantined, worker);
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word_character(c) || c == '-'; });
}

} // namespace winnow::remote
