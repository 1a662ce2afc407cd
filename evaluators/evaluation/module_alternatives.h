#pragma once

#include "evaluators/evaluation/reference_check.h"
#include "evaluators/torch/torch_question.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

inline constexpr std::string_view kEager = "eager"; ///< the first name of alternatives.py
/// PyTorch's limit for one answer. torch.compile may tune hundreds of kernels.
inline constexpr std::chrono::minutes kTorchAnswersWithin{5};
TorchSampling torch_sampling(const Protocol& protocol, const std::string& device_kind);

/// Draws the question's inputs into the exchange while the judge waits, and calls `ask` with the
/// question for the inputs that the module computes (see TorchChild::ask()). Throws what `ask`
/// throws, and Error if the judge cannot draw.
void with_module_inputs(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                        std::uint64_t seed, const TorchQuestion& question,
                        const std::function<void(const std::string& inputs)>& ask);

/// A way in which PyTorch runs a task's module, at one shape.
struct ModuleAlternative {
  std::string name;                 ///< of alternatives.py: "eager", "compile max-autotune"
  std::string error;                ///< why there is no answer or no time; else empty
  std::vector<double> times_ns;     ///< empty: there are none
  std::optional<JudgeReply> judged; ///< the answer beside that of the module in float64
};

/// For a task with a TorchReference.
class ModuleAlternatives {
public:
  /// `timeout`: for one answer of PyTorch.
  ModuleAlternatives(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                     const EvaluationOptions& options,
                     std::chrono::milliseconds timeout = kTorchAnswersWithin);

  /// Runs each alternative once (only those without torch.compile unless `with_compiled`) and
  /// judges the answers. One of another precision may be wrong. Throws Error if the module or the
  /// judge cannot work at all.
  std::vector<ModuleAlternative> answers(const tasks::Shape& shape, std::uint64_t seed,
                                         bool with_compiled = true);
  /// Runs and judges those again that have no answer. Throws as answers().
  void answer_missing(const tasks::Shape& shape, std::uint64_t seed,
                      std::vector<ModuleAlternative>& found);
  /// Times those that answered, in turns. Throws as answers().
  void time(const tasks::Shape& shape, std::uint64_t seed, std::vector<ModuleAlternative>& found);

private:
  using Outputs = std::map<std::string, std::vector<std::byte>>; ///< by the name of the tensor
  using WithNames = std::function<void(const std::vector<std::string>& names)>;
  /// Calls `run` with the names of all alternatives while PyTorch has inputs of the shape.
  void with_names(const tasks::Shape& shape, std::uint64_t seed, const WithNames& run);
  /// Calls `begin`, then runs and judges those of `found` that have no answer.
  void answer(const tasks::Shape& shape, std::uint64_t seed, std::vector<ModuleAlternative>& found,
              const WithNames& begin);
  /// The outputs of an alternative; else its error is set.
  Outputs run(const tasks::Shape& shape, ModuleAlternative& alternative);
  void judge(const tasks::Shape& shape, std::uint64_t seed, const Outputs& outputs,
             ModuleAlternative& alternative);

  tasks::Task task_;
  std::shared_ptr<DeviceHost> host_;
  EvaluationOptions options_;
  std::chrono::milliseconds timeout_;
  ReferenceCheck check_;
};

} // namespace winnow::evaluators
