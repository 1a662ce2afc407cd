#include "evaluators/evaluation/reference_check.h"
#include "evaluators/selftest/trials.h"
#include "evaluators/torch/torch_question.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::MutantKind;

constexpr std::array kKinds{MutantKind::Zeros,        MutantKind::Stale,
                            MutantKind::BatchMean,    MutantKind::OperandsTf32,
                            MutantKind::OperandsBf16, MutantKind::HalfOfInputs};
constexpr const char* kOwnPrecision = "own precision";

void note(const JudgeReply& reply, const tasks::Shape& shape, KernelResult& honest) {
  ++honest.cases;
  honest.max_error_ratio = std::max(honest.max_error_ratio, reply.ratios.larger());
  if (reply.verdict != tasks::Verdict::Correct && honest.state == KernelResult::State::Accepted) {
    honest.state = KernelResult::State::Rejected;
    honest.detail = fmt::format("{} at {}: {}", to_string(reply.verdict), shape.id,
                                reply.mismatch ? mismatch_text(*reply.mismatch) : reply.detail);
  }
}

/// Tests a task whose reference is a PyTorch module. PyTorch computes the mutants. The module in
/// its own dtypes is the honest kernel.
class ModuleTrial {
public:
  ModuleTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options) {}

  /// At the tiny and the search shapes, with SelftestOptions::seeds inputs each. Throws Error when
  /// PyTorch or the judge fails.
  ModuleResults run() {
    ModuleResults results;
    results.honest.file = "reference.py in its own dtypes";
    run_set(tasks::ShapeSet::Tiny, results);
    run_set(tasks::ShapeSet::Search, results);
    return results;
  }

private:
  void run_set(tasks::ShapeSet set, ModuleResults& results) {
    std::vector<MutantResult> mutants;
    for (const MutantKind kind : kKinds) {
      MutantResult& result = mutants.emplace_back();
      result.mutant.kind = kind;
      result.set = set;
      result.why = "the module has no such answer";
    }
    for (const tasks::Shape& shape : on_device_.task.shapes_of(set, on_device_.host->device.kind)) {
      if (options_.progress) {
        options_.progress("wrong modules, " + shape.id);
      }
      const tasks::HostTensors stale = own_outputs(shape, options_.seed + kStaleSeed);
      for (int i = 0; i < options_.seeds; ++i) {
        run_case(shape, nth_seed(options_.seed, i), stale, mutants, results.honest);
      }
    }
    results.mutants.insert(results.mutants.end(), mutants.begin(), mutants.end());
  }
  // PyTorch keeps one model at a time, so the judge asks for its model after all others have run.
  void run_case(const tasks::Shape& shape, std::uint64_t seed, const tasks::HostTensors& stale,
                std::vector<MutantResult>& mutants, KernelResult& honest) {
    const tasks::HostTensors inputs = tasks::draw_inputs(on_device_.task, shape, seed);
    const tasks::HostTensors own = outputs_of(kOwnPrecision, shape, inputs).value();
    std::vector<std::optional<tasks::HostTensors>> wrong;
    for (const MutantResult& result : mutants) {
      std::optional<tasks::HostTensors>& outputs = wrong.emplace_back();
      if (result.state == MutantResult::State::Rejected) {
        continue;
      }
      if (result.mutant.kind == MutantKind::Zeros) {
        outputs = own;
        for (auto& [name, output] : *outputs) {
          std::fill(output.bytes.begin(), output.bytes.end(), std::byte{0});
        }
      } else if (result.mutant.kind == MutantKind::Stale) {
        outputs = stale;
      } else {
        outputs = outputs_of(std::string(to_string(result.mutant.kind)), shape, inputs);
      }
    }
    note(runner_.judge(shape, seed, poison_salt(seed), own), shape, honest);
    for (std::size_t i = 0; i < mutants.size(); ++i) {
      if (wrong[i]) {
        note(runner_.judge(shape, seed, poison_salt(seed), *wrong[i]), shape, mutants[i]);
      }
    }
  }
  /// nullopt: the mutant does not apply.
  std::optional<tasks::HostTensors> outputs_of(const std::string& mutant, const tasks::Shape& shape,
                                               const tasks::HostTensors& inputs) {
    DeviceHost& host = *on_device_.host;
    const TorchQuestion question =
        torch_mutant(on_device_.task, shape, mutant, host.exchange.size_bytes());
    const ArenaView exchange(host.exchange.fd());
    for (const ArenaSlice& slice : question.inputs) {
      std::memcpy(exchange.slice(slice.offset, slice.bytes).data(),
                  inputs.at(slice.tensor).bytes.data(), slice.bytes);
    }
    const nlohmann::json reply = host.torch.ask(question.line, judge_timeout(on_device_.options));
    if (!reply.at("applies").get<bool>()) {
      return std::nullopt;
    }
    tasks::HostTensors outputs;
    for (const ArenaSlice& slice : question.answers) {
      const tasks::TensorSpec& tensor = *on_device_.task.find_tensor(slice.tensor);
      tasks::HostTensor output = tasks::unset_tensor(tensor, on_device_.task, shape);
      std::memcpy(output.bytes.data(), exchange.slice(slice.offset, slice.bytes).data(),
                  slice.bytes);
      outputs.emplace(slice.tensor, std::move(output));
    }
    return outputs;
  }
  tasks::HostTensors own_outputs(const tasks::Shape& shape, std::uint64_t seed) {
    return outputs_of(kOwnPrecision, shape, tasks::draw_inputs(on_device_.task, shape, seed))
        .value();
  }

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
};

} // namespace

ModuleResults try_module(TaskOnDevice& on_device, ReferenceRun& runner,
                         const SelftestOptions& options) {
  return ModuleTrial(on_device, runner, options).run();
}

} // namespace winnow::evaluators
