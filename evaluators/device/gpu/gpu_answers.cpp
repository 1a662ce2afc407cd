#include "evaluators/device/gpu/gpu_answers.h"

#include "base/error.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators::gpu {
namespace {

constexpr std::size_t kShare = 8; // of the device's memory: the rest is the candidates'

} // namespace

class Answers::Kept final : public KeptAnswer {
public:
  Kept(Answers& owner, DeviceRange expected, DeviceRange magnitude)
      : owner_(owner), expected_(expected), magnitude_(magnitude) {}
  ~Kept() override {
    owner_.release(expected_);
    owner_.release(magnitude_);
  }
  Kept(const Kept&) = delete; // owns device memory
  Kept& operator=(const Kept&) = delete;

  std::size_t expected_bytes() const override { return expected_.bytes; }
  std::size_t magnitude_bytes() const override { return magnitude_.bytes; }
  ErrorTotals compare(std::span<const std::byte> got, tasks::DType dtype,
                      const ErrorLimits& limits) override;
  void download(std::span<std::byte> expected, std::span<std::byte> magnitude) override;

private:
  Answers& owner_;
  DeviceRange expected_;
  DeviceRange magnitude_;
};

ErrorTotals Answers::Kept::compare(std::span<const std::byte> got, tasks::DType dtype,
                                   const ErrorLimits& limits) {
  const bool is_exact = magnitude_.bytes == 0;
  const std::size_t per_element = is_exact ? tasks::size_bytes(dtype) : sizeof(double);
  if (got.size() / tasks::size_bytes(dtype) != expected_.bytes / per_element) {
    throw Error(fmt::format("an output of {} bytes of {} for an answer of {} elements", got.size(),
                            to_string(dtype), expected_.bytes / per_element));
  }
  Helpers& helpers = owner_.helpers_;
  helpers.begin_comparison();
  const std::size_t step = owner_.staging_.bytes;
  for (std::size_t from = 0; from < got.size(); from += step) {
    const auto part = got.subspan(from, std::min(step, got.size() - from));
    const DeviceRange staged = owner_.stage(part);
    const std::uint64_t first = from / tasks::size_bytes(dtype) * per_element;
    if (is_exact) {
      helpers.compare_exact(staged, expected_.begin + first);
    } else {
      helpers.compare(staged, dtype, expected_.begin + first, magnitude_.begin + first, limits);
    }
  }
  return helpers.comparison();
}

void Answers::Kept::download(std::span<std::byte> expected, std::span<std::byte> magnitude) {
  owner_.driver_.download(expected.first(expected_.bytes), expected_.begin);
  owner_.driver_.download(magnitude.first(magnitude_.bytes), magnitude_.begin);
}

Answers::Answers(GpuDriver& driver, Helpers& helpers, PinnedArena& arena, std::size_t staging_bytes)
    : driver_(driver), helpers_(helpers), arena_(arena), staging_bytes_(staging_bytes),
      max_bytes_(static_cast<std::size_t>(driver.facts().memory_bytes) / kShare) {}

Answers::~Answers() {
  release(staging_);
}

std::unique_ptr<KeptAnswer> Answers::keep(DeviceRange expected, DeviceRange magnitude) {
  if (!has_room(expected.bytes + magnitude.bytes)) {
    return nullptr;
  }
  DeviceRange kept_expected;
  try {
    if (staging_.bytes == 0) {
      staging_ = allocate(staging_bytes_);
    }
    kept_expected = copy_of(expected);
    return std::make_unique<Kept>(*this, kept_expected, copy_of(magnitude));
  } catch (const GpuError& error) {
    release(kept_expected);
    if (error.failure() != GpuFailure::OutOfMemory) {
      throw;
    }
    return nullptr;
  }
}

bool Answers::has_room(std::size_t bytes) const {
  const std::size_t staging = staging_.bytes == 0 ? staging_bytes_ : 0;
  return bytes_ + staging + bytes <= max_bytes_;
}

DeviceRange Answers::allocate(std::size_t bytes) {
  const DeviceRange range{driver_.allocate(bytes), bytes};
  bytes_ += bytes;
  return range;
}

DeviceRange Answers::copy_of(DeviceRange range) {
  if (range.bytes == 0) {
    return {};
  }
  const DeviceRange copy = allocate(range.bytes);
  try {
    driver_.copy(copy.begin, copy.bytes, range.begin, range.bytes, range.bytes, 1);
  } catch (const GpuError&) {
    release(copy);
    throw;
  }
  return copy;
}

void Answers::release(DeviceRange range) {
  if (range.bytes == 0) {
    return;
  }
  bytes_ -= range.bytes;
  try {
    driver_.release(range.begin);
  } catch (const GpuError&) { // the context is lost, and its memory with it
  }
}

DeviceRange Answers::stage(std::span<const std::byte> bytes) {
  arena_.cover(bytes);
  driver_.upload(staging_.begin, bytes);
  return {staging_.begin, bytes.size()};
}

} // namespace winnow::evaluators::gpu
