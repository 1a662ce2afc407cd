#include "harness/baseline/torch_measurement.h"

#include "base/error.h"
#include "base/files.h"
#include "base/random_bits.h"
#include "evaluators/evaluation/module_alternatives.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/open_device.h"
#include "evaluators/torch/torch_child.h"
#include "harness/baseline/torch_process.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <map>
#include <span>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{8} << 30U;
constexpr const char* kLeftOut = "left out by --eager";
constexpr const char* kExpertRow = "expert.py"; // the name of the row with an error of the file

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

/// Of a task with a reference.cu.
class ReferenceMeasurement : public TorchMeasurement {
public:
  ReferenceMeasurement(const tasks::Task& task, const TorchBaselineOptions& options,
                       const evaluators::DeviceHost& open)
      : task_(task), options_(options), device_(open.device),
        directory_("baseline", compiled_folder_of(task, options)),
        process_(task, directory_.path(), process_options()) {
    process_.start(); // first, because PyTorch may be missing and the next steps are expensive
    check_.emplace(
        task_, evaluators::open_beside(open, options_.evaluation, options_.evaluation.run_timeout),
        options_.evaluation);
  }

  void answer() override {
    result_ = {device_, process_.version(), process_.no_compile(), {}, {}};
    if (!options_.compile) {
      result_.no_compile = kLeftOut;
    }
    for (const tasks::Shape& shape : evaluators::shown_shapes(task_, device_.kind)) {
      process_.write_inputs(shape, seed_);
      for (const std::string& name : names_at(shape)) {
        compare(shape, result_.timings.emplace_back(timing_of(shape, name)));
      }
    }
  }

  void answer_missing() override {
    for (const tasks::Shape& shape : latest_first()) {
      bool is_written = false;
      for (store::BaselineTiming* timing : ways_at(shape, false)) {
        if (!is_written) {
          process_.write_inputs(shape, seed_);
          is_written = true;
        }
        compare(shape, *timing);
      }
    }
  }

  TorchBaseline time() override {
    for (const tasks::Shape& shape : latest_first()) {
      options_.progress(shape);
      process_.write_inputs(shape, seed_, true);
      time(ways_at(shape, true));
    }
    return result_;
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
  std::vector<std::string> names_at(const tasks::Shape& shape) {
    std::vector<std::string> names{std::string(kTorchEager)};
    if (!options_.compile || shape.set == tasks::ShapeSet::Tiny) {
      return names;
    }
    if (result_.no_compile.empty()) {
      names.emplace_back(kTorchCompiled);
      if (device_.kind != "cpu") { // where tuning takes minutes and gains little
        names.emplace_back(kTorchTuned);
      }
    }
    const TorchAlternatives found = process_.alternatives();
    names.insert(names.end(), found.names.begin(), found.names.end());
    result_.no_alternative = found.none;
    if (!found.error.empty()) {
      result_.timings.push_back(timing_of(shape, kExpertRow));
      result_.timings.back().error = found.error;
    }
    return names;
  }

  /// The shapes that are timed. The child keeps what it has made for the last shape of answer().
  std::vector<tasks::Shape> latest_first() const {
    std::vector<tasks::Shape> shapes = task_.shapes_of(tasks::ShapeSet::Search, device_.kind);
    std::reverse(shapes.begin(), shapes.end());
    return shapes;
  }

  /// What has an answer at the shape, or has none.
  std::vector<store::BaselineTiming*> ways_at(const tasks::Shape& shape, bool is_answered) {
    std::vector<store::BaselineTiming*> ways;
    for (store::BaselineTiming& timing : result_.timings) {
      if (timing.shape_id == shape.id && timing.name != kExpertRow &&
          timing.agrees.has_value() == is_answered) {
        ways.push_back(&timing);
      }
    }
    return ways;
  }

  store::BaselineTiming timing_of(const tasks::Shape& shape, std::string_view name) const {
    return timing_at(task_, device_, shape, process_.version(), name);
  }

  /// Runs the timing's way and compares its answer.
  void compare(const tasks::Shape& shape, store::BaselineTiming& timing) {
    timing.error = process_.run(timing.name).error;
    if (!timing.error.empty()) {
      return;
    }
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
    set_verdict(timing, check_->compare(shape, seed_, outputs));
  }

  void time(const std::vector<store::BaselineTiming*>& answered) {
    std::vector<std::string> names;
    for (const store::BaselineTiming* timing : answered) {
      names.push_back(timing->name);
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

  const tasks::Task& task_;
  const TorchBaselineOptions& options_;
  evaluators::DeviceReport device_;
  const std::uint64_t seed_ = random_bits(); ///< seed of all inputs
  TemporaryDirectory directory_;
  TorchProcess process_;
  std::optional<evaluators::ReferenceCheck> check_;
  TorchBaseline result_;
};

/// Of a task whose reference is the module itself.
class ModuleMeasurement : public TorchMeasurement {
public:
  ModuleMeasurement(const tasks::Task& task, const TorchBaselineOptions& options,
                    const evaluators::DeviceHost& open)
      : task_(task), options_(options),
        host_(evaluators::open_beside(open, options.evaluation, options.timeout)) {
    host_->torch.set_python(options.python);
    host_->torch.set_scratch(compiled_folder_of(task, options)); // it runs no other task
    alternatives_.emplace(task, host_, options.evaluation, options.timeout);
    for (tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, open.device.kind)) {
      at_.push_back({std::move(shape), random_bits(), {}});
    }
  }

  void answer() override {
    for (AtShape& at : at_) {
      at.found = alternatives_->answers(at.shape, at.seed, options_.compile);
    }
  }

  void answer_missing() override {
    for (AtShape& at : at_) {
      alternatives_->answer_missing(at.shape, at.seed, at.found);
    }
  }

  TorchBaseline time() override {
    TorchBaseline result{host_->device, "", "", {}, ""};
    for (AtShape& at : at_) {
      options_.progress(at.shape);
      alternatives_->time(at.shape, at.seed, at.found);
      for (evaluators::ModuleAlternative& one : at.found) {
        store::BaselineTiming& timing = result.timings.emplace_back(
            timing_at(task_, host_->device, at.shape, host_->torch.version(), name_of(one.name)));
        if (!one.times_ns.empty()) {
          set_times(timing, std::move(one.times_ns));
        }
        if (one.judged) {
          set_verdict(timing, *one.judged);
        }
        timing.error = one.error.empty() ? timing.error : one.error;
      }
    }
    result.version = host_->torch.version();
    result.no_compile = options_.compile ? host_->torch.no_compile() : kLeftOut;
    return result;
  }

private:
  struct AtShape {
    tasks::Shape shape;
    std::uint64_t seed = 0;
    std::vector<evaluators::ModuleAlternative> found;
  };

  /// As kTorchEager and the others say it.
  static std::string name_of(const std::string& alternative) {
    return (alternative.starts_with("compile") ? "torch." : "torch ") + alternative;
  }

  const tasks::Task& task_;
  const TorchBaselineOptions& options_;
  std::shared_ptr<evaluators::DeviceHost> host_;
  std::optional<evaluators::ModuleAlternatives> alternatives_;
  std::vector<AtShape> at_;
};

} // namespace

std::unique_ptr<TorchMeasurement> open_measurement(const tasks::Task& task,
                                                   const TorchBaselineOptions& options,
                                                   const evaluators::DeviceHost& open) {
  if (task.torch) {
    return std::make_unique<ModuleMeasurement>(task, options, open);
  }
  return std::make_unique<ReferenceMeasurement>(task, options, open);
}

} // namespace winnow::harness
