#include "harness/baseline/torch_baseline.h"

#include "base/error.h"
#include "base/files.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/module_alternatives.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "evaluators/host/open_device.h"
#include "evaluators/torch/torch_child.h"
#include "harness/baseline/torch_process.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <span>
#include <thread>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{8} << 30U;
constexpr unsigned kCoresOfACompiler = 2;   // torch.compile has processes of its own
constexpr unsigned kMostCompilers = 8;      // their inputs share the GPU's memory
constexpr std::size_t kCompiledAtOnce = 16; // then these are timed
constexpr const char* kLeftOut = "left out by --eager";

store::BaselineTiming timing_at(const tasks::Task& task, const evaluators::DeviceReport& device,
                                const tasks::Shape& shape, std::string version,
                                std::string_view name) {
  store::BaselineTiming timing;
  timing.task = task.name;
  timing.name = name;
  timing.version = std::move(version);
  timing.device = device.kind;
  timing.device_name = device.name;
  timing.shape_id = shape.id;
  timing.shape = to_string(shape);
  return timing;
}

void set_times(store::BaselineTiming& timing, std::vector<double> times_ns) {
  timing.median_ns = tasks::median(times_ns);
  timing.times_ns = std::move(times_ns);
}

void set_verdict(store::BaselineTiming& timing, const evaluators::JudgeReply& reply) {
  if (reply.verdict == tasks::Verdict::Infrastructure) {
    timing.error = "not compared: " + reply.detail;
    return;
  }
  timing.agrees = reply.verdict == tasks::Verdict::Correct;
  timing.max_error_ratio = reply.ratios.larger();
  timing.error = reply.mismatch ? evaluators::mismatch_text(*reply.mismatch) : reply.detail;
}

fs::path compiled_folder_of(const tasks::Task& task, const TorchBaselineOptions& options) {
  const fs::path& cache = options.evaluation.cache;
  return evaluators::compiled_folder(cache.empty() ? cache_directory() : cache, task.digest);
}

/// The objects that stay open while one task with a reference.cu is measured.
class Measurement {
public:
  Measurement(const tasks::Task& task, const TorchBaselineOptions& options,
              const evaluators::DeviceReport& device)
      : task_(task), options_(options), device_(device),
        directory_("baseline", compiled_folder_of(task, options)),
        process_(task, directory_.path(), process_options()) {
    process_.start(); // first, because PyTorch may be missing and the next steps are expensive
  }

  TorchBaseline run() {
    evaluators::ReferenceCheck check(
        task_,
        evaluators::open_device(device_, options_.evaluation, options_.evaluation.run_timeout),
        options_.evaluation);
    TorchBaseline result{device_, process_.version(), process_.no_compile(), {}, {}};
    if (!options_.compile) {
      result.no_compile = kLeftOut;
    }
    for (const tasks::Shape& shape : evaluators::shown_shapes(task_, device_.kind)) {
      options_.progress(shape);
      const bool is_timed = shape.set == tasks::ShapeSet::Search;
      process_.write_inputs(shape, seed_, is_timed);
      const std::size_t first = result.timings.size();
      for (const std::string& name : names_at(shape, result)) {
        result.timings.push_back(measure(check, shape, name));
      }
      if (is_timed) {
        time(std::span(result.timings).subspan(first));
      }
    }
    return result;
  }

  /// Runs all that run() will time, so that torch.compile has what it needs in the folder.
  void compile() {
    TorchBaseline ignored{device_, process_.version(), process_.no_compile(), {}, {}};
    for (const tasks::Shape& shape : task_.shapes_of(tasks::ShapeSet::Search, device_.kind)) {
      process_.write_inputs(shape, seed_);
      for (const std::string& name : names_at(shape, ignored)) {
        process_.run(name);
      }
    }
  }

private:
  TorchProcessOptions process_options() const {
    TorchProcessOptions process;
    process.python = options_.python;
    process.device = device_;
    process.isolation = options_.evaluation.require_isolation;
    process.timeout = options_.timeout;
    process.budget = evaluators::time_budget(options_.evaluation, device_.kind);
    return process;
  }

  /// What runs at the shape. An error of expert.py becomes a row of its own. Tiny shapes show
  /// whether reference.py computes what reference.cu does, so there nothing is compiled or tuned.
  std::vector<std::string> names_at(const tasks::Shape& shape, TorchBaseline& result) {
    std::vector<std::string> names{std::string(kTorchEager)};
    if (!options_.compile || shape.set == tasks::ShapeSet::Tiny) {
      return names;
    }
    if (result.no_compile.empty()) {
      names.emplace_back(kTorchCompiled);
      if (device_.kind != "cpu") { // where tuning takes minutes and gains little
        names.emplace_back(kTorchTuned);
      }
    }
    const TorchAlternatives found = process_.alternatives();
    names.insert(names.end(), found.names.begin(), found.names.end());
    result.no_alternative = found.none;
    if (!found.error.empty()) {
      result.timings.push_back(timing_of(shape, "expert.py"));
      result.timings.back().error = found.error;
    }
    return names;
  }

  store::BaselineTiming timing_of(const tasks::Shape& shape, std::string_view name) const {
    return timing_at(task_, device_, shape, process_.version(), name);
  }

  store::BaselineTiming measure(evaluators::ReferenceCheck& check, const tasks::Shape& shape,
                                std::string_view name) {
    store::BaselineTiming timing = timing_of(shape, name);
    timing.error = process_.run(name).error;
    if (timing.error.empty()) {
      compare(check, shape, timing);
    }
    return timing;
  }

  /// Times those of one shape that have an answer.
  void time(std::span<store::BaselineTiming> timings) {
    std::vector<store::BaselineTiming*> answered;
    std::vector<std::string> names;
    for (store::BaselineTiming& timing : timings) {
      if (timing.agrees) {
        answered.push_back(&timing);
        names.push_back(timing.name);
      }
    }
    if (names.empty()) {
      return;
    }
    std::vector<TorchAnswer> answers = process_.time(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (answers[i].times_ns.empty()) {
        answered[i]->error = answers[i].error;
        continue;
      }
      set_times(*answered[i], std::move(answers[i].times_ns));
    }
  }

  void compare(evaluators::ReferenceCheck& check, const tasks::Shape& shape,
               store::BaselineTiming& timing) {
    std::vector<std::string> contents;
    for (const tasks::TensorSpec& tensor : task_.tensors) {
      if (tensor.role != tasks::Role::Input) {
        contents.push_back(read_file(process_.output_file(contents.size()), kMaxTensorBytes));
      }
    }
    std::map<std::string, std::span<const std::byte>> outputs;
    for (const tasks::TensorSpec& tensor : task_.tensors) {
      if (tensor.role != tasks::Role::Input) {
        outputs[tensor.name] = std::as_bytes(std::span(contents[outputs.size()]));
      }
    }
    set_verdict(timing, check.compare(shape, seed_, outputs));
  }

  const tasks::Task& task_;
  const TorchBaselineOptions& options_;
  evaluators::DeviceReport device_;
  const std::uint64_t seed_ = random_bits(); ///< seed of all inputs
  TemporaryDirectory directory_;
  TorchProcess process_;
};

/// As kTorchEager and the others say it.
std::string name_of(const std::string& alternative) {
  return (alternative.starts_with("compile") ? "torch." : "torch ") + alternative;
}

/// Of a task whose reference is the module itself. `host` runs no other task.
evaluators::ModuleAlternatives alternatives_of(const tasks::Task& task,
                                               const std::shared_ptr<evaluators::DeviceHost>& host,
                                               const TorchBaselineOptions& options) {
  host->torch.set_python(options.python);
  host->torch.set_scratch(compiled_folder_of(task, options));
  return {task, host, options.evaluation, options.timeout};
}

TorchBaseline measure_module(const tasks::Task& task, const TorchBaselineOptions& options,
                             const evaluators::DeviceReport& device) {
  const auto host = evaluators::open_device(device, options.evaluation, options.timeout);
  evaluators::ModuleAlternatives alternatives = alternatives_of(task, host, options);
  TorchBaseline result{device, "", "", {}, ""};
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device.kind)) {
    options.progress(shape);
    for (evaluators::ModuleAlternative& one :
         alternatives.at(shape, random_bits(), options.compile)) {
      store::BaselineTiming& timing = result.timings.emplace_back(
          timing_at(task, device, shape, host->torch.version(), name_of(one.name)));
      if (!one.times_ns.empty()) {
        set_times(timing, std::move(one.times_ns));
      }
      if (one.judged) {
        set_verdict(timing, *one.judged);
      }
      timing.error = one.error.empty() ? timing.error : one.error;
    }
  }
  result.version = host->torch.version();
  result.no_compile = options.compile ? host->torch.no_compile() : kLeftOut;
  return result;
}

void compile(const tasks::Task& task, const TorchBaselineOptions& options,
             const evaluators::DeviceHost& open) {
  if (!task.torch) {
    Measurement(task, options, open.device).compile();
    return;
  }
  const auto host = evaluators::open_beside(open, options.evaluation, options.timeout);
  evaluators::ModuleAlternatives alternatives = alternatives_of(task, host, options);
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, open.device.kind)) {
    alternatives.compile(shape, random_bits());
  }
}

/// An error of one task is left to measure_torch().
void compile_all(std::span<const tasks::Task> tasks, const TorchBaselineOptions& options) {
  const auto open = evaluators::open_device(evaluators::select_device(options.evaluation.device),
                                            options.evaluation, options.timeout);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      try {
        compile(tasks[i], options, *open);
      } catch (const std::exception&) { // measure_torch() will throw it again
      }
    }
  };
  std::vector<std::jthread> threads;
  const unsigned most = std::max(std::thread::hardware_concurrency() / kCoresOfACompiler, 1U);
  for (std::size_t i = 0; i < std::min<std::size_t>({most, kMostCompilers, tasks.size()}); ++i) {
    threads.emplace_back(work);
  }
}

} // namespace

TorchBaseline measure_torch(const tasks::Task& task, const TorchBaselineOptions& options) {
  const evaluators::DeviceReport device = evaluators::select_device(options.evaluation.device);
  return task.torch ? measure_module(task, options, device)
                    : Measurement(task, options, device).run();
}

bool for_each_torch_baseline(
    const std::vector<tasks::Task>& tasks, const TorchBaselineOptions& options,
    const std::function<void(const tasks::Task&, const TorchBaseline&)>& done) {
  bool all_are_done = true;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (options.compile && tasks.size() > 1 && i % kCompiledAtOnce == 0) {
      const std::size_t count = std::min(kCompiledAtOnce, tasks.size() - i);
      std::cerr << "torch.compile works for " << count << " tasks\n";
      compile_all(std::span(tasks).subspan(i, count), options);
    }
    const tasks::Task& task = tasks[i];
    try {
      std::cerr << task.name << ": the alternatives of PyTorch are timed\n";
      done(task, measure_torch(task, options));
    } catch (const DeviceUnavailable&) {
      throw;
    } catch (const Error& error) {
      std::cerr << task.name << ": they have no times: " << error.what() << '\n';
      all_are_done = false;
    }
  }
  return all_are_done;
}

bool agrees(const TorchBaseline& baseline) {
  return std::none_of(baseline.timings.begin(), baseline.timings.end(),
                      [](const store::BaselineTiming& timing) {
                        return timing.agrees == false &&
                               (timing.name == kTorchEager || timing.name == kTorchCompiled);
                      });
}

} // namespace winnow::harness
