#include "base/error.h"
#include "base/parallel.h"
#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/selftest/trials.h"
#include "tasks/reference/narrowing.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace winnow::evaluators {
namespace {

// As for the other mutants that a shape must reject alone: the error of one output is random.
constexpr int kAllowedInputs = 5;
// With some distributions of the inputs an intermediate is so small that its rounding does not
// show.
constexpr int kMostNarrowInputs = 20;

std::vector<tasks::Shape> timed_sizes(const TaskOnDevice& on_device,
                                      const SelftestOptions& options) {
  const tasks::Task& task = on_device.task;
  const std::string& device = on_device.host->device.kind;
  std::vector<tasks::Shape> shapes = task.shapes_of(tasks::ShapeSet::Search, device);
  const std::vector<tasks::Shape> hidden = task.shapes_of(tasks::ShapeSet::Promotion, device);
  const auto largest = std::max_element(
      hidden.begin(), hidden.end(), [&](const tasks::Shape& left, const tasks::Shape& right) {
        return input_elements(task, left) < input_elements(task, right);
      });
  if (input_elements(task, *largest) <= options.max_input_elements) {
    shapes.push_back(*largest);
  }
  return shapes;
}

constexpr const char* kSetKernel = "winnow_set_narrowing";
constexpr const char* kRoundFunction = "winnow_narrowed";

// Adding a number whose last bit is the spacing of the format rounds to nearest, ties to even. A
// value that is too large becomes the largest of an 8-bit format, and infinite in a wider one.
constexpr const char* kDeviceCode = R"(
struct WinnowNarrowing {
  int name, mantissa_bits, least_exponent;
  double largest;
};
__device__ WinnowNarrowing winnow_narrowing;
extern "C" __global__ void winnow_set_narrowing(int name, int mantissa_bits, int least_exponent,
                                                double largest) {
  winnow_narrowing.name = name;
  winnow_narrowing.mantissa_bits = mantissa_bits;
  winnow_narrowing.least_exponent = least_exponent;
  winnow_narrowing.largest = largest;
}
__device__ inline double winnow_narrowed(int name, double value) {
  const double size = fabs(value);
  if (name != winnow_narrowing.name || !(size <= 1.7976931348623157e308)) {
    return value;
  }
  const double largest = winnow_narrowing.largest;
  double rounded = size;
  if (size < 2 * largest) {
    int exponent = (int)(__double_as_longlong(size) >> 52) - 1023;
    exponent = exponent < winnow_narrowing.least_exponent ? winnow_narrowing.least_exponent
                                                          : exponent;
    const long long shift = 1023 + 52 + exponent - winnow_narrowing.mantissa_bits;
    const double big = 1.5 * __longlong_as_double(shift << 52);
    rounded = (size + big) - big;
  }
  if (rounded > largest) {
    rounded = winnow_narrowing.mantissa_bits < 7 ? largest
                                                 : __longlong_as_double(0x7ff0000000000000LL);
  }
  return value < 0 ? -rounded : rounded;
}
)";

tasks::PlanExpression number(const std::string& text) {
  return {tasks::Expression::parse(text), {}};
}

tasks::Launch set_narrowing(std::size_t name, const tasks::FloatFormat& format) {
  tasks::KernelLaunch launch;
  launch.kernel = kSetKernel;
  launch.grid = {number("1")};
  launch.block = {number("1")};
  launch.arguments = {tasks::IntegerArgument{number(std::to_string(name))},
                      tasks::IntegerArgument{number(std::to_string(format.mantissa_bits))},
                      tasks::IntegerArgument{number(std::to_string(format.least_exponent))},
                      tasks::FloatArgument{number(fmt::format("{:.17e}", format.largest))}};
  tasks::Launch first;
  first.what = std::move(launch);
  return first;
}

tasks::KernelFile parse_narrowed(const tasks::Task& task) {
  const std::string path = (task.folder / "reference.cu").string();
  const std::vector<tasks::NarrowMark> marks = tasks::narrow_marks(task.reference, path);
  tasks::KernelFileResult parsed =
      tasks::parse_kernel_file(tasks::with_calls(task.reference, marks, kRoundFunction), path);
  if (!parsed.kernel_file) {
    throw UsageError(to_string(parsed.errors.front()), "correct this file of the task");
  }
  parsed.kernel_file->source = kDeviceCode + parsed.kernel_file->source;
  return std::move(*parsed.kernel_file);
}

/// reference.cu with intermediates that are rounded to coarser formats (narrowing.h). One
/// module serves all narrowings of a task: a first launch, which each plan adds, tells the module
/// what to round.
class NarrowedReference {
public:
  /// Compiles reference.cu for these shapes. Throws Error.
  NarrowedReference(TaskOnDevice& on_device, const std::vector<tasks::Shape>& shapes)
      : names_(tasks::narrow_names(tasks::narrow_marks(on_device.task.reference, "reference.cu"))),
        text_(parse_narrowed(on_device.task)) {
    compiled_.file = file_for(tasks::narrowings_of(on_device.task).front());
    on_device.own_kernel(compiled_.file, on_device.reference_task, shapes, compiled_.built);
  }

  NarrowedReference(const NarrowedReference&) = delete; // its kernels point at its files
  NarrowedReference& operator=(const NarrowedReference&) = delete;

  /// The reference with this narrowing; valid as long as this object.
  const BuiltKernel& with(const tasks::Narrowing& narrowing) {
    const auto [known, is_new] = variants_.try_emplace(to_string(narrowing));
    Variant& variant = known->second;
    if (is_new) {
      variant.file = file_for(narrowing);
      variant.built = compiled_.built;
      variant.built.file = &variant.file;
      variant.built.plans.clear();
    }
    return variant.built;
  }

private:
  tasks::KernelFile file_for(const tasks::Narrowing& narrowing) const {
    const auto name = std::find(names_.begin(), names_.end(), narrowing.name);
    tasks::KernelFile file = text_;
    file.plan.launches.insert(file.plan.launches.begin(),
                              set_narrowing(static_cast<std::size_t>(name - names_.begin()),
                                            tasks::format_of(narrowing.format)));
    return file;
  }

  std::vector<std::string> names_;
  tasks::KernelFile text_; ///< its marks are calls; its plan lacks the first launch
  struct Variant {
    tasks::KernelFile file;
    BuiltKernel built;
  };
  Variant compiled_;                        ///< rounds one of them; the others share its module
  std::map<std::string, Variant> variants_; ///< by to_string(Narrowing); `built` points at `file`
};

/// Judges the answers of references with narrowed intermediates at the sizes that are timed.
class NarrowTrial {
public:
  /// The task must have marks.
  NarrowTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options),
        shapes_(timed_sizes(on_device, options)), reference_(on_device, shapes_) {}

  /// One result for each narrowing at each search shape and, if its inputs are not too many for
  /// SelftestOptions::max_input_elements, the largest promotion shape. Throws Error when
  /// reference.cu or the judge fails.
  std::vector<NarrowResult> run() {
    std::vector<NarrowResult> results;
    for (const tasks::Shape& shape : shapes_) {
      for (NarrowResult& result : run_shape(shape)) {
        results.push_back(std::move(result));
      }
    }
    return results;
  }

private:
  std::vector<NarrowResult> run_shape(const tasks::Shape& shape) {
    std::vector<NarrowResult> results;
    for (tasks::Narrowing& narrowing : tasks::narrowings_of(on_device_.task)) {
      NarrowResult& result = results.emplace_back();
      result.narrowing = std::move(narrowing);
      result.shape_id = shape.id;
    }
    std::map<const NarrowResult*, int> inputs;
    runner_.settle(
        shape, options_.seed, kMostNarrowInputs, results, [&](Drawn& drawn, NarrowResult& result) {
          const bool is_final = settle(drawn, result);
          return is_final || (result.narrowing.is_allowed && ++inputs[&result] == kAllowedInputs);
        });
    return results;
  }
  /// True when the result is final and no other inputs are needed.
  bool settle(const Drawn& drawn, NarrowResult& result) {
    const tasks::Shape& shape = drawn.inputs.shape;
    tasks::HostTensors outputs;
    bool is_changed = false;
    const auto fault = runner_.look(
        reference_.with(result.narrowing), drawn.inputs, ReferenceRun::Parts::Outputs,
        [&](std::span<const ReferenceRun::Seen> parts) {
          for (const ReferenceRun::Seen& part : parts) {
            is_changed =
                is_changed || !equal_in_parts(part.bytes, drawn.right.outputs.at(part.name).bytes);
            round_output(on_device_.task, shape, part, outputs[part.name]);
          }
        });
    if (fault) {
      result.state = NarrowResult::State::Rejected;
      result.verdict = fault->verdict;
      return true;
    }
    if (!is_changed) {
      return false; // other inputs may be applicable
    }
    const JudgeReply reply =
        runner_.judge(shape, drawn.seed, poison_salt(drawn.seed), outputs, false);
    const bool is_rejected = reply.verdict != tasks::Verdict::Correct;
    if (is_rejected) {
      result.ratios = {};
    }
    result.ratios.add(reply.ratios);
    result.verdict = reply.verdict;
    result.state = is_rejected ? NarrowResult::State::Rejected : NarrowResult::State::Accepted;
    return is_rejected;
  }

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  std::vector<tasks::Shape> shapes_;
  NarrowedReference reference_;
};

} // namespace

std::vector<NarrowResult> try_narrowings(TaskOnDevice& on_device, ReferenceRun& runner,
                                         const SelftestOptions& options) {
  return NarrowTrial(on_device, runner, options).run();
}

bool is_as_stated(const NarrowResult& result) {
  using enum MutantResult::State;
  return result.state == NotApplicable ||
         result.state == (result.narrowing.is_allowed ? Accepted : Rejected);
}

} // namespace winnow::evaluators
