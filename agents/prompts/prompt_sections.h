// The renderers of the recipe's sections. Each gives the values of its template's placeholders, or
// nullopt if the prompt has no use for the section.
#pragma once

#include "agents/prompts/prompt_recipe.h"

namespace winnow::agents {

using MaybeValues = std::optional<Values>;

// prompt_format.cpp: the kernel file
MaybeValues render_always(const ProposalContext& context); ///< a template without placeholders
MaybeValues render_kernel_file(const ProposalContext& context);
MaybeValues render_cooperative(const ProposalContext& context); ///< devices with grid barriers
MaybeValues render_const(const ProposalContext& context);       ///< GPUs
MaybeValues render_clusters(const ProposalContext& context);    ///< devices with clusters
/// Devices with tensor maps, and tasks with a tensor of two or more dimensions.
MaybeValues render_tensor_maps(const ProposalContext& context);
MaybeValues render_prepare(const ProposalContext& context); ///< tasks with static inputs
/// Tasks with an axis or integer scalar that is no extent of a tensor (a number of steps), and
/// modules of many layers.
MaybeValues render_loops(const ProposalContext& context);

// prompt_task.cpp
MaybeValues render_task(const ProposalContext& context);
/// Whether the prompt folds the names of the module's parameters and buffers: there are many.
bool folds_parameters(const tasks::Task& task);

// prompt_device.cpp
MaybeValues render_device(const ProposalContext& context);
MaybeValues render_cpu(const ProposalContext& context);
MaybeValues render_cuda(const ProposalContext& context);
MaybeValues render_hip(const ProposalContext& context);
MaybeValues render_products(const ProposalContext& context); ///< work for tensor cores
MaybeValues render_bounds(const ProposalContext& context);

// prompt_attempts.cpp
MaybeValues render_baseline(const ProposalContext& context);
MaybeValues render_exemplar(const ProposalContext& context);
/// PyTorch eager, which is to be beaten if the task has no baseline.
MaybeValues render_eager(const ProposalContext& context);
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
MaybeValues render_reply_file(const ProposalContext& context); ///< no structured reply, no diff
MaybeValues render_reply_json(const ProposalContext& context); ///< structured replies

// prompt_roles.cpp
MaybeValues render_advice(const ProposalContext& context);
MaybeValues render_guide(const ProposalContext& context);
MaybeValues render_lessons(const ProposalContext& context);
MaybeValues render_candidate(const ProposalContext& context); ///< with numbers of lines
MaybeValues render_evidence(const ProposalContext& context);
MaybeValues render_forecast_bins(const ProposalContext& context);
MaybeValues render_versions(const ProposalContext& context);
MaybeValues render_record(const ProposalContext& context);

} // namespace winnow::agents
