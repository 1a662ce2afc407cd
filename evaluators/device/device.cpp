#include "evaluators/device/device.h"

namespace winnow::evaluators {
void Device::download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                             std::size_t element_bytes, std::span<std::byte> bytes) {
  for (const Piece& piece : pieces) {
    const std::size_t size = piece.count * element_bytes;
    download(buffer, bytes.first(size), piece.first * element_bytes);
    bytes = bytes.subspan(size);
  }
}

void Device::upload_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                           std::size_t element_bytes, std::span<const std::byte> bytes) {
  for (const Piece& piece : pieces) {
    const std::size_t size = piece.count * element_bytes;
    upload(buffer, bytes.first(size), piece.first * element_bytes);
    bytes = bytes.subspan(size);
  }
}

std::vector<profiling::CounterReport> DeviceCounters::count_all(std::span<const CountedSteps> runs,
                                                                profiling::CounterSet /*set*/) {
  profiling::CounterReport report;
  report.provider = "none";
  report.unavailable = "this device has no counters";
  return {runs.size(), report};
}

profiling::CounterReport DeviceCounters::count(const std::vector<tasks::Step>& steps,
                                               profiling::CounterSet set,
                                               const std::function<void()>& restore) {
  const CountedSteps run{&steps, [] {}, restore};
  return count_all({&run, 1}, set).front();
}

profiling::Energy DeviceCounters::energy(const std::vector<tasks::Step>& /*steps*/) {
  profiling::Energy energy;
  energy.reason = "measured on NVIDIA GPUs only";
  return energy;
}

} // namespace winnow::evaluators
