#pragma once

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// "ns::softmax<128>" -> "softmax"; empty when `name` is not a kernel name.
std::string kernel_base_name(const std::string& name);

/// Checks that the source defines each kernel of the plan ("softmax<128>") exactly once, and that a
/// kernel template gets its arguments. `parameters`: the parameters of the plan.
std::optional<SourceMistake> check_kernels(const std::vector<std::string>& kernels,
                                           const SourceScan& scan, const std::vector<Token>& tokens,
                                           const std::map<std::string, std::int64_t>& parameters);

} // namespace winnow::evaluators
