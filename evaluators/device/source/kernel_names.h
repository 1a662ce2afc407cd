#pragma once

#include "evaluators/device/source/directives.h"
#include "evaluators/device/source/source_scan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// "ns::softmax<128>" -> "softmax"; empty when `name` is no kernel name.
std::string kernel_base_name(const std::string& name);

/// Whether the source defines, once each, the kernels that the plan launches ("softmax<128>"), and
/// whether those that are templates get their arguments. `parameters`: the plan's.
std::optional<SourceMistake> check_kernels(const std::vector<std::string>& kernels,
                                           const SourceScan& scan, const std::vector<Token>& tokens,
                                           const std::map<std::string, std::int64_t>& parameters);

} // namespace winnow::evaluators
