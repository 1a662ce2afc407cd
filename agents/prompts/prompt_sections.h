// The renderers of the recipe's sections. Each gives the values of its template's placeholders, or
// nullopt if the prompt has no use for the section.
#pragma once

#include "agents/prompts/prompt_recipe.h"

#include <string>
#include <string_view>

namespace winnow::agents {

using MaybeValues = std::optional<Values>;

/// Shows a template without placeholders, or nothing.
inline MaybeValues shown_if(bool useful) {
  return useful ? MaybeValues(Values{}) : std::nullopt;
}

// prompt_format.cpp: the kernel file
MaybeValues render_kernel_file(const ProposalContext& context);
/// Devices with tensor maps, and tasks with a tensor of two or more dimensions.
MaybeValues render_tensor_maps(const ProposalContext& context);
MaybeValues render_prepare(const ProposalContext& context); ///< tasks with static inputs
/// Tasks with an axis or integer scalar that is no extent of a tensor (a number of steps), and
/// modules of many layers.
MaybeValues render_loops(const ProposalContext& context);

// prompt_examples.cpp
/// The kernels of models that the prompt of this operator shows in full.
std::vector<const Attempt*> shown_kernels(const ProposalContext& context);
/// Whether the prompt shows a correct kernel of a model in full.
bool builds_on_a_kernel(const ProposalContext& context);
MaybeValues render_example_file(const ProposalContext& context);
MaybeValues render_tensor_map_example(const ProposalContext& context);
MaybeValues render_wgmma(const ProposalContext& context);
MaybeValues render_ring(const ProposalContext& context); ///< of stages, by mbarriers and TMA

// prompt_task.cpp
MaybeValues render_task(const ProposalContext& context);
/// The PyTorch module: where it defines the task, or no kernel shows the operation.
MaybeValues render_module(const ProposalContext& context);
/// Whether the prompt folds the names of the module's parameters and buffers: there are many.
bool folds_parameters(const tasks::Task& task);

// prompt_device.cpp
MaybeValues render_device(const ProposalContext& context);
MaybeValues render_cuda(const ProposalContext& context);
MaybeValues render_hip(const ProposalContext& context);
MaybeValues render_bounds(const ProposalContext& context);

// prompt_work.cpp
/// The template `file` ("work_scan") if it is the one of the task's kind of work.
MaybeValues render_work(const ProposalContext& context, std::string_view file);
/// Whether kernels for this task may gain by wgmma. Without a task: whether the device has it.
bool multiplies_by_wgmma(const ProposalContext& context);

// prompt_attempts.cpp
MaybeValues render_baseline(const ProposalContext& context);
MaybeValues render_baseline_code(const ProposalContext& context);
MaybeValues render_exemplar(const ProposalContext& context);
MaybeValues render_best(const ProposalContext& context);
MaybeValues render_standing(const ProposalContext& context); ///< the best one in a line
MaybeValues render_families(const ProposalContext& context); ///< and insights
MaybeValues render_do_not(const ProposalContext& context);
MaybeValues render_parent(const ProposalContext& context);
MaybeValues render_second(const ProposalContext& context);
MaybeValues render_surface(const ProposalContext& context);
MaybeValues render_history(const ProposalContext& context);
MaybeValues render_previous(const ProposalContext& context);

// prompt_advice.cpp
MaybeValues render_improve(const ProposalContext& context);
MaybeValues render_repair(const ProposalContext& context);
MaybeValues render_reply_json(const ProposalContext& context); ///< structured replies

// prompt_roles.cpp. An empty text or list shows nothing.
MaybeValues text_value(const char* name, const std::string& text);
MaybeValues list_value(const char* name, const std::vector<std::string>& lines);
MaybeValues render_candidate(const ProposalContext& context); ///< with numbers of lines

std::string time_text(double nanoseconds); ///< "12.3 us"
/// A value with its unit: "4.81 TB/s", "989 Top/s", "2.1 us" for the units "B/s", "op/s" and "ns".
std::string quantity_text(double value, std::string_view unit);

} // namespace winnow::agents
