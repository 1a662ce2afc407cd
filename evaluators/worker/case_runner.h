#pragma once

#include "evaluators/device/device.h"
#include "tasks/plan_resolve.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// One resolved plan on a device: owns its buffers there for as long as it lives. Used by `_run`
/// for candidates and by `_judge` for the reference.
class CaseRunner {
public:
  /// Allocates every buffer, in the device's set `set` (Device::select_buffers()), and draws the
  /// inputs from `seed`. The plan's kernels are those of the device's module `module`.
  CaseRunner(Device& device, const tasks::ResolvedPlan& plan, std::uint64_t seed,
             std::size_t set = 0, std::size_t module = 0);
  /// Releases the buffers of all sets.
  ~CaseRunner();
  CaseRunner(const CaseRunner&) = delete; // owns device buffers
  CaseRunner& operator=(const CaseRunner&) = delete;

  /// Poisons outputs and scratch (poison.h), restores inouts, fills scratch that is declared
  /// `once`; leaves alone what the plan's `prepare` steps have written.
  void poison(std::uint64_t salt);
  /// Draws the inputs anew.
  void draw(std::uint64_t seed);
  /// Replaces what poison() left in an input or inout.
  void upload(const std::string& tensor, std::span<const std::byte> bytes);
  /// Of the task's tensors, with a runner of the same task, shape and seed: see
  /// Device::exchange_places(). Outputs are to be poisoned then.
  void exchange_places(CaseRunner& other);
  /// The plan's `prepare` steps: once, after poison().
  std::optional<DeviceFault> run_prepare();
  double prepare_ns() const { return prepare_ns_; } ///< 0 without such steps
  std::optional<DeviceFault> run();
  /// For a timing: see Device::run_timed().
  std::optional<DeviceFault> run_timed(CacheState caches = CacheState::Cold);
  /// See Device::count() and Device::energy(); poisons outputs and scratch with `salt` before each
  /// run that is counted.
  profiling::CounterReport count(profiling::CounterSet set, std::uint64_t salt);
  profiling::Energy energy();
  /// Device::verify_guards(), of all sets, and verify_scratch().
  std::optional<DeviceFault> verify();
  /// Scratch that is declared `once` and does not hold its value again, or is declared `keep` and
  /// was changed by a run.
  std::optional<DeviceFault> verify_scratch();
  /// The former alone: poison() puts it right.
  std::optional<DeviceFault> verify_once();
  std::uint64_t checksum(const std::string& tensor);
  std::size_t output_bytes(const std::string& tensor) const;
  void download(const std::string& tensor, std::span<std::byte> bytes);
  /// See Device::keep(). `magnitude` may be empty.
  std::unique_ptr<KeptAnswer> keep(const std::string& expected, const std::string& magnitude);

private:
  struct Slot {
    const tasks::Buffer* buffer = nullptr;
    std::size_t handle = 0;
    std::uint64_t prepared = 0; ///< checksum of what the `prepare` steps wrote; `keep` only
  };
  const Slot& slot(const std::string& name) const;
  void select();
  void restore();
  std::optional<DeviceFault> verify_once(const Slot& slot);
  std::optional<DeviceFault> verify_kept(const Slot& slot);

  Device& device_;
  const tasks::ResolvedPlan& plan_;
  std::size_t set_;
  std::size_t module_;
  std::map<std::string, Slot> slots_;
  double prepare_ns_ = 0;
  bool prepared_ = false;
};

} // namespace winnow::evaluators
