#pragma once

#include "agents/prompts/prompts.h"
#include "harness/run/state/journal.h"
#include "harness/run/state/task_state.h"

namespace winnow::harness {

/// Adds what the prompt of this call shows because of roles: to a kernel's call the judge's advice
/// and the meta-prompter's words, to a role's call the facts and the role's own record in this
/// task. `context` has its parent already. Adds nothing in a run without roles.
void add_role_facts(agents::ProposalContext& context, const Journal& journal,
                    const TaskState& state, const search::Ask& ask);

} // namespace winnow::harness
