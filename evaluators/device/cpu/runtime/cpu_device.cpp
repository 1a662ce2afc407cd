#include "evaluators/device/cpu/cpu_device.h"

#include "base/error.h"
#include "evaluators/device/cpu/runtime/checker.h"
#include "evaluators/device/cpu/runtime/counted_run.h"
#include "evaluators/device/cpu/runtime/entry_points.h"
#include "evaluators/device/cpu/runtime/fiber.h"
#include "evaluators/device/cpu/runtime/guarded_buffers.h"
#include "evaluators/device/cpu/runtime/launch_arguments.h"
#include "evaluators/device/cpu/runtime/launcher.h"
#include "evaluators/device/cpu/runtime/module.h"
#include "evaluators/device/cpu/runtime/watchdog.h"
#include "evaluators/device/draw.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

// The limit of a GPU, unless an attribute raises it.
constexpr std::uint64_t kMaxStaticSharedBytes = 48 << 10;
constexpr std::uint64_t kMaxCooperativeBlocks = 256; // each needs an OS thread

// Each worker may need a thousand stacks, and each stack two mappings. A process may have 65,530.
constexpr int kMaxWorkers = 24;

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return 1;
  }
  return static_cast<unsigned>(std::clamp(CPU_COUNT(&set), 1, kMaxWorkers));
}

WinnowUint3 to_uint3(const std::array<std::int64_t, 3>& size) {
  return {static_cast<unsigned>(size[0]), static_cast<unsigned>(size[1]),
          static_cast<unsigned>(size[2])};
}

class CpuDevice final : public Device {
public:
  explicit CpuDevice(CpuDeviceOptions options)
      : options_(std::move(options)), reporter_(options_.on_fatal, buffers_),
        launcher_(options_.workers != 0 ? options_.workers : available_cores()) {
    if (options_.deadline.count() > 0) {
      watchdog_ = std::make_unique<cpu::Watchdog>([this] {
        reporter_.end_process(
            {tasks::Verdict::Timeout, fmt::format("ran longer than {} ms; now in {}",
                                                  options_.deadline.count(), launcher_.where())});
      });
    }
  }

  void load_module(const std::filesystem::path& path) override {
    selected_ = nullptr;
    loaded_.clear(); // otherwise the loader would return the same module with its old state
    add_module(path);
    select_module(0);
  }
  std::size_t add_module(const std::filesystem::path& path) override {
    Loaded loaded;
    loaded.module = std::make_unique<cpu::Module>(path);
    if (loaded.module->checked()) {
      loaded.checker = std::make_unique<cpu::Checker>(buffers_, *loaded.module);
    }
    loaded_.push_back(std::move(loaded));
    return loaded_.size() - 1;
  }
  void select_module(std::size_t module) override { selected_ = &loaded_.at(module); }
  void select_buffers(std::size_t set, std::size_t shared) override {
    buffers_.select(set, shared);
  }
  std::size_t allocate(const std::string& name, std::size_t bytes, bool read_only) override {
    return buffers_.allocate(name, bytes, read_only);
  }
  void release_buffers() override {
    drawn_.clear();
    buffers_.clear();
  }
  void upload(std::size_t buffer, std::span<const std::byte> bytes, std::size_t offset) override {
    const cpu::GuardedBuffer& target = buffers_.at(buffer);
    if (offset > target.bytes || bytes.size() > target.bytes - offset) {
      throw Error(fmt::format("upload of {} bytes to byte {} of buffer '{}' of {}", bytes.size(),
                              offset, target.name, target.bytes));
    }
    if (target.read_only) {
      buffers_.protect(false);
    }
    std::copy(bytes.begin(), bytes.end(), target.data + offset);
  }
  void download(std::size_t buffer, std::span<std::byte> bytes, std::size_t offset) override {
    const cpu::GuardedBuffer& source = buffers_.at(buffer);
    if (offset > source.bytes || bytes.size() > source.bytes - offset) {
      throw Error(fmt::format("download of {} bytes from byte {} of buffer '{}' of {}",
                              bytes.size(), offset, source.name, source.bytes));
    }
    std::copy_n(source.data + offset, bytes.size(), bytes.begin());
  }
  void fill_pattern(std::size_t buffer, std::uint64_t pattern) override {
    const cpu::GuardedBuffer& target = buffers_.at(buffer);
    if (target.read_only) {
      buffers_.protect(false);
    }
    cpu::fill_repeating(target.data, target.bytes, &pattern, sizeof(pattern));
  }
  void generate(std::size_t buffer, const tasks::GeneratorSpec& generator, tasks::DType dtype,
                std::uint64_t seed) override {
    const cpu::GuardedBuffer& target = buffers_.at(buffer);
    buffers_.protect(false);
    const Draw draw{generator, dtype, seed, tasks::hash_name(target.name)};
    draw_elements(draw, {target.data, target.bytes});
    if (!target.read_only) { // a read-only buffer cannot change
      drawn_[buffer].assign(target.data, target.data + target.bytes);
    }
  }
  void restore(std::size_t buffer) override {
    if (const auto found = drawn_.find(buffer); found != drawn_.end()) {
      upload(buffer, found->second, 0);
    }
  }
  std::optional<DeviceFault> run(const std::vector<tasks::Step>& steps) override {
    if (selected_ == nullptr) {
      throw Error("run() needs a module: call load_module() first");
    }
    buffers_.protect(true);
    if (options_.before_run) {
      options_.before_run();
    }
    if (watchdog_) {
      watchdog_->arm(options_.deadline);
    }
    const auto start = std::chrono::steady_clock::now();
    std::optional<DeviceFault> fault;
    for (const tasks::Step& step : steps) {
      fault = std::visit([this](const auto& one) { return this->run_step(one); }, step);
      if (fault) {
        break;
      }
    }
    elapsed_ = std::chrono::steady_clock::now() - start;
    if (watchdog_) {
      watchdog_->disarm();
    }
    return fault;
  }
  std::optional<DeviceFault> run_timed(const std::vector<tasks::Step>& steps,
                                       CacheState /*caches*/) override {
    return run(steps);
  }
  std::chrono::nanoseconds elapsed() const override { return elapsed_; }
  /// Counts the same for both sets: one run gives everything that the module's build can count.
  std::vector<profiling::CounterReport> count_all(std::span<const CountedSteps> runs,
                                                  profiling::CounterSet /*set*/) override {
    std::vector<profiling::CounterReport> reports;
    for (const CountedSteps& counted : runs) {
      counted.select();
      reports.push_back(count_one(counted));
    }
    return reports;
  }
  std::uint64_t checksum(std::size_t buffer) override {
    const cpu::GuardedBuffer& source = buffers_.at(buffer);
    // With a single lane, the multiplications would wait for each other
    constexpr std::size_t kLanes = 8;
    std::array<std::uint64_t, kLanes> lanes{};
    std::array<std::uint64_t, kLanes> words{};
    for (std::size_t at = 0; at < source.bytes; at += sizeof(words)) {
      const std::size_t bytes = std::min(sizeof(words), source.bytes - at);
      if (bytes < sizeof(words)) {
        words.fill(0);
      }
      std::memcpy(words.data(), source.data + at, bytes);
      for (std::size_t i = 0; i < kLanes; ++i) {
        lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15ULL;
        lanes[i] ^= lanes[i] >> 32U;
      }
    }
    std::uint64_t hash = source.bytes;
    for (const std::uint64_t lane : lanes) {
      hash = (hash ^ lane) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32U;
    }
    return hash;
  }
  std::optional<DeviceFault> verify_guards() override {
    if (const std::optional<std::string> changed = buffers_.changed_poison()) {
      return DeviceFault{tasks::Verdict::OutOfBounds, *changed};
    }
    return std::nullopt;
  }
  std::vector<CheckFinding> findings() override {
    std::vector<CheckFinding> all;
    for (const Loaded& loaded : loaded_) {
      if (loaded.checker) {
        const std::vector<CheckFinding> some = loaded.checker->findings();
        all.insert(all.end(), some.begin(), some.end());
      }
    }
    return all;
  }

private:
  profiling::CounterReport count_one(const CountedSteps& run_of_steps) {
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds timed = elapsed_;
    run_of_steps.restore();
    cpu::CountedRun counted(buffers_, selected_ != nullptr && selected_->module->checked());
    counted_ = &counted;
    std::optional<DeviceFault> fault;
    try {
      fault = run(*run_of_steps.steps);
    } catch (...) {
      counted_ = nullptr;
      throw;
    }
    counted_ = nullptr;
    profiling::CounterReport report = counted.report();
    run_of_steps.restore();
    elapsed_ = timed;
    if (fault) {
      report.counters.clear();
      report.unavailable = "the counted run failed: " + fault->detail;
    }
    report.passes = 1;
    report.collect_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

  struct Loaded {
    std::unique_ptr<cpu::Module> module;
    std::unique_ptr<cpu::Checker> checker; ///< only for an instrumented module
  };

  std::optional<DeviceFault> run_step(const tasks::LaunchStep& step) {
    if (auto fault = refuse(step)) {
      return fault;
    }
    const cpu::LaunchArguments arguments(step.arguments, buffers_);
    cpu::Launch launch;
    launch.name = step.kernel;
    const cpu::Module& module = *selected_->module;
    launch.kernel = &module.kernel(step.kernel);
    launch.module = &module;
    launch.arguments = arguments.pointers();
    launch.loaded_from = &arguments;
    launch.grid = to_uint3(step.grid);
    launch.block = to_uint3(step.block);
    launch.shared_bytes = static_cast<std::size_t>(step.shared_bytes);
    launch.blocking = module.blocking();
    launch.cooperative = step.cooperative;
    launch.checker = selected_->checker.get();
    if (counted_ != nullptr) {
      counted_->begin_launch(launch);
    } else if (launch.checker != nullptr) {
      launch.checker->begin_launch();
    }
    return launcher_.run(launch);
  }
  std::optional<DeviceFault> run_step(const tasks::FillStep& step) {
    const auto element_bytes = static_cast<std::int64_t>(tasks::size_bytes(step.dtype));
    const std::int64_t bytes = step.count * element_bytes;
    std::array<std::byte, 8> element{};
    tasks::store_element(step.dtype, element.data(), step.value);
    if (const auto* found = buffers_.find(step.buffer); found != nullptr && found->read_only) {
      return DeviceFault{tasks::Verdict::ModifiedInput,
                         "a fill step writes input '" + step.buffer + "'"};
    }
    cpu::fill_repeating(range(step.buffer, step.offset_bytes, bytes),
                        static_cast<std::size_t>(bytes), element.data(),
                        static_cast<std::size_t>(element_bytes));
    return std::nullopt;
  }
  std::optional<DeviceFault> run_step(const tasks::CopyStep& step) {
    if (const auto* found = buffers_.find(step.to); found != nullptr && found->read_only) {
      return DeviceFault{tasks::Verdict::ModifiedInput,
                         "a copy step writes input '" + step.to + "'"};
    }
    for (std::int64_t row = 0; row < step.rows; ++row) {
      const std::byte* from =
          range(step.from, step.from_offset_bytes + row * step.from_stride_bytes, step.row_bytes);
      std::byte* to =
          range(step.to, step.to_offset_bytes + row * step.to_stride_bytes, step.row_bytes);
      std::memmove(to, from, static_cast<std::size_t>(step.row_bytes));
    }
    return std::nullopt;
  }
  static std::optional<DeviceFault> run_step(const tasks::LibraryStep& step) {
    throw Error("the cpu device has no library '" + step.library + "'", "run the plan on a GPU");
  }
  /// Refuses launches that a GPU's driver would refuse.
  std::optional<DeviceFault> refuse(const tasks::LaunchStep& step) const {
    const auto fixed =
        static_cast<std::int64_t>(selected_->module->static_shared_bytes(step.kernel));
    if (fixed > static_cast<std::int64_t>(kMaxStaticSharedBytes)) {
      return DeviceFault{
          tasks::Verdict::LaunchError,
          fmt::format("kernel '{}' declares {} bytes of static shared memory, at most "
                      "{} are allowed: use `extern __shared__` and \"shared_bytes\"",
                      step.kernel, fixed, kMaxStaticSharedBytes)};
    }
    if (fixed + step.shared_bytes > facts_.max_shared_bytes) {
      return DeviceFault{tasks::Verdict::LaunchError,
                         fmt::format("kernel '{}' uses {} bytes of static and {} of dynamic shared "
                                     "memory, together at most {} are allowed",
                                     step.kernel, fixed, step.shared_bytes,
                                     facts_.max_shared_bytes)};
    }
    const std::int64_t blocks = step.grid[0] * step.grid[1] * step.grid[2];
    if (step.cooperative && blocks > static_cast<std::int64_t>(kMaxCooperativeBlocks)) {
      return DeviceFault{tasks::Verdict::LaunchError,
                         fmt::format("the cooperative launch of kernel '{}' has {} blocks, at most "
                                     "{} can be resident at once on this device",
                                     step.kernel, blocks, kMaxCooperativeBlocks)};
    }
    return std::nullopt;
  }
  std::byte* range(const std::string& buffer, std::int64_t offset, std::int64_t bytes) const {
    const cpu::GuardedBuffer* found = buffers_.find(buffer);
    if (found == nullptr || offset < 0 || bytes < 0 ||
        offset + bytes > static_cast<std::int64_t>(found->bytes)) {
      throw Error(fmt::format("a plan step uses bytes {} to {} of buffer '{}', which has {} bytes",
                              offset, offset + bytes, buffer, found == nullptr ? 0 : found->bytes));
    }
    return found->data + offset;
  }

  CpuDeviceOptions options_;
  tasks::DeviceFacts facts_ = cpu_device_facts();
  cpu::GuardedBuffers buffers_;
  /// Elements that generate() drew for writable buffers
  std::map<std::size_t, std::vector<std::byte>> drawn_;
  cpu::FaultReporter reporter_;
  cpu::Launcher launcher_;
  std::unique_ptr<cpu::Watchdog> watchdog_;
  std::deque<Loaded> loaded_;
  Loaded* selected_ = nullptr;
  cpu::CountedRun* counted_ = nullptr; ///< set while count() runs
  std::chrono::nanoseconds elapsed_{0};
};

} // namespace

std::unique_ptr<Device> make_cpu_device(CpuDeviceOptions options) {
  cpu::link_entry_points();
  cpu::link_checker_entry_points();
  return std::make_unique<CpuDevice>(std::move(options));
}

std::uint64_t cpu_stack_bytes() {
  const auto stacks = static_cast<std::uint64_t>(tasks::DeviceFacts{}.max_threads_per_block);
  return available_cores() * stacks * cpu::kFiberStackBytes;
}

tasks::DeviceFacts cpu_device_facts() {
  tasks::DeviceFacts facts;
  facts.sm_count = available_cores();
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    facts.memory_bytes = std::int64_t{pages} * page_bytes / 4; // other processes need memory, too
  }
  facts.max_threads_per_launch = std::int64_t{1} << 32;
  return facts;
}

} // namespace winnow::evaluators
