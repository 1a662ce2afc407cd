#pragma once

#include "evaluators/device/compare_core.h"
#include "evaluators/device/device_fault.h"
#include "evaluators/device/module.h"
#include "profiling/counters/counter_report.h"
#include "profiling/power/energy.h"
#include "profiling/power/gpu_monitor.h"
#include "tasks/plan/resolve/plan_resolve.h"

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

/// A range of consecutive elements of a buffer.
struct Piece {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const Piece&) const = default;
};

/// A run whose work is counted.
struct CountedSteps {
  const std::vector<tasks::Step>* steps; ///< never nullptr
  std::function<void()> select;          ///< selects the run's buffers and module
  std::function<void()> restore;         ///< resets outputs and inouts, before each pass
};

/// The part of a Device that measures what runs do and need beside time. Without overrides, it
/// measures nothing and says so.
class DeviceCounters {
public:
  /// Reads performance counters over each of the runs, and returns a report for each. The counters
  /// need passes of their own; after the passes the inputs are as before. Never throws because of a
  /// counter failure: the reports then have the reason.
  virtual std::vector<profiling::CounterReport> count_all(std::span<const CountedSteps> runs,
                                                          profiling::CounterSet set);
  /// Counts one run on the selected buffers.
  profiling::CounterReport count(const std::vector<tasks::Step>& steps, profiling::CounterSet set,
                                 const std::function<void()>& restore);
  /// Launches the steps for about a second. Returns the average energy of one launch, or the reason
  /// why it is not known.
  virtual profiling::Energy energy(const std::vector<tasks::Step>& steps);

protected:
  ~DeviceCounters() = default; // a Device is deleted as a Device
};

/// State of the caches before a timed run. Cold: the caches hold none of the run's data. Warm: the
/// caches hold the data that the previous run left.
enum class CacheState : std::uint8_t { Cold, Warm };

/// The part of a Device that times runs.
class DeviceTimer {
public:
  /// Starts a new turn of timed runs. On a GPU, the launches of one turn use the same stream, and
  /// the next turn uses another one, so that the choice of stream averages out over a series.
  virtual void begin_turn() {}
  /// Runs the steps for a timing, with as little launch overhead as possible. `Cold` also evicts
  /// the data from the caches first. Until release_buffers(), every call for the same set must pass
  /// the same `steps`.
  virtual std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                               CacheState caches = CacheState::Cold) = 0;
  /// Device time of the last run() or run_timed(), as exact as the device can measure it.
  virtual std::chrono::nanoseconds elapsed() const = 0;
  /// Device time of each step of the last run(), in nanoseconds. Empty: this device does not tell.
  virtual std::vector<double> step_times() const { return {}; }
  /// True when the host disturbed the last run_timed(). Its elapsed() must not become a sample.
  virtual bool disturbed() const { return false; }
  /// Clock of the multiprocessors during the last run_timed(), measured on the multiprocessors;
  /// nullopt: this device cannot measure the clock.
  virtual std::optional<double> measured_clock_mhz() const { return std::nullopt; }
  /// A sample with a lower clock does not count, because the device was throttled. 0: not known.
  virtual double least_clock_mhz() const { return 0; }
  /// Current clocks, temperature, power and throttle reasons, as far as they can be read.
  virtual profiling::GpuState state() { return {}; }

protected:
  ~DeviceTimer() = default; // a Device is deleted as a Device
};

/// A device as a worker process sees it: modules, buffers and launches. It lives as long as the
/// worker. A fault may end the process; the device then first reports the fault through the handler
/// that its factory got. For one thread only.
class Device : public DeviceTimer, public DeviceCounters {
public:
  virtual ~Device() = default;

  /// Unloads all modules and their state, loads this compiled module as number 0 and selects it.
  /// Throws Error.
  virtual void load_module(const std::filesystem::path& path) = 0;
  /// Loads a further module, keeps the loaded ones, and returns the number of the new one. Throws
  /// Error.
  virtual std::size_t add_module(const std::filesystem::path& path) = 0;
  /// Later launches take their kernels from this module.
  virtual void select_module(std::size_t module) = 0;
  /// Allocates a buffer between guard zones and returns its index. The contents are undefined.
  virtual std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) = 0;
  /// Selects a set of buffers. New buffers go into the selected set. Steps find buffers by name in
  /// the selected set and in the set `shared`. So several plans can use the same tensors
  /// (`shared`), each with its own scratch. At first, set 0 is both selected and shared.
  virtual void select_buffers(std::size_t set, std::size_t shared) = 0;
  /// Releases the buffers of all sets and selects set 0.
  virtual void release_buffers() = 0;
  /// Copies the bytes to the buffer from byte `offset` on.
  virtual void upload(std::size_t buffer, std::span<const std::byte> bytes,
                      std::size_t offset = 0) = 0;
  /// The inverse of download_pieces().
  void upload_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                     std::size_t element_bytes, std::span<const std::byte> bytes);
  /// Copies the bytes of the buffer from byte `offset` on.
  virtual void download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset = 0) = 0;
  /// Copies these pieces of the buffer, one after the other. `element_bytes`: size of an element.
  virtual void download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                               std::size_t element_bytes, std::span<std::byte> bytes);
  /// Fills the whole buffer with a repeating 8-byte pattern (poison).
  virtual void fill_pattern(std::size_t buffer, std::uint64_t pattern) = 0;
  /// Draws the buffer's elements (tasks/inputs/input_generator.h), bit for bit the same on every
  /// device. The device remembers the parameters for restore() and verify_guards().
  virtual void generate(std::size_t buffer, const tasks::GeneratorSpec& generator,
                        tasks::DType dtype, std::uint64_t seed) = 0;
  /// Writes the elements that generate() drew into the buffer again.
  virtual void restore(std::size_t buffer) = 0;
  /// Runs the steps in order and waits until they have finished. Steps use the buffer names of the
  /// plan.
  virtual std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) = 0;
  /// A hash of the buffer's bytes and their positions: equal for equal contents.
  virtual std::uint64_t checksum(std::size_t buffer) = 0;
  /// Returns a fault if a guard zone or a read-only buffer was written since its allocation.
  virtual std::optional<DeviceFault> verify_guards() = 0;
  /// Compares the candidate's output with the reference's output on the device. `got`: elements of
  /// `dtype` on the host. `expected`: the buffer with the reference's output, in doubles; without
  /// `magnitude` the output is exact and `expected` holds elements of `dtype`. `pieces`: the
  /// positions of the elements of `got`, one piece after the other. Returns nullopt if this device
  /// leaves the comparison to the host.
  virtual std::optional<ErrorTotals> compare(std::span<const std::byte> /*got*/,
                                             const std::vector<Piece>& /*pieces*/,
                                             tasks::DType /*dtype*/, std::size_t /*expected*/,
                                             std::optional<std::size_t> /*magnitude*/,
                                             const ErrorLimits& /*limits*/) {
    return std::nullopt;
  }
  /// False after a fault from which only a new process can recover.
  virtual bool usable() const { return true; }
  /// The findings of check mode since the module was loaded; empty for plain modules.
  virtual std::vector<CheckFinding> findings() = 0;
};

} // namespace winnow::evaluators
