// The class behind make_gpu_device(), for the .cpp files of this folder only. gpu_device_runs.cpp
// has the functions that launch work.
#pragma once

#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_comparison.h"
#include "evaluators/device/gpu/gpu_device.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_profile.h"
#include "evaluators/device/gpu/gpu_steps.h"
#include "evaluators/device/gpu/gpu_timing.h"
#include "evaluators/device/gpu/gpu_wait.h"
#include "evaluators/device/gpu/pinned_arena.h"

#include <deque>
#include <map>

namespace winnow::evaluators::gpu {

/// Whether the device is unusable after this error.
inline bool is_end(const GpuError& error) {
  return error.sticky() || error.failure() == GpuFailure::DeviceLost;
}

class GpuDevice final : public Device {
public:
  GpuDevice(std::unique_ptr<GpuDriver> driver, GpuDeviceOptions options);
  ~GpuDevice() override;

  void load_module(const std::filesystem::path& path) override;
  std::size_t add_module(const std::filesystem::path& path) override;
  void select_module(std::size_t module) override { selected_ = &loaded_.at(module); }
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) override;
  void select_buffers(std::size_t set, std::size_t shared) override {
    buffers_.select(set, shared);
  }
  void release_buffers() override;
  void upload(std::size_t buffer, std::span<const std::byte> bytes) override;
  void download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset) override;
  void download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                       std::size_t element_bytes, std::span<std::byte> bytes) override;
  void fill_pattern(std::size_t buffer, std::uint64_t pattern) override;
  void generate(std::size_t buffer, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed) override;
  void restore(std::size_t buffer) override;
  std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) override;
  void begin_turn() override;
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                       CacheState caches) override;
  std::chrono::nanoseconds elapsed() const override { return last_.elapsed; }
  bool disturbed() const override { return last_.disturbed; }
  std::optional<double> measured_clock_mhz() const override { return last_.clock_mhz; }
  double least_clock_mhz() const override;
  profiling::GpuState state() override { return profile_.state(); }
  std::vector<profiling::CounterReport> count_all(std::span<const CountedSteps> runs,
                                                  profiling::CounterSet set) override;
  profiling::Energy energy(const std::vector<tasks::Step>& steps) override;
  std::uint64_t checksum(std::size_t buffer) override;
  std::optional<DeviceFault> verify_guards() override;
  std::optional<ErrorTotals> compare(std::span<const std::byte> got,
                                     const std::vector<Piece>& pieces, tasks::DType dtype,
                                     std::size_t expected, std::optional<std::size_t> magnitude,
                                     const ErrorLimits& limits) override;
  bool usable() const override { return dead_.empty(); }
  std::vector<CheckFinding> findings() override { return {}; }

private:
  struct Loaded {
    std::filesystem::path path;
    std::unique_ptr<Steps> steps;
  };

  /// Calls `work`. A GpuError that is the fault of the candidate or the device becomes a
  /// DeviceFailure.
  template <class Work> auto guarded(const std::string& where, const Work& work);
  DeviceFault take_fault(const GpuError& error, const std::string& where);
  void require_usable() const;
  Steps& steps() const; ///< of the selected module

  void run_step(const tasks::Step& step, std::chrono::steady_clock::time_point start);
  /// How run_timed() runs one set of buffers.
  struct Replay {
    bool launched = false;
    GpuGraph graph = 0; ///< none for a plan with a single kernel, which needs no graph
  };
  void queue_timed(const std::vector<tasks::Step>& steps, const Replay& replay);
  Replay& replay_of(const std::vector<tasks::Step>& steps);
  void launch_timed(const std::vector<tasks::Step>& steps, CacheState caches,
                    const std::string& where);
  std::vector<profiling::CounterReport> count_steps(std::span<const CountedSteps> runs,
                                                    profiling::CounterSet set, std::string& where);
  profiling::Energy energy_of_steps(const std::vector<tasks::Step>& steps,
                                    const std::string& where);
  void drop_replays();

  std::unique_ptr<GpuDriver> driver_;
  const double clock_mhz_;
  Helpers helpers_;
  GpuBuffers buffers_;
  PinnedArena arena_;
  Comparer comparer_{*driver_, helpers_, arena_};
  Libraries libraries_;
  Waiter waiter_;
  Timing timing_;
  Profile profile_;
  std::deque<Loaded> loaded_;
  Loaded* selected_ = nullptr;
  std::map<std::size_t, Replay> replays_; ///< by set of buffers
  TimedLaunch last_;
  std::string dead_; ///< why the device is unusable; empty: it is usable
};

template <class Work> auto GpuDevice::guarded(const std::string& where, const Work& work) {
  require_usable();
  try {
    return work();
  } catch (const GpuError& error) {
    if (error.failure() == GpuFailure::OutOfMemory || is_end(error)) {
      throw DeviceFailure(take_fault(error, where));
    }
    throw;
  }
}

} // namespace winnow::evaluators::gpu
