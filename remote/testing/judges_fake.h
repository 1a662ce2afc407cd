#pragma once

#include "remote/testing/evaluation_fake.h"
#include "remote/testing/pool_fake.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::remote::test {

/// What an honest machine finds. A third of the kernels is wrong, and the others differ in speed;
/// both follow from the kernel's text. Texts of kernels contain "// kernel".
SimulatedKernel kernel_of(const evaluators::EvaluationRequest& request);

/// A machine that is slower or faster against its baseline than others of its model.
Judge honest_judge(double factor = 1);

/// The ways in which a worker may lie: "calls everything correct", "halves its times", ...
const std::vector<std::string>& lies();
/// `lie`: one of lies(). Throws UsageError.
Judge lying_judge(std::string_view lie);

} // namespace winnow::remote::test
