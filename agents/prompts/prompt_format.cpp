#include "agents/prompts/prompt_sections.h"
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

bool mentions(const std::string& expression, const std::string& name) {
  for (std::size_t at = expression.find(name); at != std::string::npos;
       at = expression.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word_character(expression[at - 1])) &&
        (end == expression.size() || !is_word_character(expression[end]))) {
      return true;
    }
  }
  return false;
}

bool is_extent(const tasks::Task& task, const std::string& name) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const auto& tensor) {
    return std::any_of(tensor.shape.begin(), tensor.shape.end(),
                       [&](const auto& extent) { return mentions(extent.text(), name); });
  });
}

bool counts_steps(const tasks::Task& task) {
  return std::any_of(task.axes.begin(), task.axes.end(),
                     [&](const tasks::Axis& axis) { return !is_extent(task, axis.name); }) ||
         std::any_of(task.scalars.begin(), task.scalars.end(), [&](const auto& scalar) {
           return !tasks::is_floating(scalar.dtype) && !is_extent(task, scalar.name);
         });
}

} // namespace

MaybeValues render_kernel_file(const ProposalContext& context) {
  return Values{{"variants", std::to_string(context.variants)}};
}

MaybeValues render_tensor_maps(const ProposalContext& context) {
  const auto has_matrix = [](const tasks::Task& task) {
    return std::any_of(task.tensors.begin(), task.tensors.end(),
                       [](const auto& tensor) { return tensor.shape.size() > 1; });
  };
  return shown_if(context.facts.tensor_maps &&
                  (context.task == nullptr || has_matrix(*context.task)));
}

MaybeValues render_prepare(const ProposalContext& context) {
  if (context.task == nullptr) {
    return Values{{"static", "those that a task calls static"}};
  }
  const bool folds = folds_parameters(*context.task);
  std::vector<std::string> inputs;
  if (folds) {
    inputs.emplace_back("the parameters and buffers of the module");
  }
  for (const tasks::TensorSpec& tensor : context.task->tensors) {
    if (tensor.is_static && (tensor.state.empty() || !folds)) {
      inputs.push_back(fmt::format("`{}`", tensor.name));
    }
  }
  return inputs.empty() ? std::nullopt : MaybeValues(Values{{"static", join(inputs, ", ")}});
}

MaybeValues render_loops(const ProposalContext& context) {
  return shown_if(context.task == nullptr || counts_steps(*context.task) ||
                  folds_parameters(*context.task));
}

} // namespace winnow::agents
