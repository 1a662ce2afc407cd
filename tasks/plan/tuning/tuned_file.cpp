#include "tasks/plan/tuning/tuned_file.h"

#include "base/text.h"
#include "tasks/plan/plan_constants.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/plan/tuning/parameter_choices.h"
#include "tasks/plan/tuning/plan_edits.h"
#include "tasks/source/name_use.h"
#include "tasks/source/tokens.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

/// Why there is no file.
struct NoDispatch {
  std::string reason;
};

bool mentions_name(std::string_view text, std::string_view name) {
  const std::vector<Token> tokens = tokenize(text);
  return std::any_of(tokens.begin(), tokens.end(),
                     [&](const Token& token) { return token.text == name; });
}

bool uses(const Expression& expression, const std::string& name) {
  return !expression.empty() && expression.column_of(name) != 0;
}

bool in_constants(const std::vector<LetBinding>& bindings, const std::string& name) {
  return std::any_of(bindings.begin(), bindings.end(), [&](const LetBinding& binding) {
    return mentions_name(binding.device_constant, name);
  });
}

/// Whether the code that the compiler sees for these launches has the name: in a device constant,
/// or in a kernel's name outside braces.
bool in_code_of(const std::vector<Launch>& launches, const std::string& name) {
  return std::any_of(launches.begin(), launches.end(), [&](const Launch& launch) {
    if (const auto* repeat = std::get_if<Repeat>(&launch.what)) {
      return in_constants(repeat->let, name) || in_code_of(repeat->body, name);
    }
    const auto* kernel = std::get_if<KernelLaunch>(&launch.what);
    return kernel != nullptr &&
           mentions_name(replace_placeholders(kernel->kernel,
                                              [](std::string_view) { return std::optional("0"); }),
                         name);
  });
}

/// The code is compiled once for all shapes, so it may not see a value that depends on the shape.
void check_unseen(const KernelFile& file, const std::string& name) {
  if (const auto line = line_that_uses(file.source, name)) {
    throw NoDispatch{
        fmt::format("the device code may use the parameter '{}' in line {}", name, *line)};
  }
  const Plan& plan = file.plan;
  if (uses(plan.fast_math.expression, name)) {
    throw NoDispatch{fmt::format("\"fast_math\" depends on the parameter '{}'", name)};
  }
  if (in_constants(plan.let, name) || in_code_of(plan.prepare, name) ||
      in_code_of(plan.launches, name)) {
    throw NoDispatch{
        fmt::format("a device constant or the name of a kernel has the parameter '{}'", name)};
  }
}

void check_winners(const KernelFile& file, const std::vector<ShapeWinner>& winners) {
  if (winners.empty()) {
    throw NoDispatch{"there are no winners"};
  }
  for (const ShapeWinner& winner : winners) {
    if (winner.choice.size() != file.plan.parameters.size() ||
        !choice_with(file.plan, winner.choice)) {
      throw NoDispatch{
          fmt::format("the plan does not allow the choice {}", parameters_text(winner.choice))};
    }
  }
}

/// The names of the parameters whose best values differ, in the order of the plan.
std::vector<std::string> differing(const Plan& plan, const std::vector<ShapeWinner>& winners) {
  std::vector<std::string> names;
  for (const Parameter& parameter : plan.parameters) {
    const auto value = [&](const ShapeWinner& winner) { return winner.choice.at(parameter.name); };
    if (std::any_of(winners.begin(), winners.end(), [&](const ShapeWinner& winner) {
          return value(winner) != value(winners.front());
        })) {
      names.push_back(parameter.name);
    }
  }
  return names;
}

/// A choice that wins at all sizes from `low` on, up to the next interval.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0; ///< the largest size of a shape that it wins
  ParameterChoice choice;
};

std::int64_t threshold_between(std::int64_t below, std::int64_t above) {
  const double mean = std::sqrt(static_cast<double>(below)) * std::sqrt(static_cast<double>(above));
  const double unit = std::pow(10, std::floor(std::log10(std::max(mean, 10.0))) - 1);
  for (const double candidate : {std::round(mean / unit) * unit, std::ceil(mean)}) {
    if (candidate > static_cast<double>(below) && candidate <= static_cast<double>(above)) {
      return std::clamp(std::llround(candidate), static_cast<long long>(below + 1),
                        static_cast<long long>(above));
    }
  }
  return above;
}

/// The winners along a size, as one interval for each distinct choice. Empty: the size does not
/// separate the choices.
std::vector<Interval> intervals(const std::vector<ShapeWinner>& winners,
                                const std::vector<std::int64_t>& sizes) {
  std::multimap<std::int64_t, const ParameterChoice*> by_size;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    by_size.emplace(sizes[i], &winners[i].choice);
  }
  std::vector<Interval> result;
  std::set<ParameterChoice> seen;
  for (const auto& [size, choice] : by_size) {
    if (!result.empty() && result.back().choice == *choice) {
      result.back().high = size;
    } else if (!seen.insert(*choice).second || (!result.empty() && result.back().high == size)) {
      return {};
    } else {
      const std::int64_t low = result.empty() ? 0 : threshold_between(result.back().high, size);
      result.push_back({low, size, *choice});
    }
  }
  return result;
}

/// The sizes of the winners' shapes. Empty: at some shape of the task the size has no value.
std::vector<std::int64_t> sizes_of(const Task& task, const std::vector<ShapeWinner>& winners,
                                   const Expression& size) {
  std::vector<std::int64_t> sizes;
  const auto at = [&](const Shape& shape) {
    Scope scope;
    bind_shape(task, shape, scope);
    return size.evaluate(scope);
  };
  try {
    for (const ShapeWinner& winner : winners) {
      sizes.push_back(at(winner.shape));
    }
    for (const Shape& shape : task.shapes) {
      at(shape);
    }
  } catch (const ExpressionError&) { // a product overflows
    return {};
  }
  return sizes;
}

struct Dispatch {
  std::string size; ///< "n" or "m * n * k"
  std::vector<Interval> intervals;
};

Dispatch find_dispatch(const Task& task, const std::vector<ShapeWinner>& winners) {
  auto sizes = each<std::string>(task.axes, &Axis::name);
  if (sizes.size() > 1) {
    sizes.push_back(join(sizes, " * "));
  }
  for (const std::string& size : sizes) {
    const auto values = sizes_of(task, winners, Expression::parse(size));
    auto found = values.empty() ? std::vector<Interval>{} : intervals(winners, values);
    if (!found.empty()) {
      return {size, std::move(found)};
    }
  }
  throw NoDispatch{"neither one axis nor the product of all axes separates the winners"};
}

/// "n >= 8192 ? 512 : n >= 1000 ? 256 : 128"
std::string binding_text(const Dispatch& dispatch, const std::string& name) {
  std::string text;
  for (std::size_t i = dispatch.intervals.size(); i-- > 0;) {
    const Interval& interval = dispatch.intervals[i];
    const std::int64_t value = interval.choice.at(name);
    if (i == 0) {
      text += std::to_string(value);
    } else if (dispatch.intervals[i - 1].choice.at(name) != value) {
      text += fmt::format("{} >= {} ? {} : ", dispatch.size, interval.low, value);
    }
  }
  return text;
}

std::string with_numbers(const std::string& condition, const std::vector<std::string>& names,
                         const ParameterChoice& choice) {
  std::string text;
  std::size_t done = 0;
  for (const Token& token : tokenize(condition)) {
    if (contains(names, token.text)) {
      const std::int64_t value = choice.at(std::string(token.text));
      text += condition.substr(done, token.begin - done) +
              (value < 0 ? fmt::format("({})", value) : std::to_string(value));
      done = token.end;
    }
  }
  return text + condition.substr(done);
}

/// The conditions over these parameters, with the winners' values in place of their names.
std::vector<std::pair<std::size_t, std::vector<std::string>>>
replaced_where(const Plan& plan, const std::vector<std::string>& names,
               const std::vector<Interval>& intervals) {
  std::vector<std::pair<std::size_t, std::vector<std::string>>> replaced;
  for (std::size_t i = 0; i < plan.where.size(); ++i) {
    const Expression& condition = plan.where[i].expression;
    const std::vector<std::string> used = condition.names();
    const auto is_bound = [&](const std::string& name) { return contains(names, name); };
    if (std::none_of(used.begin(), used.end(), is_bound)) {
      continue;
    }
    std::set<std::string> conditions;
    if (!std::all_of(used.begin(), used.end(), is_bound)) {
      for (const Interval& interval : intervals) {
        conditions.insert(with_numbers(condition.text(), names, interval.choice));
      }
    }
    replaced.emplace_back(i, std::vector<std::string>(conditions.begin(), conditions.end()));
  }
  return replaced;
}

/// The kernels that a file launches at a shape, before it is compiled.
std::vector<std::string> kernels_at(const KernelFile& file, const Task& task, const Shape& shape,
                                    const ParameterChoice& choice) {
  std::vector<Diagnostic> errors;
  std::vector<std::string> kernels =
      kernel_names(file, task, {shape}, choice, DeviceFacts{}, errors);
  if (!errors.empty()) {
    kernels.push_back(errors.front().what);
  }
  return kernels;
}

/// Throws NoDispatch if the new file behaves otherwise than the winner at its shape.
void check_at(const KernelFile& file, const KernelFile& tuned, const Task& task,
              const ShapeWinner& winner) {
  const auto choice = parameter_choices(tuned.plan, 1);
  if (choice.empty()) {
    throw NoDispatch{"the new file allows no choice of parameters"};
  }
  ParameterChoice values = choice.front();
  Scope scope;
  bind_shape(task, winner.shape, scope);
  for (const LetBinding& binding : tuned.plan.let) {
    if (winner.choice.count(binding.name) != 0) {
      values[binding.name] = binding.value.expression.evaluate(scope);
    }
  }
  if (values != winner.choice) {
    throw NoDispatch{fmt::format("at shape {} the new file has {} instead of {}", winner.shape.id,
                                 parameters_text(values), parameters_text(winner.choice))};
  }
  if (kernels_at(tuned, task, winner.shape, choice.front()) !=
      kernels_at(file, task, winner.shape, winner.choice)) {
    throw NoDispatch{
        fmt::format("the new file launches other kernels at shape {}", winner.shape.id)};
  }
}

std::string dispatched(const KernelFile& file, const Task& task,
                       const std::vector<ShapeWinner>& winners) {
  check_winners(file, winners);
  const std::vector<std::string> names = differing(file.plan, winners);
  if (names.empty()) {
    return with_default(file, winners.front().choice);
  }
  for (const std::string& name : names) {
    check_unseen(file, name);
  }
  const Dispatch dispatch = find_dispatch(task, winners);
  PlanEdits edits(file);
  auto bindings = each<std::pair<std::string, std::string>>(names, [&](const std::string& name) {
    return std::pair(name, binding_text(dispatch, name));
  });
  for (const auto& [name, value] : winners.front().choice) {
    if (!contains(names, name)) {
      edits.move_to_front(name, value);
    }
  }
  edits.bind(bindings);
  edits.replace_where(replaced_where(file.plan, names, dispatch.intervals));
  std::string text = edits.text();
  const KernelFileResult tuned = parse_kernel_file(text, file.file);
  if (!tuned.kernel_file) {
    throw NoDispatch{"the new file has a mistake: " + to_string(tuned.errors.front())};
  }
  for (const ShapeWinner& winner : winners) {
    check_at(file, *tuned.kernel_file, task, winner);
  }
  return text;
}

} // namespace

std::string with_default(const KernelFile& file, const ParameterChoice& choice) {
  PlanEdits edits(file);
  for (const auto& [name, value] : choice) {
    edits.move_to_front(name, value);
  }
  return edits.text();
}

std::optional<std::string> with_dispatch(const KernelFile& file, const Task& task,
                                         const std::vector<ShapeWinner>& winners,
                                         std::string& why_not) {
  try {
    return dispatched(file, task, winners);
  } catch (const NoDispatch& none) {
    why_not = none.reason;
  } catch (const ExpressionError& error) {
    why_not = error.what();
  }
  return std::nullopt;
}

} // namespace winnow::tasks
