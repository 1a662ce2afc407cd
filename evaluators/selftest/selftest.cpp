#include "evaluators/selftest/selftest.h"

#include "base/error.h"
#include "base/text.h"
#include "evaluators/evaluation/compile_ahead.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/selftest/kernel_trial.h"
#include "evaluators/selftest/memory_need.h"
#include "evaluators/selftest/trials.h"
#include "tasks/doubts.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/task/baseline.h"
#include "tasks/task/task_file.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <thread>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxVariants = 64; // per honest file
constexpr const char* kHonestFolder = "honest";
constexpr const char* kWrongFolder = "wrong";

std::vector<fs::path> kernel_files(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".cu") {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> wrong_files(const tasks::Task& task) {
  std::vector<fs::path> files = kernel_files(task.folder / kWrongFolder);
  for (const fs::path& path : files) {
    if (wrong_kernel_kind(path.string()).empty()) {
      throw UsageError(fmt::format("{}: the name tells no kind of mistake", path.string()),
                       "begin the name with one of " + join(wrong_kernel_kinds(), ", "));
    }
  }
  return files;
}

/// A kernel that was never judged is not known to be wrong.
void require_judged(const KernelResult& result) {
  using enum tasks::Verdict;
  const tasks::Verdict verdict = result.verdict;
  if (verdict == BadPlan || verdict == CompileError || verdict == OverLimit ||
      verdict == Infrastructure) {
    throw Error(fmt::format("{} was not judged: {}", result.file, result.detail),
                "correct this file of the task, so that it runs and gives wrong answers");
  }
}

tasks::KernelFile load_kernel_file(const tasks::Task& task, const fs::path& path) {
  tasks::KernelFileResult parsed = tasks::parse_kernel_file(
      tasks::read_task_file(task.folder, path, tasks::kMaxKernelFileBytes), path.string());
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()), "correct this file of the task");
  }
  return std::move(*parsed.kernel_file);
}

std::vector<tasks::ParameterChoice> variants_of(const tasks::KernelFile& file) {
  try {
    auto choices = tasks::parameter_choices(file.plan, kMaxVariants);
    if (!choices.empty()) {
      return choices;
    }
  } catch (const tasks::ExpressionError& error) {
    throw UsageError(file.file + ": where: " + error.what(), "correct this file of the task");
  }
  throw UsageError(file.file + ": no choice of parameters satisfies every `where`",
                   "correct this file of the task");
}

} // namespace

// Compiles kernels into the cache on another core while the device judges mutants.
class AheadCompiler {
public:
  AheadCompiler(DeviceHost& host, const tasks::Task& task, const std::vector<fs::path>& files)
      : thread_([&host, &task, files](const std::stop_token& stop) {
          EvaluationRequest request;
          request.task = std::make_shared<const tasks::Task>(task);
          try {
            for (const fs::path& file : files) {
              const tasks::KernelFile kernel = load_kernel_file(task, file);
              request.text = kernel.text;
              request.file_name = kernel.file;
              request.choices = variants_of(kernel);
              compile_ahead(host, request, [&stop] { return stop.stop_requested(); });
              if (stop.stop_requested()) {
                return;
              }
            }
          } catch (const Error&) {
            return; // Selftest::honest() loads the same file, and reports the mistake
          }
        }) {}

private:
  std::jthread thread_;
};

namespace {

// Kernel files in one folder of the task, with every choice of parameters.
class Kernels {
public:
  Kernels(const tasks::Task& task, const std::vector<fs::path>& paths) {
    for (const fs::path& path : paths) {
      files_.push_back(load_kernel_file(task, path)); // a deque, so the others stay where they are
      const std::string name = path.lexically_relative(task.folder).string();
      for (tasks::ParameterChoice& choice : variants_of(files_.back())) {
        all_.push_back({&files_.back(), std::move(choice), name});
      }
    }
  }

  [[nodiscard]] const std::vector<KernelTrial::Kernel>& all() const { return all_; }

private:
  std::deque<tasks::KernelFile> files_;
  std::vector<KernelTrial::Kernel> all_;
};

} // namespace

Selftest::Selftest(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                   SelftestOptions options)
    : options_(std::move(options)),
      on_device_(std::make_unique<TaskOnDevice>(task, std::move(host), options_.evaluation)) {
  const DeviceReport& device = on_device_->host->device;
  require_memory(task, device.kind, device.facts, device.id);
  runner_ = std::make_unique<ReferenceRun>(*on_device_);
}

Selftest::~Selftest() = default;

void Selftest::tell(const std::string& part) const {
  if (options_.progress) {
    options_.progress(part);
  }
}

std::vector<MutantResult> Selftest::mutants() {
  using enum tasks::ShapeSet;
  ahead_ = std::make_unique<AheadCompiler>(*on_device_->host, on_device_->task,
                                           honest_files(on_device_->task));
  if (on_device_->task.torch) {
    ModuleResults found = try_module(*on_device_, *runner_, options_);
    module_ = std::move(found.honest);
    return std::move(found.mutants);
  }
  std::vector<MutantResult> results;
  for (const tasks::ShapeSet set : {Tiny, Search, Promotion, HeldOut}) {
    tell(fmt::format("mutants, {} shapes", to_string(set)));
    for (MutantResult& result : try_on_set(*on_device_, *runner_, options_, set)) {
      results.push_back(std::move(result));
    }
    for (const tasks::Shape& shape :
         on_device_->task.shapes_of(set, on_device_->host->device.kind)) {
      for (MutantResult& result : try_on_shape(*on_device_, *runner_, options_, set, shape)) {
        results.push_back(std::move(result));
      }
    }
  }
  return results;
}

std::vector<KernelResult> Selftest::honest() {
  const Kernels kernels(on_device_->task, honest_files(on_device_->task));
  KernelTrial trial(*on_device_, *runner_, options_);
  std::vector<KernelResult> results{
      on_device_->task.torch
          ? module_ ? *module_ : try_module(*on_device_, *runner_, options_).honest
          : trial.reference()};
  tell("honest kernels");
  std::vector<KernelResult> judged = trial.judge(kernels.all());
  std::set<std::string> timed; // files
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const KernelTrial::Kernel& kernel = kernels.all()[i];
    if (judged[i].state == KernelResult::State::Accepted && timed.insert(kernel.name).second) {
      tell("honest kernels, " + kernel.name + " is timed");
      trial.time(*kernel.file, kernel.choice, judged[i]);
    }
  }
  std::move(judged.begin(), judged.end(), std::back_inserter(results));
  return results;
}

std::vector<NarrowResult> Selftest::narrowed() {
  if (tasks::narrowings_of(on_device_->task).empty()) {
    return {};
  }
  tell("narrowed intermediates");
  return try_narrowings(*on_device_, *runner_, options_);
}

std::vector<KernelResult> Selftest::wrong() {
  const Kernels kernels(on_device_->task, wrong_files(on_device_->task));
  KernelTrial trial(*on_device_, *runner_, options_);
  std::vector<KernelResult> results;
  for (const KernelTrial::Kernel& kernel : kernels.all()) {
    tell("wrong kernels, " + kernel.name);
    results.push_back(trial.judge_as_candidate(kernel));
    require_judged(results.back());
  }
  return results;
}

std::vector<std::string> Selftest::doubts() {
  std::vector<std::string> doubts =
      tasks::doubts_of(on_device_->task, on_device_->host->device.kind);
  if (on_device_->task.torch) {
    return doubts;
  }
  tell("operations of reference.cu");
  if (std::string doubt = doubt_about_operations(*on_device_, *runner_, options_); !doubt.empty()) {
    doubts.push_back(std::move(doubt));
  }
  return doubts;
}

ReferenceAnswer Selftest::reference(const tasks::Shape& shape, std::uint64_t seed) {
  return runner_->answer({shape, tasks::draw_inputs(on_device_->task, shape, seed)});
}

JudgeReply Selftest::judge(const tasks::Shape& shape, std::uint64_t seed,
                           const tasks::HostTensors& outputs) {
  return runner_->judge(shape, seed, poison_salt(seed), outputs);
}

const std::vector<std::string>& wrong_kernel_kinds() {
  static const std::vector<std::string> kinds{"fixed_shift", "one_pass", "early_stop",
                                              "fixed_capacity", "narrow"};
  return kinds;
}

std::string wrong_kernel_kind(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  const auto& kinds = wrong_kernel_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const std::string& known) {
    return name.starts_with(known + "_") || name == known + ".cu";
  });
  return kind == kinds.end() ? "" : *kind;
}

std::vector<fs::path> honest_files(const tasks::Task& task) {
  std::vector<fs::path> files;
  if (!task.baseline.empty()) {
    files.push_back(task.folder / tasks::kBaselineFile);
  }
  if (tasks::baseline_file(task) == tasks::kCpuBaselineFile) {
    files.push_back(task.folder / tasks::kCpuBaselineFile);
  }
  const std::vector<fs::path> others = kernel_files(task.folder / kHonestFolder);
  files.insert(files.end(), others.begin(), others.end());
  return files;
}

} // namespace winnow::evaluators
