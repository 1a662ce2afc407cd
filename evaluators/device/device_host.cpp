#include "evaluators/device/device_host.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "evaluators/device/cpu/compile/cpu_compiler.h"
#include "evaluators/device/cuda_architecture.h"
#include "evaluators/device/gpu/compile/gpu_compiler.h"
#include "evaluators/device/gpu/helper_kernels.h"
#include "evaluators/device/hip/compile/hiprtc.h"
#include "tasks/doubts.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/tuning/parameter_choices.h"

#include <algorithm>
#include <cerrno>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

namespace winnow::evaluators {
namespace {

constexpr std::uint64_t kExchangeBytes = std::uint64_t{32} << 30; // only pages in use take memory

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
  compiler.kind = device.kind;
  compiler.architecture = device.facts.architecture;
  compiler.cache = cache;
  compiler.timeout = machine.compile_timeout;
  compiler.memory_bytes = std::max(compiler.memory_bytes, machine.memory_bytes);
  return make_gpu_compiler(sandbox, compiler);
}

// Compiles the kernels with which a GPU worker draws inputs and checks buffers.
std::filesystem::path compile_helpers(Compiler& compiler) {
  CompileRequest request;
  request.file = "helpers.cu";
  request.source = gpu_helper_source();
  request.kernels = gpu_helper_kernels();
  const CompileResult result = compiler.compile(request);
  if (result.verdict != tasks::Verdict::Correct) {
    throw Error(
        "Winnow's own helper kernels do not compile for this GPU: " + result.detail,
        "run `winnow doctor`; if `winnow doctor` finds no fault in the toolkit, report this error");
  }
  return result.module;
}

WorkerDevice worker_device_of(const DeviceReport& device, std::chrono::milliseconds run_timeout,
                              Compiler& compiler) {
  WorkerDevice worker;
  worker.device = device.id;
  worker.deadline = run_timeout;
  if (worker.is_gpu()) {
    worker.helpers = compile_helpers(compiler);
    worker.variables = driver_variables();
  }
  return worker;
}

std::unique_ptr<Runner> make_runner(const DeviceHost& host) {
  return host.worker_device.is_gpu()
             ? make_standing_runner(host.sandbox, host.arena, host.worker_device, host.cache)
             : make_fresh_runner(host.sandbox, host.arena);
}

bool wants_fast_math(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
                     std::vector<Diagnostic>& errors) {
  try {
    return tasks::uses_fast_math(file.plan, choice);
  } catch (const tasks::ExpressionError& error) {
    errors.push_back({file.file, file.plan.fast_math.at, std::string("fast_math: ") + error.what(),
                      "true, false or a parameter"});
    return false;
  }
}

/// Writes values so that two keys differ if anything in the values differs.
class KeyWriter {
public:
  template <typename T> void add(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      key_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      add(value.size());
      for (const auto& element : value) {
        add(element);
      }
    }
  }
  void add(const std::string& text) {
    add(text.size());
    key_ += text;
  }
  template <typename First, typename Second> void add(const std::pair<First, Second>& value) {
    add(value.first);
    add(value.second);
  }
  std::string take() { return std::move(key_); }

private:
  std::string key_;
};

std::string key_of(const tasks::Shape& shape) {
  const auto& [id, set, axes, scalars, devices, axis_order] = shape;
  KeyWriter key;
  key.add(id);
  key.add(set);
  key.add(axes);
  key.add(scalars);
  key.add(devices);
  key.add(axis_order);
  return key.take();
}

} // namespace

tasks::Evaluation compile_only(const tasks::Task& task, std::string_view text,
                               const std::string& file_name, const std::string& kind,
                               const std::string& architecture, const MachineOptions& machine) {
  DeviceReport device;
  device.kind = device.id = kind;
  device.name = architecture;
  device.facts =
      kind == "hip" ? hip_architecture_facts(architecture) : cuda_architecture_facts(architecture);
  const process::Sandbox sandbox = process::Sandbox::best(machine.require_isolation);
  const auto compiler = make_compiler(device, sandbox, machine,
                                      machine.cache.empty() ? cache_directory() : machine.cache);
  tasks::Evaluation result = blank_evaluation(kind, architecture, to_string(sandbox.level()));
  std::vector<Diagnostic> errors;
  const tasks::KernelFileResult parsed = tasks::parse_kernel_file(text, file_name);
  if (!parsed.kernel_file) {
    result.verdict = tasks::Verdict::BadPlan;
    result.detail = to_string(parsed.errors.front());
    return result;
  }
  result.stage = tasks::Stage::Compile;
  result.parameters = default_choice(*parsed.kernel_file);
  const BuiltKernel built =
      build_kernel(*compiler, device.facts, *parsed.kernel_file, task, result.parameters,
                   shown_shapes(task, kind), BuildMode::Plain, {}, errors);
  result.build = built.compiled.build;
  result.verdict = errors.empty() ? built.compiled.verdict : tasks::Verdict::BadPlan;
  result.detail = errors.empty() ? built.compiled.detail : to_string(errors.front());
  if (result.verdict == tasks::Verdict::Correct) {
    result.verdict = tasks::Verdict::NotJudged; // the code compiles, but nothing has run
  }
  return result;
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

DeviceHost::DeviceHost(DeviceReport report, const MachineOptions& machine,
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
      worker_device(worker_device_of(device, run_timeout, *compiler)),
      judge(sandbox, arena, exchange, worker_device, cache),
      torch(sandbox, exchange, device, cache), runner(make_runner(*this)) {}

BuiltKernel build_kernel(Compiler& compiler, const tasks::DeviceFacts& facts,
                         const tasks::KernelFile& file, const tasks::Task& view,
                         const tasks::ParameterChoice& choice,
                         const std::vector<tasks::Shape>& shapes, BuildMode mode,
                         const std::function<bool()>& cancelled, std::vector<Diagnostic>& errors) {
  BuiltKernel built{&file, &view, choice, {}, {}, {}};
  CompileRequest request;
  request.file = file.file;
  request.source = file.source;
  request.parameters = choice;
  request.kernels = tasks::kernel_names(file, view, shapes, choice, facts, errors);
  request.constants = tasks::device_constants(file, choice, errors);
  request.mode = mode;
  request.fast_math = wants_fast_math(file, choice, errors);
  if (errors.empty()) {
    built.compiled = compiler.compile(request, cancelled);
  }
  return built;
}

const PlanAtShape& plan_at(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
                           const tasks::Shape& shape) {
  constexpr std::size_t kMostPlans = 64; // a task has some twenty shapes
  if (kernel.planned_for != facts) {
    kernel.plans.clear();
    kernel.planned_for = facts;
  }
  std::string key = key_of(shape);
  if (const auto known = kernel.plans.find(key); known != kernel.plans.end()) {
    return known->second;
  }
  PlanAtShape at;
  if (auto plan = tasks::resolve_plan(*kernel.file, *kernel.task, shape, kernel.choice, facts,
                                      kernel.compiled.facts, at.errors, at.warnings)) {
    at.plan = std::move(*plan);
  }
  if (kernel.plans.size() >= kMostPlans) {
    kernel.plans.clear();
  }
  return kernel.plans.emplace(std::move(key), std::move(at)).first->second;
}

bool serves(const BuiltKernel& kernel, const tasks::DeviceFacts& facts,
            const std::vector<tasks::Shape>& shapes) {
  const auto holds = [&](const tasks::Shape& shape) {
    return plan_at(kernel, facts, shape).plan.has_value();
  };
  return kernel.compiled.verdict == tasks::Verdict::Correct &&
         std::all_of(shapes.begin(), shapes.end(), holds) && is_file(kernel.compiled.module);
}

tasks::ParameterChoice default_choice(const tasks::KernelFile& file) {
  const auto choices = tasks::parameter_choices(file.plan, 1);
  return choices.empty() ? tasks::ParameterChoice{} : choices.front();
}

std::vector<tasks::Shape> shown_shapes(const tasks::Task& task, const std::string& device_kind) {
  std::vector<tasks::Shape> shapes = task.shapes_of(tasks::ShapeSet::Tiny, device_kind);
  for (tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device_kind)) {
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

} // namespace winnow::evaluators
