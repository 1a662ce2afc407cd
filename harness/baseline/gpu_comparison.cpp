#include "harness/baseline/gpu_comparison.h"

#include "base/error.h"
#include "base/text.h"
#include "base/text/number_text.h"
#include "harness/report/json_table.h"
#include "store/gpu_spread.h"
#include "tasks/task/baseline.h"
#include "tasks/task_word.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr int kMostRounds = 3; // for each repetition

void require_judged(const evaluators::EvaluationResult& result, const tasks::Task& task) {
  if (!result.fault.empty()) {
    throw Error(result.fault);
  }
  const tasks::Evaluation& evaluation = result.evaluations.front();
  if (evaluation.verdict != tasks::Verdict::Correct) {
    throw Error(fmt::format("the baseline of {} is '{}' on {}: {}", task.name,
                            to_string(evaluation.verdict), result.worker,
                            truncate_text(evaluation.detail, 400)),
                "run winnow tasks selftest " + tasks::task_word(task));
  }
  if (evaluation.device_uuid.empty()) {
    throw Error(fmt::format("the driver of {} does not tell the UUID of the GPU, so its times "
                            "cannot be told from those of another GPU",
                            result.worker),
                "update the driver");
  }
}

/// The baseline's time in an evaluation.
double baseline_ns(const tasks::Evaluation& evaluation) {
  std::vector<double> shapes;
  for (const tasks::CaseResult& result : evaluation.cases) {
    if (result.set == tasks::ShapeSet::Search && result.baseline_median_ns > 0) {
      shapes.push_back(result.baseline_median_ns);
    }
  }
  return tasks::geometric_mean(shapes);
}

json gpu_json(const tasks::Evaluation& evaluation, const std::vector<double>& times) {
  return {{"device_uuid", evaluation.device_uuid},
          {"driver", evaluation.driver},
          {"worker", evaluation.worker.empty() ? json(nullptr) : json(evaluation.worker)},
          {"evaluations", times.size()},
          {"median_ns", tasks::median(times)}};
}

/// Adds how much longer each GPU takes than the fastest, and sorts by time.
void put_order(json& gpus) {
  std::stable_sort(gpus.begin(), gpus.end(), [](const json& a, const json& b) {
    return number_at(a, "median_ns") < number_at(b, "median_ns");
  });
  for (json& gpu : gpus) {
    gpu["relative_time"] = number_at(gpu, "median_ns") / number_at(gpus.front(), "median_ns");
  }
}

} // namespace

std::string gpus_of_one_model(const std::vector<evaluators::DeviceReport>& devices) {
  const auto works = [](const evaluators::DeviceReport& device) {
    return device.kind != "cpu" && device.availability.ok;
  };
  const auto first = std::find_if(devices.begin(), devices.end(), works);
  std::vector<std::string> names;
  for (const evaluators::DeviceReport& device : devices) {
    if (works(device) && device.kind == first->kind && device.name == first->name) {
      names.push_back(device.id);
    }
  }
  return join(names, ",");
}

std::optional<std::vector<tasks::Evaluation>>
judge_on_each_gpu(evaluators::OneByOne& evaluations, const evaluators::EvaluationRequest& request,
                  std::size_t gpus, int repeats) {
  std::vector<tasks::Evaluation> judged;
  std::map<std::string, int> counts; // by UUID
  const auto is_enough = [&] {
    return counts.size() >= gpus && std::all_of(counts.begin(), counts.end(), [&](const auto& gpu) {
             return gpu.second >= repeats;
           });
  };
  for (int round = 0; round < kMostRounds * repeats && !is_enough(); ++round) {
    for (std::size_t i = 0; i < gpus; ++i) {
      evaluations.submit(request);
    }
    for (std::size_t i = 0; i < gpus; ++i) {
      std::optional<evaluators::EvaluationResult> result = evaluations.next();
      if (!result) {
        return std::nullopt;
      }
      require_judged(*result, *request.task);
      judged.push_back(std::move(result->evaluations.front()));
      ++counts[judged.back().device_uuid];
    }
  }
  return judged;
}

json gpu_comparison_json(const tasks::Task& task,
                         const std::vector<tasks::Evaluation>& evaluations) {
  std::map<std::string, std::vector<double>> times_by_gpu;
  std::map<std::string, const tasks::Evaluation*> example_of;
  std::vector<store::BaselineTime> times;
  for (const tasks::Evaluation& evaluation : evaluations) {
    times.push_back({evaluation.device_uuid, baseline_ns(evaluation)});
    times_by_gpu[evaluation.device_uuid].push_back(times.back().ns);
    example_of[evaluation.device_uuid] = &evaluation;
  }
  if (times_by_gpu.size() < 2) {
    throw Error("all evaluations were made on one GPU", "start the command again");
  }
  json gpus = json::array();
  for (const auto& [uuid, of_gpu] : times_by_gpu) {
    gpus.push_back(gpu_json(*example_of.at(uuid), of_gpu));
  }
  put_order(gpus);
  store::GpuSpread spread = store::spread_of(times);
  spread.time_versus = tasks::speedup_versus(task);
  const tasks::Evaluation& first = evaluations.front();
  return {{"schema", "winnow.gpu_comparison"},
          {"version", 1},
          {"task", task.name},
          {"task_digest", task.digest},
          {"device", first.device},
          {"device_name", first.device_name},
          {"evaluator_version", first.evaluator_version},
          {"time_versus", spread.time_versus},
          {"gpus", gpus},
          {"between", spread.between},
          {"within", spread.evaluations > spread.gpus ? json(spread.within) : json(nullptr)},
          {"note", to_string(spread)}};
}

std::string gpu_comparison_text(const json& document) {
  const auto microseconds = [](const json& ns) { return number_text(ns.get<double>() / 1000); };
  const auto slower = [](const json& ratio) {
    return fmt::format("{:+.2f} %", 100 * (ratio.get<double>() - 1));
  };
  TextTable table =
      json_table(document.at("gpus"), {{{"GPU"}, "device_uuid"},
                                       {{"worker"}, "worker"},
                                       {{"driver"}, "driver"},
                                       {{"median us", true}, "median_ns", microseconds},
                                       {{"against the fastest", true}, "relative_time", slower},
                                       {{"evaluations", true}, "evaluations"}});
  remove_empty_columns(table);
  return fmt::format("{} on {} ({})\n", text_at(document, "task"), text_at(document, "device"),
                     text_at(document, "device_name")) +
         to_aligned_text(table, 2) + wrap_line(text_at(document, "note"), table_columns(), 0) +
         "\n";
}

} // namespace winnow::harness
