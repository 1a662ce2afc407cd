#include "evaluators/device/gpu/gpu_device.h"

#include "evaluators/device/gpu/gpu_answers.h"
#include "evaluators/device/gpu/gpu_buffers.h"
#include "evaluators/device/gpu/gpu_fault.h"
#include "evaluators/device/gpu/gpu_helpers.h"
#include "evaluators/device/gpu/gpu_steps.h"

#include <map>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

using gpu::Helpers;

// Lines may have copies in both halves of a cache, and replacement is not strictly by age: one size
// of the cache leaves survivors.
constexpr std::size_t kCacheSizes = 3;
constexpr std::size_t kUnknownCacheBytes = std::size_t{64} << 20U;

/// Whether nothing works any more afterwards.
bool is_end(const GpuError& error) {
  return error.sticky() || error.failure() == GpuFailure::DeviceLost;
}

class GpuDevice final : public Device {
public:
  GpuDevice(std::unique_ptr<GpuDriver> driver, GpuDeviceOptions options);
  ~GpuDevice() override;

  void load_module(const std::filesystem::path& path) override;
  bool reset_variables() override;
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) override;
  void select_buffers(std::size_t set) override { buffers_.select(set); }
  void release_buffers() override;
  void upload(std::size_t buffer, std::span<const std::byte> bytes) override;
  void download(std::size_t buffer, std::span<std::byte> bytes) override;
  void fill_pattern(std::size_t buffer, std::uint64_t pattern) override;
  void generate(std::size_t buffer, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed) override;
  void restore(std::size_t buffer) override;
  std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) override;
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps) override;
  std::chrono::nanoseconds elapsed() const override { return elapsed_; }
  std::uint64_t checksum(std::size_t buffer) override;
  std::optional<DeviceFault> verify_guards() override;
  std::unique_ptr<KeptAnswer> keep(std::size_t expected,
                                   std::optional<std::size_t> magnitude) override;
  bool usable() const override { return dead_.empty(); }
  std::vector<CheckFinding> findings() override { return {}; }

private:
  /// Does `work`; a GpuError that the candidate or the device is to blame for becomes a
  /// DeviceFailure.
  template <class Work> auto guarded(const std::string& where, const Work& work);
  DeviceFault take_fault(const GpuError& error, const std::string& where);
  void require_usable() const;
  void require_module() const;

  void run_step(const tasks::Step& step, std::chrono::steady_clock::time_point start);
  void empty_cache();
  void wait(const std::string& where, std::chrono::steady_clock::time_point start);
  void drop_graphs();

  std::unique_ptr<GpuDriver> driver_;
  GpuDeviceOptions options_;
  tasks::DeviceFacts facts_;
  Helpers helpers_;
  gpu::GpuBuffers buffers_;
  gpu::PinnedArena arena_{*driver_, options_.arena};
  gpu::Answers answers_{*driver_, helpers_, arena_};
  gpu::Steps steps_;
  std::filesystem::path module_;
  std::map<std::size_t, GpuGraph> graphs_; ///< of run_timed(), by set of buffers
  gpu::DeviceRange cache_filler_;
  std::chrono::nanoseconds elapsed_{0};
  std::string dead_; ///< why nothing works any more
};

GpuDevice::GpuDevice(std::unique_ptr<GpuDriver> driver, GpuDeviceOptions options)
    : driver_(std::move(driver)), options_(std::move(options)), facts_(driver_->facts()),
      helpers_(*driver_, options_.helpers), buffers_(*driver_, helpers_),
      steps_(*driver_, helpers_, buffers_, options_.open_library) {}

GpuDevice::~GpuDevice() {
  try {
    drop_graphs();
    if (cache_filler_.begin != 0) {
      driver_->release(cache_filler_.begin);
    }
  } catch (const GpuError&) { // the context is lost, and all of these with it
  }
}

DeviceFault GpuDevice::take_fault(const GpuError& error, const std::string& where) {
  DeviceFault fault = gpu::fault_of(error, where);
  if (is_end(error)) {
    dead_ = fault.detail;
  }
  return fault;
}

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

void GpuDevice::require_usable() const {
  if (!dead_.empty()) {
    throw Error("this device is of no use any more since " + dead_,
                "go on in a new worker process");
  }
}

void GpuDevice::require_module() const {
  if (!steps_.loaded()) {
    throw Error("run() needs a module: call load_module() first");
  }
}

void GpuDevice::load_module(const std::filesystem::path& path) {
  guarded("the module", [&] {
    drop_graphs();
    steps_.load_module(path);
    module_ = path;
  });
}

bool GpuDevice::reset_variables() {
  require_module();
  if (!steps_.keeps_state()) {
    return false;
  }
  load_module(std::filesystem::path(module_));
  return true;
}

void GpuDevice::drop_graphs() {
  while (!graphs_.empty()) {
    const GpuGraph graph = graphs_.begin()->second;
    graphs_.erase(graphs_.begin());
    if (graph != 0) { // recording it has failed
      driver_->release_graph(graph);
    }
  }
}

std::size_t GpuDevice::allocate(const std::string& name, std::size_t bytes, bool read_only) {
  return guarded(fmt::format("buffer '{}' of {} bytes", name, bytes),
                 [&] { return buffers_.allocate(name, bytes, read_only); });
}

void GpuDevice::release_buffers() {
  if (usable()) { // also called while a failure unwinds
    guarded("releasing the buffers", [&] {
      drop_graphs();
      buffers_.clear();
    });
  }
}

void GpuDevice::upload(std::size_t buffer, std::span<const std::byte> bytes) {
  const gpu::GpuBuffer& target = buffers_.at(buffer);
  if (bytes.size() > target.data.bytes) {
    throw Error(fmt::format("upload of {} bytes into buffer '{}' of {}", bytes.size(), target.name,
                            target.data.bytes));
  }
  guarded("the upload of '" + target.name + "'", [&] {
    driver_->upload(target.data.begin, bytes);
    buffers_.note_contents(buffer);
  });
}

void GpuDevice::download(std::size_t buffer, std::span<std::byte> bytes) {
  const gpu::GpuBuffer& source = buffers_.at(buffer);
  if (bytes.size() > source.data.bytes) {
    throw Error(fmt::format("download of {} bytes from buffer '{}' of {}", bytes.size(),
                            source.name, source.data.bytes));
  }
  guarded("the download of '" + source.name + "'", [&] {
    arena_.cover(bytes);
    driver_->download(bytes, source.data.begin);
  });
}

void GpuDevice::fill_pattern(std::size_t buffer, std::uint64_t pattern) {
  guarded("a fill", [&] {
    helpers_.fill(buffers_.at(buffer).data, pattern);
    buffers_.note_contents(buffer);
  });
}

void GpuDevice::generate(std::size_t buffer, const tasks::GeneratorSpec& generator,
                         tasks::DType dtype, std::uint64_t seed) {
  guarded("drawing an input", [&] { buffers_.generate(buffer, generator, dtype, seed); });
}

void GpuDevice::restore(std::size_t buffer) {
  guarded("drawing an input again", [&] { buffers_.restore(buffer); });
}

std::uint64_t GpuDevice::checksum(std::size_t buffer) {
  return guarded("a checksum", [&] { return helpers_.checksum(buffers_.at(buffer).data); });
}

std::unique_ptr<KeptAnswer> GpuDevice::keep(std::size_t expected,
                                            std::optional<std::size_t> magnitude) {
  return guarded("keeping an answer", [&] {
    return answers_.keep(buffers_.at(expected).data,
                         magnitude ? buffers_.at(*magnitude).data : gpu::DeviceRange{});
  });
}

std::optional<DeviceFault> GpuDevice::verify_guards() {
  return guarded("checking the buffers", [&] { return buffers_.changed(); });
}

std::optional<DeviceFault> GpuDevice::run(const std::vector<tasks::Step>& steps) {
  require_usable();
  require_module();
  elapsed_ = std::chrono::nanoseconds{0};
  if (auto fault = steps_.refuse(steps)) {
    return fault;
  }
  const auto start = std::chrono::steady_clock::now();
  for (const tasks::Step& step : steps) {
    try {
      run_step(step, start);
    } catch (const GpuError& error) {
      DeviceFault fault = take_fault(error, gpu::describe(step));
      if (!error.sticky() && error.failure() != GpuFailure::BadModule) {
        fault.detail += steps_.requirements(step);
      }
      return fault;
    }
  }
  return std::nullopt;
}

void GpuDevice::run_step(const tasks::Step& step, std::chrono::steady_clock::time_point start) {
  driver_->mark(0);
  steps_.queue(step);
  driver_->mark(1);
  wait(gpu::describe(step), start);
  elapsed_ += driver_->between_marks();
}

std::optional<DeviceFault> GpuDevice::run_timed(const std::vector<tasks::Step>& steps) {
  require_usable();
  require_module();
  if (auto fault = steps_.refuse(steps)) {
    return fault;
  }
  const std::string where = steps.size() == 1
                                ? gpu::describe(steps.front())
                                : fmt::format("a timed run of {} steps", steps.size());
  try {
    GpuGraph& graph = graphs_[buffers_.selected()];
    if (graph == 0) {
      steps_.prepare_recording(steps);
      graph = driver_->record([&] {
        for (const tasks::Step& step : steps) {
          steps_.queue(step);
        }
      });
    }
    empty_cache();
    driver_->mark(0);
    driver_->launch(graph);
    driver_->mark(1);
    wait(where, std::chrono::steady_clock::now());
    elapsed_ = driver_->between_marks();
  } catch (const GpuError& error) {
    return take_fault(error, where);
  }
  return std::nullopt;
}

void GpuDevice::empty_cache() {
  if (cache_filler_.begin == 0) {
    const std::size_t cache =
        facts_.l2_bytes > 0 ? static_cast<std::size_t>(facts_.l2_bytes) : kUnknownCacheBytes;
    cache_filler_ = {driver_->allocate(kCacheSizes * cache), kCacheSizes * cache};
    driver_->fill(cache_filler_.begin, 0, 4, cache_filler_.bytes / 4);
  }
  driver_->reset_persisting_cache();
  helpers_.drive_out_of_cache(cache_filler_);
}

void GpuDevice::wait(const std::string& where, std::chrono::steady_clock::time_point start) {
  constexpr std::chrono::microseconds kSpin{200}; // most kernels end sooner
  constexpr std::chrono::microseconds kNap{50};
  const auto now = std::chrono::steady_clock::now;
  const auto spin_until = now() + kSpin;
  while (!driver_->idle()) {
    if (options_.deadline.count() > 0 && now() - start > options_.deadline) {
      if (options_.on_fatal) {
        options_.on_fatal({tasks::Verdict::Timeout, fmt::format("ran longer than {} ms; now in {}",
                                                                options_.deadline.count(), where)});
      }
      _exit(kFaultExitCode);
    }
    if (now() > spin_until) {
      std::this_thread::sleep_for(kNap);
    }
  }
}

} // namespace

std::unique_ptr<Device> make_gpu_device(std::unique_ptr<GpuDriver> driver,
                                        GpuDeviceOptions options) {
  return std::make_unique<GpuDevice>(std::move(driver), std::move(options));
}

} // namespace winnow::evaluators
