#pragma once

#include "agents/prompts/prompts.h"

#include <string>
#include <vector>

namespace winnow::harness {

/// Adds the device's ceilings and the least time at each search shape. They come from the
/// baseline's profile, which has measured values; without a profile, from the device's peaks.
/// Nothing is measured for this. Adds nothing for the CPU device, whose peaks are only assumed.
void add_prompt_facts(agents::ProposalContext& context);

/// How the largest launch fills the device, a line for each profiled shape: blocks, threads,
/// registers, shared memory, resident blocks. Empty without a profile.
std::string launch_lines(const tasks::Evaluation& evaluation);

/// How the speed of a family depends on its parameters, in a few lines. `trials`: the evaluations
/// of its heats, oldest first; the newest of each choice counts. Empty without trials. `text`: of
/// the kernel file.
std::string surface_text(const std::vector<tasks::Evaluation>& trials, const std::string& text);

} // namespace winnow::harness
