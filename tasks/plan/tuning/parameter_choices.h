#pragma once

#include "tasks/plan/plan.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace winnow::tasks {

/// Choices of parameters that satisfy every `where`, at most `limit`, each once. The first is the
/// default: the first value of each parameter if that is allowed, else the first allowed choice in
/// lexicographic order (the last parameter changes fastest).
/// If at most `limit` choices are allowed, the result is all of them in lexicographic order.
/// Otherwise the others are a sample, in which the values of a parameter occur about equally often.
/// The sample depends on `params` and `where` only.
///
/// The search binds one parameter after the other, and evaluates a `where` as soon as its
/// parameters are bound. If no value of a parameter fits, the search goes back to the last
/// parameter that a failed `where` shares with it. The work is bounded by about 200,000
/// evaluations of short conditions (about 50 ms), whatever the number of combinations. If the bound
/// ends the search in lexicographic order, the result is a sample, too, and may lack allowed
/// choices. This needs conditions over many parameters at once that nearly all combinations break.
///
/// Throws ExpressionError if a `where` has no value for a choice that the search meets and that no
/// earlier `where` forbids.
std::vector<ParameterChoice> parameter_choices(const Plan& plan, std::size_t limit);

/// The first allowed choice with these values, which may be a part of the parameters. nullopt:
/// there is none. Throws ExpressionError.
std::optional<ParameterChoice> choice_with(const Plan& plan, const ParameterChoice& values);

} // namespace winnow::tasks
