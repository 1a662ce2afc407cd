#include "evaluators/worker/case_runner.h"

#include "base/error.h"
#include "evaluators/worker/poison.h"

#include <array>
#include <bit>

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

std::uint64_t repeated(tasks::DType dtype, double value) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  for (std::size_t offset = 0; offset < bytes.size(); offset += tasks::size_bytes(dtype)) {
    tasks::store_element(dtype, bytes.data() + offset, value);
  }
  return std::bit_cast<std::uint64_t>(bytes);
}

} // namespace

CaseRunner::CaseRunner(Device& device, const tasks::ResolvedPlan& plan, InputSeeds seeds,
                       std::size_t set)
    : device_(device), plan_(plan), set_(set), tensor_set_(set) {
  device_.select_buffers(set_, tensor_set_);
  for (const tasks::Buffer& buffer : plan_.buffers) {
    allocate(buffer);
  }
  draw(seeds.of_static, true);
  draw(seeds.launch, false);
}

CaseRunner::CaseRunner(Device& device, const tasks::ResolvedPlan& plan, const CaseRunner& owner,
                       std::size_t set, std::size_t module)
    : device_(device), plan_(plan), set_(set), tensor_set_(owner.set_), module_(module) {
  device_.select_buffers(set_, tensor_set_);
  for (const tasks::Buffer& buffer : plan_.buffers) {
    if (buffer.kind == Kind::Scratch) {
      allocate(buffer);
    } else {
      slots_[buffer.name] = {&buffer, owner.slot(buffer.name).handle};
    }
  }
}

CaseRunner::~CaseRunner() {
  device_.release_buffers();
}

void CaseRunner::allocate(const tasks::Buffer& buffer) {
  slots_[buffer.name] = {
      &buffer, device_.allocate(buffer.name, buffer_bytes(buffer), buffer.kind == Kind::Input)};
}

void CaseRunner::draw(std::uint64_t seed, bool of_static) {
  for (const auto& [name, slot] : slots_) {
    if (has_input(*slot.buffer) && slot.buffer->is_static == of_static) {
      device_.generate(slot.handle, slot.buffer->generator, slot.buffer->dtype, seed);
    }
  }
}

void CaseRunner::poison_outputs(std::uint64_t salt) {
  for (const auto& [name, slot] : slots_) {
    const tasks::Buffer& buffer = *slot.buffer;
    if (has_input(buffer) || (buffer.keep && prepared_)) {
      continue;
    }
    device_.fill_pattern(slot.handle, buffer.once ? repeated(buffer.dtype, *buffer.once)
                                                  : poison_pattern(buffer.dtype, salt));
  }
}

void CaseRunner::poison(std::uint64_t salt) {
  poison_outputs(salt);
  for (const auto& [name, slot] : slots_) {
    if (slot.buffer->kind == Kind::InOut) {
      device_.restore(slot.handle);
    }
  }
}

void CaseRunner::renew(std::uint64_t seed, std::uint64_t salt) {
  draw(seed, false);
  poison_outputs(salt);
}

void CaseRunner::upload(const std::string& tensor, std::span<const std::byte> bytes) {
  device_.upload(slot(tensor).handle, bytes);
}

void CaseRunner::upload(const std::string& tensor, const std::vector<Piece>& pieces,
                        std::span<const std::byte> bytes) {
  const Slot& target = slot(tensor);
  device_.upload_pieces(target.handle, pieces, tasks::size_bytes(target.buffer->dtype), bytes);
}

std::optional<DeviceFault> CaseRunner::run_prepare() {
  prepared_ = true;
  if (plan_.prepare.empty()) {
    return std::nullopt;
  }
  select();
  auto fault = device_.run(plan_.prepare);
  prepare_ns_ = static_cast<double>(device_.elapsed().count());
  for (auto& [name, slot] : slots_) {
    if (slot.buffer->keep && !fault) {
      slot.prepared = device_.checksum(slot.handle);
    }
  }
  return fault;
}

void CaseRunner::select() {
  device_.select_buffers(set_, tensor_set_);
  device_.select_module(module_);
}

std::optional<DeviceFault> CaseRunner::run() {
  select();
  return device_.run(plan_.steps);
}

std::optional<DeviceFault> CaseRunner::run_timed(CacheState caches) {
  select();
  return device_.run_timed(plan_.steps, caches);
}

CountedSteps CaseRunner::counted_steps(std::uint64_t salt) {
  return {&plan_.steps, [this] { select(); }, [this, salt] { poison(salt); }};
}

std::vector<double> CaseRunner::step_times(std::uint64_t salt) {
  select();
  poison(salt);
  return device_.run(plan_.steps) ? std::vector<double>{} : device_.step_times();
}

profiling::Energy CaseRunner::energy() {
  select();
  return device_.energy(plan_.steps);
}

std::optional<DeviceFault> CaseRunner::verify() {
  auto fault = device_.verify_guards();
  return fault ? fault : verify_scratch();
}

std::optional<DeviceFault> CaseRunner::verify_scratch() {
  for (const auto& [name, slot] : slots_) {
    auto fault = slot.buffer->once ? verify_once(slot) : verify_kept(slot);
    if (fault) {
      return fault;
    }
  }
  return std::nullopt;
}

// Data that a run leaves in `keep` scratch could be the next run's answer.
std::optional<DeviceFault> CaseRunner::verify_kept(const Slot& slot) {
  if (!slot.buffer->keep || plan_.prepare.empty() ||
      device_.checksum(slot.handle) == slot.prepared) {
    return std::nullopt;
  }
  return DeviceFault{
      tasks::Verdict::ModifiedInput,
      fmt::format("scratch '{}' is declared `keep` but a launch has changed it; only "
                  "`prepare` may write it",
                  slot.buffer->name)};
}

std::optional<DeviceFault> CaseRunner::verify_once(const Slot& slot) {
  const tasks::Buffer& buffer = *slot.buffer;
  std::vector<std::byte> bytes(buffer_bytes(buffer));
  device_.download(slot.handle, bytes);
  const std::uint64_t pattern = repeated(buffer.dtype, *buffer.once);
  const double expected = tasks::load_element(buffer.dtype, &pattern);
  const std::size_t size = tasks::size_bytes(buffer.dtype);
  for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
    const double value = tasks::load_element(buffer.dtype, bytes.data() + offset);
    if (value != expected) {
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

void CaseRunner::download(const std::string& tensor, std::span<std::byte> bytes) {
  device_.download(slot(tensor).handle, bytes);
}

void CaseRunner::download(const std::string& tensor, const std::vector<Piece>& pieces,
                          std::span<std::byte> bytes) {
  const Slot& source = slot(tensor);
  device_.download_pieces(source.handle, pieces, tasks::size_bytes(source.buffer->dtype), bytes);
}

std::optional<ErrorTotals> CaseRunner::compare(std::span<const std::byte> got,
                                               const std::vector<Piece>& pieces, tasks::DType dtype,
                                               const std::string& expected,
                                               const std::string& magnitude,
                                               const ErrorLimits& limits) {
  std::optional<std::size_t> handle;
  if (!magnitude.empty()) {
    handle = slot(magnitude).handle;
  }
  return device_.compare(got, pieces, dtype, slot(expected).handle, handle, limits);
}

} // namespace winnow::evaluators
