#pragma once

#include "evaluators/evaluation/evaluations.h"
#include "evaluators/host/open_device.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

/// The devices that a command judges on: of this machine, or of workers on other machines. All are
/// of one kind and one model.
class DevicePool {
public:
  virtual ~DevicePool() = default;
  virtual const DeviceReport& first() const = 0;
  virtual std::size_t size() const = 0;
  /// As --device takes them: "cuda:0,cuda:1".
  virtual std::string names() const = 0;
  /// Throws Error if PyTorch is missing or cannot use a device.
  virtual void start_torch() const = 0;
  /// One at a time, because each uses all devices.
  virtual std::unique_ptr<Evaluations> evaluations(TakeResult done) const = 0;
  EvaluationsFactory factory() const {
    return [this](TakeResult done) { return evaluations(std::move(done)); };
  }
  /// The sum over all devices of this machine.
  virtual HostStatistics statistics() const { return {}; }
  /// "100 candidates in 15.0 s: 400 a minute", and what the devices did in that time.
  virtual std::string account(std::size_t candidates, double seconds) const = 0;
  /// How the machines of the devices describe themselves; null: this is the machine.
  virtual nlohmann::json environment() const;
};

} // namespace winnow::evaluators
