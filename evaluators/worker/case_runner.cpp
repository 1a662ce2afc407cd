#include "evaluators/worker/case_runner.h"

#include "base/error.h"
#include "evaluators/worker/poison.h"

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

using Kind = tasks::Buffer::Kind;

std::size_t buffer_bytes(const tasks::Buffer& buffer) {
  return static_cast<std::size_t>(buffer.count) * tasks::size_bytes(buffer.dtype);
}

bool has_input(const tasks::Buffer& buffer) {
  return buffer.kind == Kind::Input || buffer.kind == Kind::InOut;
}

std::vector<std::byte> filled(const tasks::Buffer& buffer, double value) {
  std::vector<std::byte> bytes(buffer_bytes(buffer));
  const std::size_t size = tasks::size_bytes(buffer.dtype);
  for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
    tasks::store_element(buffer.dtype, bytes.data() + offset, value);
  }
  return bytes;
}

} // namespace

CaseRunner::CaseRunner(Device& device, const tasks::ResolvedPlan& plan, std::uint64_t seed)
    : device_(device), plan_(plan) {
  for (const tasks::Buffer& buffer : plan_.buffers) {
    Slot slot;
    slot.buffer = &buffer;
    slot.handle = device_.allocate(buffer.name, buffer_bytes(buffer), buffer.kind == Kind::Input);
    if (has_input(buffer)) {
      device_.generate(slot.handle, buffer.generator, buffer.dtype, seed);
    }
    slots_.emplace(buffer.name, slot);
  }
}

CaseRunner::~CaseRunner() {
  device_.release_buffers();
}

void CaseRunner::poison(std::uint64_t salt) {
  for (const auto& [name, slot] : slots_) {
    const tasks::Buffer& buffer = *slot.buffer;
    if (has_input(buffer) || (buffer.keep && prepared_)) {
      continue;
    }
    if (buffer.once) {
      device_.upload(slot.handle, filled(buffer, *buffer.once));
    } else {
      device_.fill_pattern(slot.handle, poison_pattern(buffer.dtype, salt));
    }
  }
  restore();
}

void CaseRunner::upload(const std::string& tensor, std::span<const std::byte> bytes) {
  device_.upload(slot(tensor).handle, bytes);
}

std::optional<DeviceFault> CaseRunner::run_prepare() {
  prepared_ = true;
  if (plan_.prepare.empty()) {
    return std::nullopt;
  }
  auto fault = device_.run(plan_.prepare);
  prepare_ns_ = static_cast<double>(device_.elapsed().count());
  return fault;
}

void CaseRunner::restore() {
  for (const auto& [name, slot] : slots_) {
    if (slot.buffer->kind == Kind::InOut) {
      device_.restore(slot.handle);
    }
  }
}

std::optional<DeviceFault> CaseRunner::run() {
  return device_.run(plan_.steps);
}

std::optional<DeviceFault> CaseRunner::run_timed() {
  return device_.run_timed(plan_.steps);
}

std::optional<DeviceFault> CaseRunner::verify() {
  if (auto fault = device_.verify_guards()) {
    return fault;
  }
  for (const auto& [name, slot] : slots_) {
    if (slot.buffer->once) {
      if (auto fault = verify_once(slot)) {
        return fault;
      }
    }
  }
  return std::nullopt;
}

std::optional<DeviceFault> CaseRunner::verify_once(const Slot& slot) {
  const tasks::Buffer& buffer = *slot.buffer;
  std::vector<std::byte> bytes(buffer_bytes(buffer));
  device_.download(slot.handle, bytes);
  const std::vector<std::byte> expected = filled(buffer, *buffer.once);
  const std::size_t size = tasks::size_bytes(buffer.dtype);
  for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
    const double value = tasks::load_element(buffer.dtype, bytes.data() + offset);
    if (value != tasks::load_element(buffer.dtype, expected.data() + offset)) {
      return DeviceFault{tasks::Verdict::Wrong,
                         fmt::format("scratch '{}' is declared `once` but element {} is {} after a "
                                     "run; use fill or reset it in the kernel",
                                     buffer.name, offset / size, value)};
    }
  }
  return std::nullopt;
}

const CaseRunner::Slot& CaseRunner::slot(const std::string& name) const {
  const auto found = slots_.find(name);
  if (found == slots_.end()) {
    throw Error(fmt::format("no buffer '{}' in the plan of this case", name));
  }
  return found->second;
}

std::uint64_t CaseRunner::checksum(const std::string& tensor) {
  return device_.checksum(slot(tensor).handle);
}

std::size_t CaseRunner::output_bytes(const std::string& tensor) const {
  return buffer_bytes(*slot(tensor).buffer);
}

void CaseRunner::download(const std::string& tensor, std::span<std::byte> bytes) {
  device_.download(slot(tensor).handle, bytes);
}

} // namespace winnow::evaluators
