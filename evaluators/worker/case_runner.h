#pragma once

#include "evaluators/device/device.h"
#include "evaluators/messages/output_sample.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// The seeds of a runner's inputs. Static inputs may have a seed of their own.
struct InputSeeds {
  InputSeeds(std::uint64_t all)
      : launch(all), of_static(all) {} // NOLINT(google-explicit-constructor)
  InputSeeds(std::uint64_t of_launch, std::uint64_t of_static_inputs)
      : launch(of_launch), of_static(of_static_inputs) {}

  std::uint64_t launch;
  std::uint64_t of_static;
};

/// One resolved plan on a device. Owns its device buffers. `_run` uses it for candidates, `_judge`
/// for the reference.
class CaseRunner {
public:
  /// Allocates every buffer in the set `set` of the device (Device::select_buffers()) and draws the
  /// inputs. The kernels come from module 0 of the device.
  CaseRunner(Device& device, const tasks::ResolvedPlan& plan, InputSeeds seeds,
             std::size_t set = 0);
  /// Uses the tensors of `owner`, a runner of the same task and shape that must outlive this one.
  /// Allocates only scratch, in the set `set`. The kernels come from module `module`.
  CaseRunner(Device& device, const tasks::ResolvedPlan& plan, const CaseRunner& owner,
             std::size_t set, std::size_t module);
  /// Releases the buffers of all sets.
  ~CaseRunner();
  CaseRunner(const CaseRunner&) = delete; // owns device buffers
  CaseRunner& operator=(const CaseRunner&) = delete;

  /// Poisons outputs and scratch (poison.h), restores inouts, and fills `once` scratch with its
  /// value. Keeps the scratch that the plan's `prepare` steps wrote.
  void poison(std::uint64_t salt);
  /// Prepares a launch on inputs that no earlier launch had: draws inputs and inouts from `seed`,
  /// except static inputs, and poisons the other buffers with `salt`.
  void renew(std::uint64_t seed, std::uint64_t salt);
  /// Overwrites the contents of a tensor; call it after poison().
  void upload(const std::string& tensor, std::span<const std::byte> bytes);
  /// The same for these pieces, which lie in `bytes` one after the other.
  void upload(const std::string& tensor, const std::vector<Piece>& pieces,
              std::span<const std::byte> bytes);
  /// Runs the plan's `prepare` steps; call it once, after poison().
  std::optional<DeviceFault> run_prepare();
  double prepare_ns() const { return prepare_ns_; } ///< 0 if the plan has none
  std::optional<DeviceFault> run();
  /// Runs the plan for a timing: see Device::run_timed().
  std::optional<DeviceFault> run_timed(CacheState caches = CacheState::Cold);
  /// For Device::count_all(): each counted run finds outputs and scratch poisoned with `salt`. The
  /// runner must outlive the result.
  CountedSteps counted_steps(std::uint64_t salt);
  /// Runs the plan on outputs and scratch poisoned with `salt`. See DeviceTimer::step_times();
  /// empty after a fault, too.
  std::vector<double> step_times(std::uint64_t salt);
  profiling::Energy energy(); ///< see Device::energy()
  /// Device::verify_guards() for all sets, then verify_scratch().
  std::optional<DeviceFault> verify();
  /// Returns a fault if `once` scratch does not hold its value again, or a run changed `keep`
  /// scratch.
  std::optional<DeviceFault> verify_scratch();
  std::uint64_t checksum(const std::string& tensor);
  void download(const std::string& tensor, std::span<std::byte> bytes);
  /// Copies the pieces into `bytes`, one after the other.
  void download(const std::string& tensor, const std::vector<Piece>& pieces,
                std::span<std::byte> bytes);
  /// See Device::compare(). `magnitude` may be empty.
  std::optional<ErrorTotals> compare(std::span<const std::byte> got,
                                     const std::vector<Piece>& pieces, tasks::DType dtype,
                                     const std::string& expected, const std::string& magnitude,
                                     const ErrorLimits& limits);
  const tasks::Buffer& buffer(const std::string& name) const { return *slot(name).buffer; }

private:
  struct Slot {
    const tasks::Buffer* buffer = nullptr;
    std::size_t handle = 0;
    std::uint64_t prepared = 0; ///< checksum after the `prepare` steps; `keep` only
  };
  const Slot& slot(const std::string& name) const;
  void allocate(const tasks::Buffer& buffer);
  void draw(std::uint64_t seed, bool of_static);
  void poison_outputs(std::uint64_t salt);
  void select();
  std::optional<DeviceFault> verify_once(const Slot& slot);
  std::optional<DeviceFault> verify_kept(const Slot& slot);

  Device& device_;
  const tasks::ResolvedPlan& plan_;
  std::size_t set_;
  std::size_t tensor_set_;
  std::size_t module_ = 0;
  std::map<std::string, Slot> slots_;
  double prepare_ns_ = 0;
  bool prepared_ = false;
};

} // namespace winnow::evaluators
