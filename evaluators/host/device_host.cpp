#include "evaluators/host/device_host.h"

#include "base/error.h"
#include "base/files.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/vendors/gpu_vendors.h"
#include "tasks/shared_need.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kExchangeBytes = std::uint64_t{32} << 30; // only pages in use take memory

// Compiles the kernels with which a GPU worker draws inputs and checks buffers.
CompileResult compile_helpers(Compiler& compiler) {
  CompileRequest request;
  request.file = "helpers.cu";
  request.source = gpu_helper_source();
  request.kernels = gpu_helper_kernels();
  CompileResult result = compiler.compile(request);
  if (result.verdict != tasks::Verdict::Correct) {
    throw Error(
        "Winnow's own helper kernels do not compile for this GPU: " + result.detail,
        "run `winnow doctor`; if `winnow doctor` finds no fault in the toolkit, report this error");
  }
  return result;
}

WorkerDevice worker_device_of(const DeviceReport& device, std::chrono::milliseconds run_timeout,
                              Compiler& compiler, CompileResult& helpers) {
  WorkerDevice worker;
  worker.device = device.id;
  worker.deadline = run_timeout;
  if (worker.is_gpu()) {
    helpers = compile_helpers(compiler);
    worker.helpers = helpers.module;
    worker.variables = driver_variables();
  }
  return worker;
}

std::unique_ptr<Runner> make_runner(const DeviceHost& host) {
  return host.worker_device.is_gpu()
             ? make_standing_runner(host.sandbox, host.arena, host.worker_device, host.cache)
             : make_fresh_runner(host.sandbox, host.arena);
}

} // namespace

DeviceHost::DeviceHost(const DeviceReport& report, const MachineOptions& machine,
                       std::chrono::milliseconds run_timeout)
    : DeviceHost(report, std::make_shared<GpuLock>(report), machine, run_timeout) {}

DeviceHost::DeviceHost(const DeviceHost& open, const MachineOptions& machine,
                       std::chrono::milliseconds run_timeout)
    : DeviceHost(open.device, open.lock, machine, run_timeout) {}

DeviceHost::DeviceHost(DeviceReport report, std::shared_ptr<const GpuLock> shared_lock,
                       const MachineOptions& machine, std::chrono::milliseconds run_timeout)
    : device(std::move(report)), lock(std::move(shared_lock)),
      sandbox(process::Sandbox::best(machine.require_isolation)), arena(tasks::kSharedBytes),
      exchange(kExchangeBytes), cache(machine.cache.empty() ? cache_directory() : machine.cache),
      compiler(make_compiler(device, sandbox, machine, cache)),
      worker_device(worker_device_of(device, run_timeout, *compiler, helpers)),
      judge(sandbox, arena, exchange, worker_device, cache),
      torch(sandbox, exchange, device, cache), runner(make_runner(*this)) {}

std::shared_ptr<DeviceHost> open_device(const DeviceReport& device, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout) {
  return std::make_shared<DeviceHost>(device, machine, run_timeout);
}

std::shared_ptr<DeviceHost> open_beside(const DeviceHost& open, const MachineOptions& machine,
                                        std::chrono::milliseconds run_timeout) {
  return std::make_shared<DeviceHost>(open, machine, run_timeout);
}

HostStatistics statistics(const DeviceHost& host) {
  HostStatistics statistics = host.spent;
  const RunnerStatistics runner = host.runner->statistics();
  statistics.judge_starts = host.judge.starts();
  statistics.worker_restarts = runner.restarts;
  statistics.recoveries = runner.recoveries;
  statistics.recovery_seconds = std::chrono::duration<double>(runner.recovery_time).count();
  statistics.longest_recovery_seconds =
      std::chrono::duration<double>(runner.longest_recovery).count();
  return statistics;
}

std::string quarantine(const DeviceHost& host) {
  const std::string why = host.runner->quarantine();
  return why.empty() ? why : host.device.id + ": " + why;
}

GpuLock::GpuLock(const DeviceReport& device) {
  if (device.kind == "cpu") {
    return;
  }
  const std::string name = device.uuid.empty() ? device.id : device.uuid;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("winnow-" + name + ".lock");
  // The file may belong to another user. Linux may refuse O_CREAT for such a file in /tmp.
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 && errno == ENOENT) {
    fd_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  }
  if (fd_ < 0) {
    throw Error("cannot open the lock of " + device.id + ": " + path.string(),
                "make it readable, or set TMPDIR");
  }
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    close(fd_);
    throw DeviceUnavailable(device.id + " is in use by another Winnow, and timings never share a "
                                        "GPU",
                            "wait for it to end, or choose another GPU with --device");
  }
}

GpuLock::~GpuLock() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

std::unique_ptr<Compiler> make_compiler(const DeviceReport& device, const process::Sandbox& sandbox,
                                        const MachineOptions& machine,
                                        const std::filesystem::path& cache) {
  if (device.kind == "cpu") {
    CpuCompilerOptions compiler;
    compiler.cache = cache;
    compiler.timeout = machine.compile_timeout;
    compiler.memory_bytes = machine.memory_bytes;
    return make_cpu_compiler(sandbox, compiler);
  }
  GpuCompilerOptions compiler;
  compiler.vendor = &gpu_vendor(device.kind);
  compiler.architecture = device.facts.architecture;
  compiler.cache = cache;
  compiler.timeout = machine.compile_timeout;
  compiler.memory_bytes = std::max(compiler.memory_bytes, machine.memory_bytes);
  return make_gpu_compiler(sandbox, compiler);
}

} // namespace winnow::evaluators
