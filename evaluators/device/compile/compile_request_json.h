#pragma once

#include "evaluators/device/module.h"
#include "tasks/json/json_fields.h"

namespace winnow::tasks {

template <>
inline constexpr EnumRange kEnumRange<evaluators::BuildMode>{evaluators::BuildMode::Plain,
                                                             evaluators::BuildMode::Check};

} // namespace winnow::tasks

namespace winnow::evaluators {

WINNOW_FIELDS(CompileRequest, file, source, parameters, kernels, constants, fast_math, mode)

} // namespace winnow::evaluators
