#include "evaluators/selftest/narrow_trial.h"

#include "base/parallel.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// As for the other mutants that a shape must reject alone: the error of one output is random.
constexpr int kMostNarrowInputs = 5;

std::vector<tasks::Shape> timed_sizes(const TaskOnDevice& on_device,
                                      const SelftestOptions& options) {
  const tasks::Task& task = on_device.task;
  const std::string& device = on_device.host->device.kind;
  std::vector<tasks::Shape> shapes = task.shapes_of(tasks::ShapeSet::Search, device);
  const std::vector<tasks::Shape> hidden = task.shapes_of(tasks::ShapeSet::Promotion, device);
  const auto largest = std::max_element(
      hidden.begin(), hidden.end(), [&](const tasks::Shape& left, const tasks::Shape& right) {
        return input_elements(task, left) < input_elements(task, right);
      });
  if (input_elements(task, *largest) <= options.max_input_elements) {
    shapes.push_back(*largest);
  }
  return shapes;
}

} // namespace

std::string_view to_string(NarrowResult::State state) {
  switch (state) {
  case NarrowResult::State::Rejected:
    return "rejected";
  case NarrowResult::State::Accepted:
    return "accepted";
  case NarrowResult::State::NotApplicable:
    return "not_applicable";
  }
  return "unknown_state";
}

bool is_as_stated(const NarrowResult& result) {
  using enum NarrowResult::State;
  return result.state == NotApplicable ||
         result.state == (result.narrowing.is_allowed ? Accepted : Rejected);
}

NarrowTrial::NarrowTrial(TaskOnDevice& on_device, ReferenceRun& runner,
                         const SelftestOptions& options)
    : on_device_(on_device), runner_(runner), options_(options),
      shapes_(timed_sizes(on_device, options)), reference_(on_device, shapes_) {}

std::vector<NarrowResult> NarrowTrial::run() {
  std::vector<NarrowResult> results;
  for (const tasks::Shape& shape : shapes_) {
    for (NarrowResult& result : run_shape(shape)) {
      results.push_back(std::move(result));
    }
  }
  return results;
}

std::vector<NarrowResult> NarrowTrial::run_shape(const tasks::Shape& shape) {
  std::vector<NarrowResult> results;
  for (tasks::Narrowing& narrowing : tasks::narrowings_of(on_device_.task)) {
    NarrowResult& result = results.emplace_back();
    result.narrowing = std::move(narrowing);
    result.shape_id = shape.id;
  }
  std::vector<NarrowResult*> open;
  for (NarrowResult& result : results) {
    open.push_back(&result);
  }
  for (int i = 0; i < kMostNarrowInputs && !open.empty(); ++i) {
    Drawn drawn;
    drawn.seed = nth_seed(options_.seed, i);
    drawn.inputs = {shape, tasks::draw_inputs(on_device_.task, shape, drawn.seed)};
    drawn.right = runner_.answer(drawn.inputs, ReferenceRun::Parts::Outputs);
    std::erase_if(open, [&](NarrowResult* result) { return settle(drawn, *result); });
  }
  return results;
}

bool NarrowTrial::settle(const Drawn& drawn, NarrowResult& result) {
  const tasks::Shape& shape = drawn.inputs.shape;
  tasks::HostTensors outputs;
  bool is_changed = false;
  const auto fault = runner_.look(
      reference_.with(result.narrowing), drawn.inputs, ReferenceRun::Parts::Outputs,
      [&](std::span<const ReferenceRun::Seen> parts) {
        for (const ReferenceRun::Seen& part : parts) {
          is_changed =
              is_changed || !equal_in_parts(part.bytes, drawn.right.outputs.at(part.name).bytes);
          round_output(on_device_.task, shape, part, outputs[part.name]);
        }
      });
  if (fault) {
    result.state = NarrowResult::State::Rejected;
    result.verdict = fault->verdict;
    return true;
  }
  if (!is_changed) {
    return false; // other inputs may be applicable
  }
  const JudgeReply reply =
      runner_.judge(shape, drawn.seed, poison_salt(drawn.seed), outputs, false);
  const bool is_rejected = reply.verdict != tasks::Verdict::Correct;
  if (is_rejected) {
    result.ratios = {};
  }
  result.ratios.add(reply.ratios.value());
  result.verdict = reply.verdict;
  result.state = is_rejected ? NarrowResult::State::Rejected : NarrowResult::State::Accepted;
  return is_rejected;
}

} // namespace winnow::evaluators
