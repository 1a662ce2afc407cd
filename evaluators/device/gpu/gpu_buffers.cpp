#include "evaluators/device/gpu/gpu_buffers.h"

#include "base/random_bits.h"
#include "tasks/inputs/input_generator.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

// Wide enough that an index that is a row or two off still hits the guard zone.
constexpr std::size_t kGuardBytes = std::size_t{512} << 10U;
// CUDA allocates whole pages of this size. The guard zone at the end gets the rest of the last
// page.
constexpr std::size_t kPageBytes = std::size_t{2} << 20U;
constexpr std::size_t kChecksPerBuffer = 3;
constexpr std::size_t kKeptShare = 4; // share of the memory in facts(): one in kKeptShare

std::size_t align_up(std::size_t value, std::size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

DeviceRange front_guard(const GpuBuffer& buffer) {
  return {buffer.zone.begin, buffer.data.begin - buffer.zone.begin};
}

DeviceRange rear_guard(const GpuBuffer& buffer) {
  const GpuAddress end = buffer.data.begin + buffer.data.bytes;
  return {end, buffer.zone.begin + buffer.zone.bytes - end};
}

// `before` and `after`: distances from the data to a changed byte; kUntouched: the guard is intact.
std::optional<DeviceFault> changed_guard(const GpuBuffer& buffer, std::uint64_t before,
                                         std::uint64_t after) {
  if (before != Helpers::kUntouched) {
    return DeviceFault{
        tasks::Verdict::OutOfBounds,
        fmt::format("buffer '{}' was written {} bytes before its start", buffer.name, before)};
  }
  if (after != Helpers::kUntouched) {
    return DeviceFault{tasks::Verdict::OutOfBounds,
                       fmt::format("buffer '{}' was written at byte {} of {} bytes", buffer.name,
                                   buffer.data.bytes + after, buffer.data.bytes)};
  }
  return std::nullopt;
}

} // namespace

GpuBuffers::GpuBuffers(GpuDriver& driver, Helpers& helpers)
    : driver_(driver), helpers_(helpers), salt_(random_bits()), checksum_salt_(random_bits()),
      max_kept_bytes_(static_cast<std::size_t>(driver.facts().memory_bytes) / kKeptShare) {}

GpuBuffers::~GpuBuffers() {
  try {
    clear();
    release_kept();
  } catch (const GpuError&) { // the context is lost, and the memory with it
  }
}

DeviceRange GpuBuffers::take_zone(std::size_t bytes) {
  if (const auto found = kept_.find(bytes); found != kept_.end()) {
    const DeviceRange zone{found->second, bytes};
    kept_.erase(found);
    kept_bytes_ -= bytes;
    return zone;
  }
  try {
    return {driver_.allocate(bytes), bytes};
  } catch (const GpuError& error) {
    if (error.failure() != GpuFailure::OutOfMemory || kept_bytes_ == 0) {
      throw;
    }
  }
  release_kept();
  return {driver_.allocate(bytes), bytes};
}

std::size_t GpuBuffers::allocate(const std::string& name, std::size_t bytes, bool read_only) {
  GpuBuffer buffer;
  buffer.name = name;
  buffer.set = selected_;
  buffer.read_only = read_only;
  buffer.zone = take_zone(align_up(2 * kGuardBytes + bytes, kPageBytes));
  buffer.data = {buffer.zone.begin + kGuardBytes, bytes};
  buffers_.push_back(buffer);
  helpers_.fill_guard(buffer.zone, salt_);
  return buffers_.size() - 1;
}

void GpuBuffers::clear() {
  ++salt_; // every zone gets another pattern
  selected_ = shared_ = 0;
  while (!buffers_.empty()) {
    const GpuBuffer buffer = buffers_.back();
    buffers_.pop_back();
    keep(buffer);
  }
}

void GpuBuffers::keep(const GpuBuffer& buffer) {
  if (kept_bytes_ + buffer.zone.bytes > max_kept_bytes_) {
    driver_.release(buffer.zone.begin);
    return;
  }
  kept_bytes_ += buffer.zone.bytes;
  kept_.emplace(buffer.zone.bytes, buffer.zone.begin);
}

void GpuBuffers::release_kept() {
  while (!kept_.empty()) {
    const auto [bytes, address] = *kept_.begin();
    kept_.erase(kept_.begin());
    kept_bytes_ -= bytes;
    driver_.release(address);
  }
}

const GpuBuffer* GpuBuffers::find(const std::string& name) const {
  for (const std::size_t set : {selected_, shared_}) {
    for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
      if (buffer->set == set && buffer->name == name) {
        return &*buffer;
      }
    }
  }
  return nullptr;
}

GpuAddress GpuBuffers::range(const std::string& name, std::int64_t offset,
                             std::int64_t bytes) const {
  const GpuBuffer* buffer = find(name);
  if (buffer == nullptr || offset < 0 || bytes < 0 ||
      offset > static_cast<std::int64_t>(buffer->data.bytes) - bytes) {
    throw Error(
        fmt::format("a plan step uses {} bytes from byte {} of buffer '{}', which has {} bytes",
                    bytes, offset, name, buffer == nullptr ? 0 : buffer->data.bytes));
  }
  return buffer->data.begin + static_cast<GpuAddress>(offset);
}

void GpuBuffers::generate(std::size_t index, const tasks::GeneratorSpec& generator,
                          tasks::DType dtype, std::uint64_t seed) {
  GpuBuffer& buffer = buffers_.at(index);
  const Draw draw{generator, dtype, seed, tasks::hash_name(buffer.name)};
  buffer.draw = draw;
  buffer.checksum.reset();
  helpers_.generate(buffer.data, draw);
}

std::uint64_t GpuBuffers::checksum(const GpuBuffer& buffer) const {
  return helpers_.checksum(buffer.data, checksum_salt_);
}

void GpuBuffers::restore(std::size_t index) {
  if (const GpuBuffer& buffer = buffers_.at(index); buffer.draw) {
    helpers_.generate(buffer.data, *buffer.draw);
  }
}

void GpuBuffers::note_contents(std::size_t index) {
  GpuBuffer& buffer = buffers_.at(index);
  if (buffer.read_only) {
    buffer.draw.reset();
    buffer.checksum = checksum(buffer);
  }
}

std::optional<DeviceFault> GpuBuffers::changed() {
  helpers_.begin_checks(kChecksPerBuffer * buffers_.size());
  std::size_t check = 0;
  for (const GpuBuffer& buffer : buffers_) {
    helpers_.check_guard(check, front_guard(buffer), salt_, true);
    helpers_.check_guard(check + 1, rear_guard(buffer), salt_, false);
    if (buffer.read_only && buffer.draw) {
      helpers_.check_drawn(check + 2, buffer.data, *buffer.draw);
    }
    check += kChecksPerBuffer;
  }
  const std::vector<std::uint64_t> findings = helpers_.findings();
  check = 0;
  for (const GpuBuffer& buffer : buffers_) {
    if (auto fault = changed_guard(buffer, findings[check], findings[check + 1])) {
      return fault;
    }
    if (auto fault = changed_input(buffer, findings[check + 2])) {
      return fault;
    }
    check += kChecksPerBuffer;
  }
  return std::nullopt;
}

std::optional<DeviceFault> GpuBuffers::changed_input(const GpuBuffer& buffer,
                                                     std::uint64_t finding) {
  if (finding != Helpers::kUntouched) {
    return DeviceFault{tasks::Verdict::ModifiedInput,
                       fmt::format("input '{}' was changed at byte {}", buffer.name, finding)};
  }
  if (buffer.checksum && checksum(buffer) != *buffer.checksum) {
    return DeviceFault{tasks::Verdict::ModifiedInput,
                       fmt::format("input '{}' was changed", buffer.name)};
  }
  return std::nullopt;
}

} // namespace winnow::evaluators::gpu
