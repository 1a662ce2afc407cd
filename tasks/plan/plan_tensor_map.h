#pragma once

#include "tasks/plan/plan_context.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The plan's tensor maps at one shape, each resolved when it is first used: within everything that
/// cuTensorMapEncodeTiled (cuda.h) asks for, and inside its buffer.
class TensorMaps {
public:
  /// `scope` is the plan's own, without loop variables; all must outlive this.
  TensorMaps(const PlanContext& context, const Scope& scope, const std::vector<Buffer>& buffers)
      : context_(context), scope_(scope), buffers_(buffers) {}

  /// `name` is known to the plan; `at` is where it is used. Throws PlanMistake.
  std::shared_ptr<const ResolvedTensorMap> find(const std::string& name, SourcePosition at);

private:
  const PlanContext& context_;
  const Scope& scope_;
  const std::vector<Buffer>& buffers_;
  std::map<std::string, std::shared_ptr<const ResolvedTensorMap>> resolved_;
};

} // namespace winnow::tasks
