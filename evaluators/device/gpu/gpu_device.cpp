#include "evaluators/device/gpu/gpu_device.h"

#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_comparison.h"
#include "evaluators/device/gpu/gpu_fault.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_steps.h"
#include "evaluators/device/gpu/gpu_timing.h"
#include "evaluators/device/gpu/gpu_wait.h"
#include "evaluators/device/gpu/pinned_arena.h"

#include <deque>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace gpu {
namespace {

// The value of nvbench. With a lower clock, the device was throttled.
constexpr double kLeastShareOfClock = 0.75;

std::string describe_run(const std::vector<tasks::Step>& steps, const char* what) {
  return steps.size() == 1 ? describe(steps.front())
                           : fmt::format("{} of {} steps", what, steps.size());
}

void require_inside(const GpuBuffer& buffer, std::size_t bytes, std::size_t offset) {
  if (offset > buffer.data.bytes || bytes > buffer.data.bytes - offset) {
    throw Error(fmt::format("a copy of {} bytes from byte {} on of buffer '{}' of {}", bytes,
                            offset, buffer.name, buffer.data.bytes));
  }
}

/// Whether the device is unusable after this error.
bool is_end(const GpuError& error) {
  return error.sticky() || error.failure() == GpuFailure::DeviceLost;
}

class GpuDevice final : public Device {
  /// Calls `work`. A GpuError that is the fault of the candidate or the device becomes a
  /// DeviceFailure.
  template <class Work> auto guarded(const std::string& where, const Work& work) {
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

public:
  GpuDevice(std::unique_ptr<GpuDriver> driver, GpuDeviceOptions options)
      : driver_(std::move(driver)), clock_mhz_(driver_->clock_mhz()),
        helpers_(*driver_, options.helpers), buffers_(*driver_, helpers_),
        arena_(*driver_, options.arena), libraries_(*driver_, std::move(options.open_library)),
        waiter_(*driver_, options.deadline, std::move(options.on_fatal)),
        timing_(*driver_, helpers_, waiter_, driver_->facts().l2_bytes),
        profile_(*driver_, std::move(options.open_counters), std::move(options.open_monitor)) {}
  ~GpuDevice() override {
    try {
      drop_replays();
    } catch (const GpuError&) { // the context is lost, and the graphs with it
    }
  }

  void load_module(const std::filesystem::path& path) override {
    guarded("the module", [&] {
      drop_replays();
      selected_ = nullptr;
      loaded_.clear();
    });
    add_module(path);
    select_module(0);
  }
  std::size_t add_module(const std::filesystem::path& path) override {
    return guarded("the module", [&] {
      auto steps = std::make_unique<Steps>(*driver_, helpers_, buffers_, libraries_);
      steps->load_module(path);
      loaded_.push_back({path, std::move(steps)});
      return loaded_.size() - 1;
    });
  }
  void select_module(std::size_t module) override { selected_ = &loaded_.at(module); }
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) override {
    return guarded(fmt::format("buffer '{}' of {} bytes", name, bytes),
                   [&] { return buffers_.allocate(name, bytes, read_only); });
  }
  void select_buffers(std::size_t set, std::size_t shared) override {
    buffers_.select(set, shared);
  }
  void release_buffers() override {
    if (usable()) { // also called while a DeviceFailure unwinds the stack
      guarded("releasing the buffers", [&] {
        drop_replays();
        buffers_.clear();
      });
    }
  }
  void upload(std::size_t buffer, std::span<const std::byte> bytes, std::size_t offset) override {
    const GpuBuffer& target = buffers_.at(buffer);
    require_inside(target, bytes.size(), offset);
    guarded("the upload of '" + target.name + "'", [&] {
      arena_.cover(bytes);
      driver_->upload(target.data.begin + offset, bytes);
      buffers_.note_contents(buffer);
    });
  }
  void download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset) override {
    const GpuBuffer& source = buffers_.at(buffer);
    require_inside(source, bytes.size(), offset);
    guarded("the download of '" + source.name + "'", [&] {
      arena_.cover(bytes);
      driver_->download(bytes, source.data.begin + offset);
    });
  }
  // One wait for all pieces: a wait for each takes longer than the copies.
  void download_pieces(std::size_t buffer, const std::vector<Piece>& pieces,
                       std::size_t element_bytes, std::span<std::byte> bytes) override {
    const GpuBuffer& source = buffers_.at(buffer);
    const std::string what = "the download of '" + source.name + "'";
    guarded(what, [&] {
      arena_.cover(bytes);
      for (const Piece& piece : pieces) {
        const std::size_t size = piece.count * element_bytes;
        const std::size_t offset = piece.first * element_bytes;
        require_inside(source, size, offset);
        driver_->queue_download(bytes.first(size), source.data.begin + offset);
        bytes = bytes.subspan(size);
      }
      waiter_.wait(what);
    });
  }
  void fill_pattern(std::size_t buffer, std::uint64_t pattern) override {
    guarded("a fill", [&] {
      helpers_.fill(buffers_.at(buffer).data, pattern);
      buffers_.note_contents(buffer);
    });
  }
  void generate(std::size_t buffer, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed) override {
    guarded("drawing an input", [&] { buffers_.generate(buffer, generator, dtype, seed); });
  }
  void restore(std::size_t buffer) override {
    guarded("drawing an input again", [&] { buffers_.restore(buffer); });
  }
  std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) override {
    require_usable();
    last_ = {};
    step_times_.clear();
    if (auto fault = this->steps().refuse(steps)) {
      return fault;
    }
    const auto start = std::chrono::steady_clock::now();
    for (const tasks::Step& step : steps) {
      try {
        run_step(step, start);
      } catch (const GpuError& error) {
        DeviceFault fault = take_fault(error, describe(step));
        if (!error.sticky() && error.failure() != GpuFailure::BadModule) {
          fault.detail += this->steps().requirements(step);
        }
        return fault;
      }
    }
    return std::nullopt;
  }
  void begin_turn() override {
    require_usable();
    timing_.begin_turn();
  }
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                       CacheState caches) override {
    require_usable();
    last_ = {};
    if (auto fault = this->steps().refuse(steps)) {
      return fault;
    }
    const std::string where = describe_run(steps, "a timed run");
    try {
      launch_timed(steps, caches, where);
    } catch (const GpuError& error) {
      return take_fault(error, where);
    }
    return std::nullopt;
  }
  std::chrono::nanoseconds elapsed() const override { return last_.elapsed; }
  std::vector<double> step_times() const override { return step_times_; }
  bool disturbed() const override { return last_.disturbed; }
  std::optional<double> measured_clock_mhz() const override { return last_.clock_mhz; }
  double least_clock_mhz() const override { return kLeastShareOfClock * clock_mhz_; }
  profiling::GpuState state() override { return profile_.state(); }
  std::vector<profiling::CounterReport> count_all(std::span<const CountedSteps> runs,
                                                  profiling::CounterSet set) override {
    require_usable();
    const auto failed = [&runs](const DeviceFault& fault) {
      profiling::CounterReport report;
      report.unavailable = "the kernel failed while it was counted: " + fault.detail;
      return std::vector<profiling::CounterReport>(runs.size(), report);
    };
    for (const CountedSteps& run : runs) {
      run.select();
      if (const auto fault = this->steps().refuse(*run.steps)) {
        return failed(*fault);
      }
    }
    std::string where;
    try {
      return count_steps(runs, set, where);
    } catch (const GpuError& error) {
      return failed(take_fault(error, where));
    } catch (const DeviceFailure& failure) { // thrown by restore()
      return failed(failure.fault());
    }
  }
  profiling::Energy energy(const std::vector<tasks::Step>& steps) override {
    require_usable();
    profiling::Energy energy;
    const auto failed = [&energy](const DeviceFault& fault) {
      energy.reason = "the kernel failed while it was launched repeatedly: " + fault.detail;
      return energy;
    };
    if (const auto reason = profile_.no_energy()) {
      energy.reason = *reason;
      return energy;
    }
    if (const auto fault = this->steps().refuse(steps)) {
      return failed(*fault);
    }
    const std::string where = describe_run(steps, "repeated runs");
    try {
      return energy_of_steps(steps, where);
    } catch (const GpuError& error) {
      return failed(take_fault(error, where));
    }
  }
  std::uint64_t checksum(std::size_t buffer) override {
    return guarded("a checksum", [&] { return helpers_.checksum(buffers_.at(buffer).data); });
  }
  std::optional<DeviceFault> verify_guards() override {
    return guarded("checking the buffers", [&] { return buffers_.changed(); });
  }
  std::optional<ErrorTotals> compare(std::span<const std::byte> got,
                                     const std::vector<Piece>& pieces, tasks::DType dtype,
                                     std::size_t expected, std::optional<std::size_t> magnitude,
                                     const ErrorLimits& limits) override {
    return guarded("comparing an output", [&] {
      return comparer_.compare(got, pieces, dtype, buffers_.at(expected).data,
                               magnitude ? buffers_.at(*magnitude).data : DeviceRange{}, limits);
    });
  }
  bool usable() const override { return dead_.empty(); }
  std::vector<CheckFinding> findings() override { return {}; }

private:
  struct Loaded {
    std::filesystem::path path;
    std::unique_ptr<Steps> steps;
  };

  DeviceFault take_fault(const GpuError& error, const std::string& where) {
    DeviceFault fault = fault_of(error, where);
    if (is_end(error)) {
      dead_ = fault.detail;
    }
    return fault;
  }
  void require_usable() const {
    if (!dead_.empty()) {
      throw Error("this device cannot be used any more since " + dead_,
                  "continue in a new worker process");
    }
  }
  /// of the selected module
  Steps& steps() const {
    if (selected_ == nullptr) {
      throw Error("run() needs a module: call load_module() first");
    }
    return *selected_->steps;
  }

  void run_step(const tasks::Step& step, std::chrono::steady_clock::time_point start) {
    driver_->mark(0);
    steps().queue(step);
    driver_->mark(1);
    waiter_.wait(describe(step), start);
    const auto elapsed = driver_->between_marks();
    last_.elapsed += elapsed;
    step_times_.push_back(static_cast<double>(elapsed.count()));
  }
  /// How run_timed() runs one set of buffers.
  struct Replay {
    bool launched = false;
    GpuGraph graph = 0; ///< none for a plan with a single kernel, which needs no graph
  };
  void queue_timed(const std::vector<tasks::Step>& steps, const Replay& replay) {
    if (replay.graph != 0) {
      driver_->launch(replay.graph);
    } else {
      this->steps().queue(steps.front());
    }
  }
  Replay& replay_of(const std::vector<tasks::Step>& steps) {
    Replay& replay = replays_[buffers_.selected()];
    const bool one_kernel =
        steps.size() == 1 && std::holds_alternative<tasks::LaunchStep>(steps.front());
    if (!one_kernel && replay.graph == 0) {
      this->steps().prepare_recording(steps);
      replay.graph = driver_->record([&] {
        for (const tasks::Step& step : steps) {
          this->steps().queue(step);
        }
      });
    }
    return replay;
  }
  void launch_timed(const std::vector<tasks::Step>& steps, CacheState caches,
                    const std::string& where) {
    Replay& replay = replay_of(steps);
    const bool hold = std::exchange(replay.launched, true);
    last_ = timing_.time([&] { queue_timed(steps, replay); }, caches, hold, where);
  }
  /// `where`: describes the run that is being counted.
  std::vector<profiling::CounterReport> count_steps(std::span<const CountedSteps> runs,
                                                    profiling::CounterSet set, std::string& where) {
    std::vector<profiling::CountedRun> counted;
    for (const CountedSteps& run : runs) {
      const auto restore = [&] {
        run.select();
        where = describe_run(*run.steps, "a counted run");
        run.restore();
        timing_.empty_cache();
        waiter_.wait("restoring what " + where + " has changed");
      };
      const auto launch = [&] {
        for (const tasks::Step& step : *run.steps) {
          this->steps().queue(step);
        }
        waiter_.wait(where);
      };
      counted.push_back({restore, launch});
    }
    std::vector<profiling::CounterReport> reports = profile_.count(set, counted);
    for (const CountedSteps& run : runs) {
      run.select();
      run.restore();
    }
    return reports;
  }
  profiling::Energy energy_of_steps(const std::vector<tasks::Step>& steps,
                                    const std::string& where) {
    launch_timed(steps, CacheState::Warm, where); // fills the cache
    launch_timed(steps, CacheState::Warm, where);
    const Replay& replay = replay_of(steps);
    RepeatedLaunch launch;
    launch.queue = [&] { queue_timed(steps, replay); };
    launch.wait = [&] { waiter_.wait(where); };
    launch.time = last_.elapsed;
    launch.now_s = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
    };
    return profile_.energy(launch);
  }
  void drop_replays() {
    while (!replays_.empty()) {
      const GpuGraph graph = replays_.begin()->second.graph;
      replays_.erase(replays_.begin());
      if (graph != 0) {
        driver_->release_graph(graph);
      }
    }
  }

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
  std::vector<double> step_times_; ///< of the last run()
  std::string dead_;               ///< why the device is unusable; empty: it is usable
};

} // namespace
} // namespace gpu

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<GpuDriver> driver,
                                        GpuDeviceOptions options) {
  return std::make_unique<gpu::GpuDevice>(std::move(driver), std::move(options));
}

} // namespace winnow::evaluators
