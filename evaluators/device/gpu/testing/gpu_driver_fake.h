#pragma once

#include "evaluators/device/gpu/gpu_driver.h"
#include "evaluators/device/gpu/testing/host_kernels.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::evaluators {

/// A GPU over host memory, for tests. Work is done when it is queued, even while the stream is
/// held. Has the helper kernels (helpers.cu, compiled for the host). A module finds every kernel of
/// `kernels` by its symbol.
class FakeGpuDriver final : public GpuDriver {
public:
  FakeGpuDriver();
  ~FakeGpuDriver() override;
  FakeGpuDriver(const FakeGpuDriver&) = delete; // hands out addresses
  FakeGpuDriver& operator=(const FakeGpuDriver&) = delete;

  std::map<std::string, HostKernel> kernels;
  /// Errors by call name ("launch", "idle", "allocate", "encode", ...). The next call of that name
  /// throws the error.
  std::map<std::string, GpuError> failures;
  /// The calls so far, in order: "allocate", "release", "record", "launch axpy", "mark 0", ... A
  /// call that finds the stream no longer held first adds "let go".
  std::vector<std::string> calls;
  bool hangs = false; ///< idle() never becomes true
  bool maps_words = true;
  int local_bytes = 16;      ///< bytes per thread of every kernel
  bool host_is_slow = false; ///< every hold of the stream times out
  /// Each stamp advances the device's time and cycles by these amounts.
  std::uint64_t step_ns = 10'000, step_cycles = 15'000;
  std::uint64_t clock_step_ns = 32;
  std::chrono::nanoseconds between{1000};      ///< between two marks with work between them
  std::chrono::nanoseconds between_nothing{0}; ///< between two marks with nothing between them
  double max_clock_mhz = 2000;
  std::size_t streams = 1;
  std::size_t selected_stream = 0;
  /// How often a stream was left with work that was not waited for.
  std::size_t left_busy = 0;
  std::vector<GpuLaunch> launches;
  std::optional<std::pair<tasks::ResolvedTensorMap, GpuAddress>> encoded;

  std::size_t count(const std::string& call) const;
  /// Whether the stream is held and not yet released.
  bool holding() const;
  /// If set, receives the number of unreleased allocations, modules and graphs when the driver is
  /// destroyed.
  std::size_t* left_over = nullptr;

  tasks::DeviceFacts facts() const override;
  double clock_mhz() const override { return max_clock_mhz; }
  GpuAddress allocate(std::size_t bytes) override;
  void release(GpuAddress address) override;
  void upload(GpuAddress to, std::span<const std::byte> bytes) override;
  void download(std::span<std::byte> to, GpuAddress from) override;
  void queue_download(std::span<std::byte> to, GpuAddress from) override;
  void pin(std::span<std::byte> memory) override;
  MappedWords map_words(std::size_t count) override;
  GpuModule load_module(std::span<const std::byte> image) override;
  void unload_module(GpuModule module) override;
  GpuKernel find_kernel(GpuModule module, const std::string& symbol) override;
  GpuKernelFacts kernel_facts(GpuKernel kernel) override;
  int resident_blocks(GpuKernel kernel, int block_threads, std::size_t shared_bytes) override;
  void launch(const GpuLaunch& launch) override;
  void fill(GpuAddress to, std::uint32_t value, int element_bytes, std::size_t count) override;
  void copy(GpuAddress to, std::size_t to_stride, GpuAddress from, std::size_t from_stride,
            std::size_t row_bytes, std::size_t rows) override;
  bool idle() override;
  std::size_t stream_count() override { return streams; }
  void select_stream(std::size_t number) override;
  GpuGraph record(const std::function<void()>& queue_work) override;
  void launch(GpuGraph graph) override;
  void release_graph(GpuGraph graph) override;
  void mark(int marker) override;
  std::chrono::nanoseconds between_marks() override;
  void reset_persisting_cache() override;
  TensorMapBytes encode(const tasks::ResolvedTensorMap& map, GpuAddress tensor) override;

private:
  using Work = std::function<void()>;
  void called(const std::string& call, const std::string& more = {});
  void require_whole(std::span<const std::byte> memory) const;
  void queue(Work work);
  void hold(const std::uint64_t* released, std::uint64_t turn, std::uint64_t* gave_up);
  void stamp(std::uint64_t* to);

  std::map<GpuAddress, std::unique_ptr<std::byte[]>> memory_;
  /// Helper kernels that read clocks or wait for the host. They replace those in `kernels`.
  std::map<std::string, HostKernel> timing_kernels_;
  std::span<std::byte> pinned_;
  std::vector<std::uint64_t> words_;
  const std::uint64_t* released_ = nullptr; ///< set while the stream is held
  std::uint64_t turn_ = 0;
  std::uint64_t now_ns_ = 1'000'000'000, now_cycles_ = 5;
  std::vector<std::string> symbols_; ///< symbols of the kernels handed out; handles count from 1
  std::map<GpuGraph, std::vector<Work>> graphs_;
  std::vector<Work>* recording_ = nullptr;
  bool busy_ = false; ///< work was queued since the last idle()
  std::size_t modules_ = 0;
  std::uintptr_t next_handle_ = 1;
};

} // namespace winnow::evaluators
