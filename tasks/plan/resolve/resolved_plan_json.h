#pragma once

#include "tasks/json/json_fields.h"
#include "tasks/plan/resolve/plan_resolve.h"

namespace winnow::tasks {

// The lossless JSON of resolved plans, for the worker protocol.

template <> inline constexpr EnumRange kEnumRange<DType>{DType::F32, kLastDType};

template <> struct JsonForm<ResolvedPlan> {
  static void append(std::string& out, const ResolvedPlan& plan);
  /// Throws Error with the path of the first value that is wrong.
  static void read(const nlohmann::json& json, const std::string& path, ResolvedPlan& plan);
};

} // namespace winnow::tasks
