// The timing stage of EvaluationRun: times the candidate beside the task's baseline.
#include "base/error.h"
#include "evaluators/ceilings/measure_ceilings.h"
#include "evaluators/evaluation/evaluation_run.h"
#include "evaluators/evaluation/library_timing.h"
#include "evaluators/evaluation/reference_check.h"
#include "evaluators/timing/hidden_speed.h"
#include "evaluators/torch/torch_question.h"
#include "tasks/result/least_hidden.h"

#include <algorithm>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr int kQuickDivisor = 4;
// A GPU moves 16 MiB in a few microseconds. The addresses of the tensors change such a short time
// by 1 %, so the timing uses several places.
constexpr double kFewBytes = 16 << 20U;
constexpr int kPlaces = 9;
constexpr std::uint64_t kMostAreas = 12;
// Samples of a task whose reference computes inputs anew for each launch.
constexpr int kMostComputed = 20;
constexpr double kFewJudged = 2;
// Of the incumbent: about two in an evaluation that wins, one at each of the usual two search
// shapes.
constexpr double kIncumbentJudged = 1, kIncumbentJudgedAtHidden = 0.25;

double bytes_of_tensors(const tasks::Task& task, const tasks::Shape& shape) {
  double bytes = 0;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    bytes += tasks::tensor_bytes(tensor, shape);
  }
  return bytes;
}

bool were_requested(const RunCase& run_case, const std::vector<TimedOutput>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [&run_case](const TimedOutput& output) {
    return output.launch >= 0 && output.area >= 0 && output.area < run_case.sampling->areas &&
           output.contestant <= run_case.sampling->rivals.size();
  });
}

/// Adds a question about each of the outputs.
void add_requests(const TaskOnDevice& on_device, const RunCase& run_case,
                  const PlannedCase& planned, const std::vector<TimedOutput>& timed,
                  std::vector<JudgeRequest>& requests) {
  const std::size_t first = requests.size();
  for (const TimedOutput& output : timed) {
    std::vector<ArenaSlice> outputs = run_case.outputs;
    for (ArenaSlice& slice : outputs) {
      slice.offset += static_cast<std::uint64_t>(output.area) * run_case.sampling->area_bytes;
    }
    const InputSeeds seeds{launch_seed(run_case.seed, output.contestant, output.launch),
                           run_case.seed};
    if (requests.size() == first || on_device.task.torch) {
      requests.push_back(judge_request(on_device, planned.shape, seeds, output.salt,
                                       std::move(outputs), output.draw));
    } else {
      requests.push_back(JudgeRequest(requests[first]));
      ask_about_launch(requests.back(), on_device, planned.shape, seeds, output.salt,
                       std::move(outputs), output.draw);
    }
  }
}

} // namespace

int places_of(const TaskOnDevice& on_device, const tasks::Shape& shape) {
  const bool varied = on_device.host->worker_device.is_gpu() &&
                      bytes_of_tensors(on_device.task, shape) <= kFewBytes;
  return varied ? kPlaces : 1;
}

int areas_of(const TaskOnDevice& on_device, const tasks::Shape& shape, std::size_t shapes) {
  std::uint64_t bytes = 0;
  output_slices(on_device.task, shape, bytes, OutputPart::DrawnPieces);
  const std::uint64_t inputs = bytes_of_computed_inputs(on_device.task);
  const std::uint64_t room = on_device.host->arena.size_bytes();
  const std::uint64_t share = (room - std::min(room, inputs)) / shapes;
  return static_cast<int>(std::clamp<std::uint64_t>(share / bytes, 1, kMostAreas));
}

int most_samples(const tasks::Task& task, int wanted) {
  const bool computes_anew =
      std::any_of(task.tensors.begin(), task.tensors.end(), [](const tasks::TensorSpec& tensor) {
        return is_computed(tensor) && !tensor.is_static;
      });
  return computes_anew ? std::min(wanted, kMostComputed) : wanted;
}

std::chrono::milliseconds longest_timing(const std::vector<RunCase>& cases) {
  constexpr int kBudgets = 4;
  std::chrono::milliseconds sum{0};
  for (const RunCase& run_case : cases) {
    sum += kBudgets * run_case.sampling->budget *
           static_cast<int>(1 + run_case.sampling->rivals.size());
  }
  return sum;
}

std::vector<std::vector<CaseResult>>
judge_timed_outputs(TaskOnDevice& on_device, const std::vector<RunCase>& run_cases,
                    const std::vector<PlannedCase>& cases,
                    const std::vector<RunCaseReport>& reports) {
  std::vector<JudgeRequest> requests;
  for (const RunCaseReport& report : reports) {
    const RunCase& run_case = run_cases.at(report.index);
    if (were_requested(run_case, report.timed_outputs)) {
      add_requests(on_device, run_case, cases.at(report.index), report.timed_outputs, requests);
    }
  }
  const std::vector<JudgeReply> replies = on_device.ask(requests);
  auto reply = replies.begin();
  JudgeReply unasked; // its verdict is `infrastructure`
  unasked.detail = "the worker reports outputs of a launch that was not requested";
  std::vector<std::vector<CaseResult>> results;
  for (const RunCaseReport& report : reports) {
    const bool asked = were_requested(run_cases.at(report.index), report.timed_outputs);
    std::vector<CaseResult>& of_report = results.emplace_back();
    for (std::size_t i = 0; i < report.timed_outputs.size(); ++i) {
      of_report.push_back(
          judged_case(Stage::Time, cases.at(report.index), asked ? *reply++ : unasked));
    }
  }
  return results;
}

bool EvaluationRun::time() {
  if (!on_device_.options.timing) {
    return true;
  }
  result_.stage = Stage::Time;
  const std::vector<tasks::Shape> shapes =
      on_device_.task.shapes_of(ShapeSet::Search, result_.device);
  const auto rivals = on_device_.rivals_for(shapes, depth_ == Depth::Full);
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, 1, built_, cases)) {
    return false;
  }
  const std::size_t first_case = result_.cases.size();
  if (!take_turns(Stage::Time, cases, built_, rivals)) {
    return false;
  }
  if (depth_ == Depth::Full) {
    add_libraries(cases, first_case);
  }
  score();
  return result_.verdict != Verdict::Implausible;
}

SamplingRequest EvaluationRun::sampling_request() const {
  SamplingRequest sampling;
  sampling.budget = time_budget(on_device_.options, result_.device);
  sampling.stop_when_lost = on_device_.options.stop_when_lost;
  sampling.warm = on_device_.options.warm;
  sampling.max_samples = most_samples(on_device_.task, on_device_.options.max_samples);
  sampling.incumbent_judged = kIncumbentJudged;
  if (result_.stage == Stage::Promotion || result_.stage == Stage::HeldOut) {
    sampling.incumbent_judged = kIncumbentJudgedAtHidden;
    sampling.least_baseline_ns = tasks::least_hidden_ns(result_.device);
    // One pair of launches must not decide on a busy CPU. So min_samples may take as long as in
    // other stages.
    sampling.overdraft *= kQuickDivisor;
  }
  // A margin of 10 % needs less sampling.
  if (depth_ == Depth::Quick || result_.stage == Stage::Promotion) {
    sampling.budget /= kQuickDivisor;
    sampling.min_samples = 4;
    sampling.judged = kFewJudged;
    sampling.warm = false;
  }
  return sampling;
}

std::vector<RunCase> EvaluationRun::timed_run_cases(const std::vector<PlannedCase>& cases,
                                                    const std::vector<const BuiltKernel*>& rivals) {
  std::vector<SamplingRequest> sampling;
  for (const PlannedCase& planned : cases) {
    SamplingRequest& of_shape = sampling.emplace_back(sampling_request());
    of_shape.has_baseline = on_device_.has_baseline();
    for (const BuiltKernel* rival : rivals) {
      of_shape.rivals.push_back(on_device_.own_plan(*rival, planned.shape));
    }
    of_shape.places = result_.stage == Stage::Promotion ? 1 : places_of(on_device_, planned.shape);
    of_shape.areas = areas_of(on_device_, planned.shape, cases.size());
  }
  return run_cases_of(on_device_, cases, std::move(sampling));
}

void EvaluationRun::add_libraries(const std::vector<PlannedCase>& cases, std::size_t first_case) {
  std::size_t timed = first_case;
  for (const PlannedCase& planned : cases) {
    if (!on_device_.cancelled) {
      result_.cases[timed++].libraries =
          library_timings(on_device_, planned.shape, planned.seed, sampling_request());
    }
  }
}

void EvaluationRun::score() {
  const std::string implausible = score_times(
      result_, on_device_.task, on_device_.host->device.facts, cached_ceilings(*on_device_.host),
      on_device_.incumbent ? on_device_.incumbent->name : std::string());
  if (!implausible.empty()) {
    fail(Verdict::Implausible, implausible);
  }
}

} // namespace winnow::evaluators
