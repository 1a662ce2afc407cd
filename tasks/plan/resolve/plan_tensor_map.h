#pragma once

#include "tasks/plan/plan.h"
#include "tasks/plan/resolve/plan_context.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::tasks {

/// The expressions of a tensor map.
std::vector<const PlanExpression*> expressions_of(const TensorMap& map);

/// The plan's tensor maps at one shape. Each map is resolved at its first use, or at every use if a
/// loop decides its values. It must meet the requirements of cuTensorMapEncodeTiled (cuda.h) and
/// stay inside its buffer.
class TensorMaps {
public:
  /// `scope` is the scope of the plan, without loop variables. All arguments must outlive this
  /// object.
  TensorMaps(const PlanContext& context, const Scope& scope, const std::vector<Buffer>& buffers)
      : context_(context), scope_(scope), buffers_(buffers) {}

  /// `name` is a declared tensor map. `at` is the place of use, and `used_in` is the scope there.
  /// Throws PlanMistake.
  std::shared_ptr<const ResolvedTensorMap> find(const std::string& name, SourcePosition at,
                                                const Scope& used_in);

private:
  bool has_loop_values(const TensorMap& map, const Scope& used_in) const;

  const PlanContext& context_;
  const Scope& scope_;
  const std::vector<Buffer>& buffers_;
  std::map<std::string, std::shared_ptr<const ResolvedTensorMap>> resolved_;
};

/// Walks over the expressions of a launch plan. The pointers are valid as long as the plan is.

/// All expressions but device constants: of `let`, scratch, tensor maps, prepare and launches.
std::vector<const PlanExpression*> expressions_of(const Plan& plan);

/// The bindings in an order in which each one uses only earlier ones.
std::vector<const LetBinding*> in_order_of_use(const std::vector<LetBinding>& bindings);

} // namespace winnow::tasks
