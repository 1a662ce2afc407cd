#include "agents/prompt_sections.h"

#include "base/text.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using tasks::Verdict;

constexpr std::size_t kMaxCodeBytes = 64U << 10U;
constexpr std::size_t kMaxHistoryDetailBytes = 160;
/// A correct kernel below this speed, relative to the best one, is not used as a parent.
constexpr double kRegressed = 1 / 1.15;

std::string_view distribution(tasks::GeneratorSpec::Kind kind) {
  using Kind = tasks::GeneratorSpec::Kind;
  switch (kind) {
  case Kind::Normal:
    return "normally distributed, signed";
  case Kind::Uniform:
    return "uniform";
  case Kind::HeavyTail:
    return "signed, heavy-tailed";
  case Kind::SmallIntegers:
    return "small whole numbers";
  case Kind::Index:
    return "indices";
  case Kind::Constant:
    return "constant";
  case Kind::LogUniform:
    return "signed, of many magnitudes";
  case Kind::Sparse:
    return "mostly zero";
  case Kind::Ties:
    return "few different ones, many equal";
  case Kind::Permutation:
    return "a permutation of indices";
  case Kind::OneHot:
    return "0 and a single 1 in each group";
  case Kind::Denormal:
    return "subnormal";
  case Kind::Special:
    return "normally distributed, with infinities or NaN among them";
  }
  return "";
}

std::string tensor_line(const tasks::TensorSpec& tensor) {
  std::vector<std::string> shape;
  for (const tasks::Expression& dimension : tensor.shape) {
    shape.push_back(dimension.text());
  }
  const bool read_only = tensor.role == tasks::Role::Input;
  std::string line =
      fmt::format("- `{}`: {}, {} (`{}{}*`), shape [{}]", tensor.name, to_string(tensor.role),
                  to_string(tensor.dtype), read_only ? "const " : "",
                  tasks::device_type_name(tensor.dtype), join(shape, ", "));
  if (tensor.role != tasks::Role::Output) {
    line += fmt::format(", values {}", distribution(tensor.generator.kind));
  }
  return line + (tensor.description.empty() ? "" : ": " + tensor.description) + "\n";
}

std::string tensor_lines(const tasks::Task& task) {
  std::string lines;
  for (const tasks::TensorSpec& tensor : task.tensors) {
    lines += tensor_line(tensor);
  }
  return lines;
}

std::string axis_lines(const tasks::Task& task) {
  std::string lines;
  for (const tasks::Axis& axis : task.axes) {
    lines += fmt::format("- `{}`{}\n", axis.name,
                         axis.description.empty() ? "" : ": " + axis.description);
  }
  return lines;
}

std::string scalar_lines(const tasks::Task& task) {
  std::string lines;
  for (const tasks::ScalarSpec& scalar : task.scalars) {
    lines +=
        fmt::format("- `{}`: {}, anywhere from {} to {}{}\n", scalar.name, to_string(scalar.dtype),
                    tasks::scalar_text(scalar.low), tasks::scalar_text(scalar.high),
                    scalar.description.empty() ? "" : ": " + scalar.description);
  }
  return lines.empty() ? "- none\n" : lines;
}

std::string shape_lines(const tasks::Task& task, std::string_view device) {
  std::string lines;
  for (const tasks::Shape& shape : task.shapes_of(tasks::ShapeSet::Search, device)) {
    lines += fmt::format("- {}\n", to_string(shape));
  }
  return lines;
}

/// The range of indices over all shapes, in words that reveal no hidden size.
std::string index_range(const tasks::Task& task, std::string_view device) {
  constexpr std::int64_t kLargestInt = std::numeric_limits<std::int32_t>::max();
  using enum tasks::ShapeSet;
  for (const tasks::ShapeSet set : {Tiny, Search, Promotion, HeldOut}) {
    for (const tasks::Shape& shape : task.shapes_of(set, device)) {
      for (const tasks::TensorSpec& tensor : task.tensors) {
        if (tasks::element_count(tensor, shape) > kLargestInt) {
          return "A tensor may have 2^31 elements or more, at hidden shapes too: use 64-bit "
                 "indices.";
        }
      }
    }
  }
  return "At no shape, listed or hidden, has a tensor 2^31 elements or more: an `int` holds any "
         "index.";
}

std::string tolerance_text(const tasks::Tolerance& tolerance) {
  if (tolerance.precision == tasks::Precision::Int) {
    return "none: integers are exact";
  }
  std::string text = fmt::format(
      "an element may differ from the exact result by ({}) * {:.3g} * (the magnitude of what was "
      "added up for it), besides the rounding of the output itself",
      tolerance.multiple.text(), tasks::epsilon(tolerance.accumulate));
  if (tolerance.absolute > 0) {
    text += fmt::format(" and {:.3g}", tolerance.absolute);
  }
  return text + fmt::format("; the rms over all elements by ({}) of these units. That takes {} "
                            "arithmetic; what is coarser is `low_precision`",
                            tolerance.norm_multiple.text(), to_string(tolerance.accumulate));
}

bool is_about_values(Verdict verdict) {
  return verdict == Verdict::Wrong || verdict == Verdict::Unstable ||
         verdict == Verdict::LowPrecision || verdict == Verdict::WrongUnseen ||
         verdict == Verdict::UnwrittenOutput;
}

/// Whether the attempt before the previous one computed wrong values as well.
bool wrong_again(const ProposalContext& context) {
  if (!is_about_values(context.previous->evaluation.verdict)) {
    return false;
  }
  for (auto attempt = context.history.rbegin(); attempt != context.history.rend(); ++attempt) {
    if (attempt->number != context.previous->number) {
      return is_about_values(attempt->evaluation.verdict);
    }
  }
  return false;
}

Lesson lesson_of_correct(const ProposalContext& context) {
  if (context.best && context.best->number == context.previous->number) {
    return {
        true, false,
        "The previous attempt is the best kernel so far. Say in one sentence what limits it now, "
        "then change the one thing that attacks that limit: the algorithm, the data layout, or "
        "how the work is split. Leave pure numbers to `params`."};
  }
  const double best = context.best ? context.best->evaluation.speedup : 0;
  if (context.previous->evaluation.speedup < best * kRegressed) {
    return {
        false, false,
        "The previous attempt was correct but clearly slower than the best kernel, so its code is "
        "not shown. Do not repeat its idea. Start from the best kernel and try something else."};
  }
  return {
      false, true,
      "The previous attempt is correct and about as fast as the best kernel. Combine what is good "
      "in both, or attack what limits them."};
}

std::string repair_advice(Verdict verdict) {
  switch (verdict) {
  case Verdict::BadReply:
  case Verdict::BadPlan:
    return "Keep the idea of the previous attempt and mend what the message names.";
  case Verdict::CompileError:
    return "Keep the idea of the previous attempt and repair the compile errors.";
  case Verdict::Unsupported:
    return "Write the same idea without the construct that this device cannot run.";
  case Verdict::Timeout:
  case Verdict::OverLimit:
    return "Find the loop or the size that gets out of hand, or start again from a correct kernel.";
  case Verdict::WrongUnseen:
    return "The previous attempt fails a hidden shape. Check sizes that are not multiples of the "
           "tile, "
           "primes and size 1, and every condition of a `when`.";
  default:
    return "Find the cause of the failure first and mend it. If you cannot name the cause, start "
           "again "
           "from a correct kernel.";
  }
}

} // namespace

std::map<std::string, std::string> task_values(const tasks::Task& task, std::string_view device) {
  return {{"title", task.title},
          {"name", task.name},
          {"description", std::string(trim(task.description))},
          {"axes", axis_lines(task)},
          {"tensors", tensor_lines(task)},
          {"scalars", scalar_lines(task)},
          {"tolerance", tolerance_text(task.tolerance)},
          {"operations", task.operations.text()},
          {"bytes", task.bytes.text()},
          {"shapes", shape_lines(task, device)},
          {"index_range", index_range(task, device)},
          {"reference_python", std::string(trim(task.reference_python))}};
}

std::string facts_text(const tasks::DeviceFacts& facts) {
  return fmt::format("- `sm_count` = {}\n- `warp_size` = {}\n- `max_threads_per_block` = {}\n"
                     "- `max_shared_bytes` = {} (static and dynamic together, a block)\n"
                     "Largest grid: {} x {} x {} blocks; at most {} threads a launch.\n",
                     facts.sm_count, facts.warp_size, facts.max_threads_per_block,
                     facts.max_shared_bytes, facts.max_grid_x, facts.max_grid_y, facts.max_grid_z,
                     facts.max_threads_per_launch);
}

std::string fenced_code(std::string_view code) {
  if (trim(code).empty()) {
    return "(no kernel file)\n";
  }
  const std::string_view fence = code.find("```") == std::string_view::npos ? "```" : "~~~~";
  return fmt::format("{}cuda\n{}\n{}\n", fence,
                     truncate_text(to_valid_utf8(trim(code)), kMaxCodeBytes), fence);
}

std::string history_line(const Attempt& attempt) {
  const tasks::Evaluation& evaluation = attempt.evaluation;
  std::string line = fmt::format("- attempt {}: {}", attempt.number, to_string(evaluation.verdict));
  if (evaluation.speedup > 0) {
    line += fmt::format(", {:.2f}x", evaluation.speedup);
  }
  const bool hidden =
      evaluation.verdict == Verdict::WrongUnseen || evaluation.stage == tasks::Stage::Promotion;
  const auto lines = split_lines(trim(evaluation.detail));
  if (!hidden && evaluation.verdict != Verdict::Correct && !lines.empty()) {
    const std::string first = to_valid_utf8(lines.front().substr(0, kMaxHistoryDetailBytes));
    line += fmt::format(": {}", first);
  }
  return line;
}

Lesson lesson_of(const ProposalContext& context) {
  if (!context.previous) {
    return {false, false,
            context.best
                ? "Write a kernel that is faster than the best one so far, by an idea of its "
                  "own rather than by other numbers."
                : "Write a correct kernel that is faster than the baseline. Name the idea "
                  "first: what limits the baseline, and what your kernel does about it."};
  }
  const Verdict verdict = context.previous->evaluation.verdict;
  if (verdict == Verdict::Correct) {
    return lesson_of_correct(context);
  }
  if (wrong_again(context)) {
    return {false, false,
            "This line of work gave wrong results twice in a row, so its code is not shown. Start "
            "again "
            "from a kernel that is known to be correct."};
  }
  return {false, true, repair_advice(verdict)};
}

} // namespace winnow::agents
