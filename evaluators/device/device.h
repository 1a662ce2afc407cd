#pragma once

#include "evaluators/device/compare_core.h"
#include "evaluators/device/device_counters.h"
#include "evaluators/device/device_fault.h"
#include "evaluators/device/device_timer.h"
#include "evaluators/device/module.h"
#include "evaluators/device/piece.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

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
  virtual void upload(std::size_t buffer, std::span<const std::byte> bytes) = 0;
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
