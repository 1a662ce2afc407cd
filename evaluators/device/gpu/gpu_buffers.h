#pragma once

#include "evaluators/device/device_fault.h"
#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/gpu_helpers.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators::gpu {

/// One buffer in an allocation of its own: a guard zone (guard_core.h), the data, and a second
/// guard zone that begins directly after the last byte of the data.
struct GpuBuffer {
  std::string name;
  std::size_t set = 0; ///< see Device::select_buffers()
  bool read_only = false;
  DeviceRange zone; ///< the data with both guard zones
  DeviceRange data;
  std::optional<Draw> draw;              ///< parameters of the last generate()
  std::optional<std::uint64_t> checksum; ///< of a read-only buffer that was uploaded, not drawn
};

/// The buffers of a case. Keeps released allocations for the next case, which often has the same
/// shape. Throws GpuError.
class GpuBuffers {
public:
  GpuBuffers(GpuDriver& driver, Helpers& helpers);
  ~GpuBuffers();
  GpuBuffers(const GpuBuffers&) = delete; // owns device memory
  GpuBuffers& operator=(const GpuBuffers&) = delete;

  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only);
  void clear();
  void select(std::size_t set, std::size_t shared) {
    selected_ = set;
    shared_ = shared;
  }
  std::size_t selected() const { return selected_; }
  const GpuBuffer& at(std::size_t index) const { return buffers_.at(index); }
  /// Looks in the selected set, then in the shared set. nullptr when no buffer has the name. If
  /// several have it, returns the newest.
  const GpuBuffer* find(const std::string& name) const;
  /// The address of a byte of a buffer. Throws Error when [offset, offset + bytes) is not inside
  /// the buffer.
  GpuAddress range(const std::string& name, std::int64_t offset, std::int64_t bytes) const;

  void generate(std::size_t index, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed);
  void restore(std::size_t index);
  /// Records the new contents of a buffer. Call it after every write by the harness other than
  /// generate().
  void note_contents(std::size_t index);
  /// Returns a fault that names a guard zone or a read-only buffer that was written.
  std::optional<DeviceFault> changed();

private:
  DeviceRange take_zone(std::size_t bytes);
  void keep(const GpuBuffer& buffer);
  void release_kept();
  std::uint64_t checksum(const GpuBuffer& buffer) const;
  std::optional<DeviceFault> changed_input(const GpuBuffer& buffer, std::uint64_t finding);

  GpuDriver& driver_;
  Helpers& helpers_;
  std::uint64_t salt_; ///< salt of the guard zones
  const std::uint64_t checksum_salt_;
  std::size_t selected_ = 0;
  std::size_t shared_ = 0;
  std::size_t max_kept_bytes_;
  std::size_t kept_bytes_ = 0;
  std::vector<GpuBuffer> buffers_;
  std::multimap<std::size_t, GpuAddress> kept_; ///< free zones by size
};

} // namespace winnow::evaluators::gpu
