#include "harness/baseline/torch_baseline.h"

#include "base/files.h"
#include "base/random_bits.h"
#include "base/text/number_text.h"
#include "evaluators/evaluation/module_alternatives.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/host/device_host.h"
#include "evaluators/host/devices.h"
#include "harness/baseline/torch_process.h"
#include "harness/report/json_table.h"
#include "store/fields.h"
#include "tasks/result/evaluation.h"

#include <algorithm>
#include <map>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::uint64_t kMaxTensorBytes = std::uint64_t{8} << 30U;
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

/// The objects that stay open while one task with a reference.cu is measured.
class Measurement {
public:
  Measurement(const tasks::Task& task, const TorchBaselineOptions& options,
              const evaluators::DeviceReport& device)
      : task_(task), options_(options), device_(device), directory_("baseline"),
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

/// Of a task whose reference is the module itself.
TorchBaseline measure_module(const tasks::Task& task, const TorchBaselineOptions& options,
                             const evaluators::DeviceReport& device) {
  const auto host = evaluators::open_device(device, options.evaluation, options.timeout);
  host->torch.set_python(options.python);
  evaluators::ModuleAlternatives alternatives(task, host, options.evaluation);
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

} // namespace

TorchBaseline measure_torch(const tasks::Task& task, const TorchBaselineOptions& options) {
  const evaluators::DeviceReport device = evaluators::select_device(options.evaluation.device);
  return task.torch ? measure_module(task, options, device)
                    : Measurement(task, options, device).run();
}

bool agrees(const TorchBaseline& baseline) {
  return std::none_of(baseline.timings.begin(), baseline.timings.end(),
                      [](const store::BaselineTiming& timing) {
                        return timing.agrees == false &&
                               (timing.name == kTorchEager || timing.name == kTorchCompiled);
                      });
}

using nlohmann::json;

json torch_json(const tasks::Task& task, const TorchBaseline& baseline) {
  return {{"schema", "winnow.baselines"},
          {"version", 1},
          {"task", task.name},
          {"task_digest", task.digest},
          {"torch", baseline.version},
          {"device", baseline.device.kind},
          {"device_name", baseline.device.name},
          {"no_compile", baseline.no_compile.empty() ? json(nullptr) : json(baseline.no_compile)},
          {"no_alternative",
           baseline.no_alternative.empty() ? json(nullptr) : json(baseline.no_alternative)},
          {"baselines", store::records_json(baseline.timings,
                                            {"task device device_name recorded_at", "error"})}};
}

std::string torch_text(const json& document) {
  const auto microseconds = [](const json& ns) {
    return ns.is_null() ? "" : number_text(ns.get<double>() / 1000);
  };
  const auto count = [](const json& times) {
    return times.empty() ? "" : std::to_string(times.size());
  };
  const auto ratio = [](const json& error) {
    return error.is_null() ? "" : fmt::format("{:.3g}", error.get<double>());
  };
  const auto agreement = [](const json& agrees) {
    return agrees.is_null() ? "no answer" : agrees == true ? "yes" : "no";
  };
  const json& timings = document.at("baselines");
  std::string notes;
  for (const json& timing : timings) {
    if (const std::string error = text_at(timing, "error"); !error.empty()) {
      notes +=
          fmt::format("{}, {} ({}): {}\n", text_at(timing, "name"), text_at(timing, "shape_id"),
                      text_at(timing, "shape"), error.substr(0, error.find('\n')));
    }
  }
  if (const std::string why = text_at(document, "no_compile"); !why.empty()) {
    notes += "torch.compile: " + why + "\n";
  }
  if (const std::string why = text_at(document, "no_alternative"); !why.empty()) {
    notes += "no alternatives to reference.py: " + why + "\n";
  }
  const TextTable table =
      json_table(timings, {{{"baseline"}, "name"},
                           {{"shape"}, "shape_id"},
                           {{"sizes"}, "shape"},
                           {{"median us", true}, "median_ns", microseconds},
                           {{"samples", true}, "times_ns", count},
                           {{"error/limit", true}, "max_error_ratio", ratio},
                           {{"agrees with reference.cu"}, "agrees", agreement}});
  return to_aligned_text(table, 0) + (notes.empty() ? "" : "\n" + notes) +
         fmt::format("torch {} on {} ({})\n", text_at(document, "torch"),
                     text_at(document, "device"), text_at(document, "device_name"));
}

} // namespace winnow::harness
