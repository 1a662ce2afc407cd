#pragma once

#include "base/error.h"
#include "evaluators/device/compare_core.h"
#include "evaluators/device/module.h"
#include "evaluators/device/piece.h"
#include "profiling/counters/counter_report.h"
#include "profiling/power/energy.h"
#include "profiling/power/gpu_monitor.h"
#include "tasks/plan/plan_resolve.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Something went wrong while device code ran: data, turned into a verdict by the coordinator.
struct DeviceFault {
  tasks::Verdict verdict = tasks::Verdict::LaunchError;
  std::string detail; ///< names buffer, byte, kernel, block and thread as far as known
};

/// Thrown by the calls of Device that return no fault when what went wrong is one (no memory for a
/// buffer, a copy that meets what an earlier launch has done).
class DeviceFailure : public Error {
public:
  explicit DeviceFailure(DeviceFault fault) : Error(fault.detail), fault_(std::move(fault)) {}
  const DeviceFault& fault() const { return fault_; }

private:
  DeviceFault fault_;
};

/// Exit code of a process that a fault has ended, after it was reported.
constexpr int kFaultExitCode = 86;

/// A finding of check mode. `certain` findings decide the verdict; others are notes.
struct CheckFinding {
  tasks::Verdict verdict = tasks::Verdict::Unstable;
  std::string detail;
  bool certain = true;
};

/// What a timed run finds in the caches: nothing of its own, or what the run before has left.
enum class CacheState : std::uint8_t { Cold, Warm };

/// A device as a worker process sees it: modules, their buffers, their launches. Lives and dies
/// with the worker; a fault may end the process, in which case the device has reported it first
/// through the handler given to its factory. Single-threaded use.
class Device {
public:
  virtual ~Device() = default;

  /// Loads a compiled module as number 0 and selects it; forgets those before with all their state.
  /// Throws Error.
  virtual void load_module(const std::filesystem::path& path) = 0;
  /// Loads another one beside those that are loaded and returns its number. Throws Error.
  virtual std::size_t add_module(const std::filesystem::path& path) = 0;
  /// Kernels of launches are looked for in this one.
  virtual void select_module(std::size_t module) = 0;
  /// Allocates a buffer in a guarded zone of its own and returns its index. Contents are undefined.
  virtual std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) = 0;
  /// Buffers belong to the set that is selected when they are allocated. Steps find by name the
  /// buffers of the selected set, and those of the set `shared`: several plans use the same
  /// tensors, each with scratch of its own. Set 0 is selected first, and shared.
  virtual void select_buffers(std::size_t set, std::size_t shared) = 0;
  /// All sets; selects set 0.
  virtual void release_buffers() = 0;
  virtual void upload(std::size_t buffer, std::span<const std::byte> bytes) = 0;
  /// From byte `offset` of the buffer on.
  virtual void download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset = 0) = 0;
  /// Fills whole buffer with a repeating 8-byte pattern (poison).
  virtual void fill_pattern(std::size_t buffer, std::uint64_t pattern) = 0;
  /// Draws the buffer's elements (tasks/inputs/input_generator.h), the same to the bit on every
  /// device, and remembers how: restore() and verify_guards() need it.
  virtual void generate(std::size_t buffer, const tasks::GeneratorSpec& generator,
                        tasks::DType dtype, std::uint64_t seed) = 0;
  /// Puts back what generate() drew.
  virtual void restore(std::size_t buffer) = 0;
  /// Runs the steps in order and waits for them. Buffers are named as in the plan.
  virtual std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) = 0;
  /// The timed runs until the next call take a turn: what this device varies from turn to turn, so
  /// that a series of them does not depend on it, is the same for all of them.
  virtual void begin_turn() {}
  /// Runs the steps for a timing, with as little overhead as the device can. `Cold` also empties
  /// the caches first. Until release_buffers(), one set of buffers always runs the same `steps`.
  virtual std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                               CacheState caches = CacheState::Cold) = 0;
  /// Device time of the last run() or run_timed(), as exact as this device can tell.
  virtual std::chrono::nanoseconds elapsed() const = 0;
  /// True when the host has disturbed the last run_timed(), whose elapsed() then is no sample.
  virtual bool disturbed() const { return false; }
  /// The clock of the multiprocessors in the last run_timed(), measured on them; nullopt: this
  /// device cannot.
  virtual std::optional<double> measured_clock_mhz() const { return std::nullopt; }
  /// Below this a sample does not count: the device was throttled. 0: not known.
  virtual double least_clock_mhz() const { return 0; }
  /// Clocks, temperature, power and throttle reasons now, as far as they can be read.
  virtual profiling::GpuState state() { return {}; }
  /// Counts what one run of the steps does, in passes of their own, which end with the inputs as
  /// they were. `restore` puts outputs and inouts back before each. Never throws for what counters
  /// do: the report says why there are none.
  virtual profiling::CounterReport count(const std::vector<tasks::Step>& steps,
                                         profiling::CounterSet set,
                                         const std::function<void()>& restore);
  /// Launches the steps for about a second; what a launch takes on average, or why it is not known.
  virtual profiling::Energy energy(const std::vector<tasks::Step>& steps);
  /// A hash of the buffer's bytes and their places: equal for equal contents.
  virtual std::uint64_t checksum(std::size_t buffer) = 0;
  /// Guard zones and read-only buffers that were written since allocation.
  virtual std::optional<DeviceFault> verify_guards() = 0;
  /// Compares `got`, elements of `dtype` on the host, with what the reference left in the buffer
  /// `expected` (doubles; elements of `dtype` where `magnitude` is nullopt: then the output is
  /// exact). `pieces`: which elements `got` has, one piece after the other. nullopt: this device
  /// leaves comparing to the host.
  virtual std::optional<ErrorTotals> compare(std::span<const std::byte> /*got*/,
                                             const std::vector<Piece>& /*pieces*/,
                                             tasks::DType /*dtype*/, std::size_t /*expected*/,
                                             std::optional<std::size_t> /*magnitude*/,
                                             const ErrorLimits& /*limits*/) {
    return std::nullopt;
  }
  /// False after a fault that nothing but a new process can mend.
  virtual bool usable() const { return true; }
  /// What check mode has found since the module was loaded; empty for plain modules.
  virtual std::vector<CheckFinding> findings() = 0;
};

} // namespace winnow::evaluators
