
#include "base/text.h"
#include "tasks/plan/resolve/plan_tensor_map.h"

#include <algorithm>
#include <set>

namespace winnow::tasks {
namespace {

/// Visits the expressions of launches, and the let bindings of their loops.
void collect(const std::vector<Launch>& launches, std::vector<const PlanExpression*>& found) {
  const auto add = [&](const PlanExpression& value) {
    if (!value.expression.empty()) {
      found.push_back(&value);
    }
  };
  const auto add_place = [&](const BufferReference& place) {
    add(place.by);
    add(place.offset);
  };
  for (const Launch& launch : launches) {
    add(launch.when);
    if (const auto* kernel = std::get_if<KernelLaunch>(&launch.what)) {
      for (const auto* sizes : {&kernel->grid, &kernel->block, &kernel->cluster}) {
        std::for_each(sizes->begin(), sizes->end(), add);
      }
      add(kernel->shared_bytes);
      for (const Argument& argument : kernel->arguments) {
        if (const auto* integer = std::get_if<IntegerArgument>(&argument)) {
          add(integer->value);
        } else if (const auto* real = std::get_if<FloatArgument>(&argument)) {
          add(real->value);
        } else if (const auto* place = std::get_if<BufferReference>(&argument)) {
          add_place(*place);
        }
      }
    } else if (const auto* fill = std::get_if<Fill>(&launch.what)) {
      add_place(fill->buffer);
      add(fill->count);
    } else if (const auto* copy = std::get_if<Copy>(&launch.what)) {
      add_place(copy->from);
      add_place(copy->to);
      for (const auto* value : {&copy->count, &copy->rows, &copy->from_stride, &copy->to_stride}) {
        add(*value);
      }
    } else {
      const auto& repeat = std::get<Repeat>(launch.what);
      add(repeat.times);
      for (const LetBinding& binding : repeat.let) {
        add(binding.value);
      }
      collect(repeat.body, found);
    }
  }
}

} // namespace

std::vector<const PlanExpression*> expressions_of(const Plan& plan) {
  std::vector<const PlanExpression*> found;
  for (const LetBinding& binding : plan.let) {
    if (binding.device_constant.empty()) {
      found.push_back(&binding.value);
    }
  }
  for (const ScratchBuffer& scratch : plan.scratch) {
    found.push_back(&scratch.count);
  }
  for (const TensorMap& map : plan.tensor_maps) {
    const std::vector<const PlanExpression*> inside = expressions_of(map);
    found.insert(found.end(), inside.begin(), inside.end());
  }
  collect(plan.prepare, found);
  collect(plan.launches, found);
  return found;
}

std::vector<const LetBinding*> in_order_of_use(const std::vector<LetBinding>& bindings) {
  std::vector<const LetBinding*> order;
  std::set<std::string> done;
  for (std::size_t round = 0; round < bindings.size() && order.size() < bindings.size(); ++round) {
    for (const LetBinding& binding : bindings) {
      const std::vector<std::string> names = binding.device_constant.empty()
                                                 ? binding.value.expression.names()
                                                 : std::vector<std::string>{};
      const bool ready = std::none_of(names.begin(), names.end(), [&](const std::string& name) {
        return !done.contains(name) && find_named(bindings, name) != nullptr;
      });
      if (!done.contains(binding.name) && ready) {
        done.insert(binding.name);
        order.push_back(&binding);
      }
    }
  }
  return order;
}

} // namespace winnow::tasks
