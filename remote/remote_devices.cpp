#include "remote/remote_devices.h"

#include "base/error.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace winnow::remote {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookEvery{200};
constexpr milliseconds kTellAfter{3'000};
/// After the first worker others may answer.
constexpr milliseconds kGather{1'000};

} // namespace

RemoteDevices::RemoteDevices(TransportFactory& factory, Setup setup)
    : setup_(std::move(setup)), roster_(setup_.pool) {
  session_.pool = setup_.pool;
  session_.secret = setup_.secret;
  transport_ = factory.coordinator(setup_.broker, session_.id());
  transport_->prepare(setup_.pool);
  take_rules();
  wait_for_worker();
  tell_rules();
}

/// Goes on with the rules of earlier coordinators.
void RemoteDevices::take_rules() {
  session_.rules.isolation = setup_.isolation;
  const std::optional<std::string> text = transport_->pool_rules(setup_.pool);
  if (!text || text->empty()) {
    return;
  }
  const PoolRules rules = decode_pool_rules(*text);
  if (rules.evaluator_version > evaluators::kEvaluatorVersion) {
    throw UsageError(fmt::format("the pool '{}' has version {} of the evaluator, and this Winnow "
                                 "has version {}",
                                 setup_.pool, rules.evaluator_version,
                                 evaluators::kEvaluatorVersion),
                     "use the same Winnow on all machines");
  }
  has_rules_ = true;
  session_.rules.device_kind = rules.device_kind;
  session_.rules.device_name = rules.device_name;
  session_.rules.torch = rules.torch;
  session_.rules.quarantined = rules.quarantined;
  if (is_isolated(rules.isolation, setup_.isolation)) {
    session_.rules.isolation = rules.isolation;
  }
  if (setup_.device != "best" && setup_.device != rules.device_kind) {
    throw UsageError(fmt::format("--device {}: the pool '{}' judges on {} ({})", setup_.device,
                                 setup_.pool, rules.device_kind, rules.device_name),
                     "leave out --device, or name another --pool");
  }
}

/// Empty: the worker fits.
std::string RemoteDevices::why_unfit(const Heartbeat& worker) const {
  const evaluators::DeviceReport& device = worker.devices.front();
  if (!has_rules_ && setup_.device != "best" && setup_.device != device.kind) {
    return "its device is " + device.kind + ", and --device asks for " + setup_.device;
  }
  PoolRules rules = session_.rules;
  if (rules.device_name.empty()) {
    rules.device_kind = device.kind;
    rules.device_name = device.name;
  }
  return objection(rules, worker);
}

void RemoteDevices::wait_for_worker() {
  const auto start = Clock::now();
  auto last = start + setup_.wait;
  bool told = false;
  transport_->ask_workers();
  for (; Clock::now() < last; std::this_thread::sleep_for(kLookEvery)) {
    roster_.update(*transport_);
    size_ = 0;
    for (const WorkerRoster::Worker& worker : roster_.live()) {
      if (!why_unfit(worker.heartbeat).empty()) {
        continue;
      }
      if (first_.name.empty()) {
        first_ = worker.heartbeat.devices.front();
        environment_ = worker.heartbeat.environment;
        session_.rules.device_kind = first_.kind;
        session_.rules.device_name = first_.name;
        last = std::min(last, Clock::now() + kGather);
      }
      size_ += worker.heartbeat.devices.size();
    }
    if (size_ == 0 && !told && Clock::now() - start > kTellAfter) {
      told = true;
      setup_.warn(fmt::format("waiting up to {} s for a worker of the pool '{}'",
                              setup_.wait.count() / 1000, setup_.pool));
    }
  }
  if (size_ == 0) {
    no_worker();
  }
}

void RemoteDevices::no_worker() const {
  std::string others;
  for (const WorkerRoster::Worker& worker : roster_.live()) {
    others +=
        fmt::format("; worker '{}' does not fit: {}", worker.name, why_unfit(worker.heartbeat));
  }
  throw DeviceUnavailable(
      fmt::format("no worker of the pool '{}' has sent a heartbeat to the broker in {} s{}",
                  setup_.pool, setup_.wait.count() / 1000, others),
      fmt::format(
          "start one: winnow worker --broker {0} --pool {1}; if the pool shall have another "
          "device from now on: winnow broker forget --broker {0} --pool {1}",
          setup_.broker.url, setup_.pool));
}

void RemoteDevices::tell_rules() {
  transport_->set_pool_rules(setup_.pool, encode(session_.rules));
}

void RemoteDevices::start_torch() const {
  for (const WorkerRoster::Worker& worker : roster_.live()) {
    if (!worker.heartbeat.torch) {
      throw Error("worker '" + worker.name + "' of the pool '" + setup_.pool +
                      "' has no PyTorch, which the reference of a task needs",
                  "install PyTorch there and start the worker with --torch");
    }
  }
  session_.rules.torch = true;
  transport_->set_pool_rules(setup_.pool, encode(session_.rules));
}

std::unique_ptr<evaluators::Evaluations>
RemoteDevices::evaluations(evaluators::TakeResult done) const {
  return std::make_unique<RemoteEvaluations>(
      RemoteEvaluations::Setup{*transport_, roster_, session_, std::move(done), setup_.warn, {}});
}

std::string RemoteDevices::account(std::size_t candidates, double seconds) const {
  return fmt::format("{} candidates in {:.1f} s: {:.0f} a minute, at {} workers of the pool '{}'\n",
                     candidates, seconds, static_cast<double>(candidates) * 60 / seconds,
                     roster_.live().size(), setup_.pool);
}

} // namespace winnow::remote
