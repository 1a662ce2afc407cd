#pragma once

#include "evaluators/evaluation/device_pool.h"
#include "remote/remote_evaluations.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace winnow::remote {

/// The devices of the workers of a pool.
class RemoteDevices : public evaluators::DevicePool {
public:
  struct Setup {
    BrokerAddress broker;
    std::string pool;
    std::string device = "best";                  ///< "best", or the kind that the pool must have
    std::string isolation;                        ///< that workers need at least; empty: any
    std::string secret;                           ///< RemoteSession::secret
    std::function<void(const std::string&)> warn; ///< gets a line for people; any thread
    std::chrono::milliseconds wait{60'000};       ///< for the first worker
  };
  /// Waits for a worker, and tells the pool what this coordinator demands. The first coordinator
  /// of a pool decides which model of device it has. Throws UsageError, DeviceUnavailable,
  /// BrokerUnavailable, BrokerRefused.
  RemoteDevices(TransportFactory& factory, Setup setup);

  const evaluators::DeviceReport& first() const override { return first_; }
  std::size_t size() const override { return size_; }
  std::string names() const override { return first_.kind; }
  /// Throws Error if a worker of the pool has no PyTorch. Later workers need it.
  void start_torch() const override;
  std::unique_ptr<evaluators::Evaluations> evaluations(evaluators::TakeResult done) const override;
  std::string account(std::size_t candidates, double seconds) const override;
  nlohmann::json environment() const override { return environment_; }

private:
  void take_rules();
  std::string why_unfit(const Heartbeat& worker) const;
  void wait_for_worker();
  [[noreturn]] void no_worker() const;
  void tell_rules();

  Setup setup_;
  std::unique_ptr<CoordinatorTransport> transport_;
  mutable RemoteSession session_;
  mutable WorkerRoster roster_;
  bool has_rules_ = false; ///< the pool had rules of this evaluator before
  evaluators::DeviceReport first_;
  std::size_t size_ = 0;
  nlohmann::json environment_;
};

} // namespace winnow::remote
