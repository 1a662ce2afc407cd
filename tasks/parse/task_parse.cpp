#include "tasks/parse/task_parse.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "base/text/diagnostic.h"
#include "tasks/expression/toml_expression.h"
#include "tasks/inputs/input_generator.h"
#include "tasks/library/library_baseline.h"
#include "tasks/parse/generator_parse.h"
#include "tasks/parse/task_rules.h"
#include "tasks/plan/resolve/plan_resolve.h"
#include "tasks/reference/narrowing.h"
#include "tasks/skeleton/skeleton.h"
#include "tasks/task/baseline.h"
#include "tasks/task/csr_pattern.h"
#include "tasks/task/task.h"
#include "tasks/task/task_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace winnow::tasks {
namespace {

constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 40;
constexpr std::uint64_t kMaxFileBytes = 1U << 20U;
constexpr std::array kSets{ShapeSet::Tiny, ShapeSet::Search, ShapeSet::Promotion,
                           ShapeSet::HeldOut};

class TaskParser {
public:
  /// `intermediates`: see parse_tolerance().
  TaskParser(const TomlReader& root, std::vector<std::string> intermediates, Task& task)
      : root_(root), intermediates_(std::move(intermediates)), task_(task) {}

  void parse() {
    root_.allow_keys({"title", "description", "operations", "bytes", "special_functions", "axes",
                      "tensors", "scalars", "tolerance", "shapes", "library_baselines", "reference",
                      "source", "varied_axes"});
    task_.title = written("title");
    task_.description = written("description");
    task_.operations = read_expression(root_, "operations");
    task_.bytes = read_expression(root_, "bytes");
    if (root_.has("special_functions")) {
      task_.special_functions = read_expression(root_, "special_functions");
    }
    parse_reference();
    if (const auto source = root_.optional_table("source")) {
      source->allow_keys({"origin", "flags"});
      task_.source.origin = source->string("origin");
      task_.source.flags = source->has("flags") ? source->strings("flags") : task_.source.flags;
    }
    parse_axes();
    parse_varied_axes();
    parse_knobs();
    parse_tensors();
    check_axes(root_.table("axes"), task_);
    parse_scalars();
    task_.tolerance = parse_tolerance(root_.table("tolerance"), task_, intermediates_);
    task_.library_baselines = parse_library_baselines(root_, task_);
    const TomlReader shapes = root_.table("shapes");
    shapes.allow_keys({"tiny", "search", "promotion", "held_out"});
    for (const ShapeSet set : kSets) {
      parse_set(shapes, set);
    }
    check_hidden_shapes(shapes, task_);
  }

private:
  std::string written(std::string_view key) const {
    std::string text = root_.string(key);
    if (trim(text).starts_with(kToDo)) {
      root_.fail(key, fmt::format("'{}' is still to be written", key),
                 "a text for people and models in the place of the mark");
    }
    return text;
  }

  void declare(const TomlReader& table, const std::string& name) {
    static const std::vector<std::string> reserved = [] {
      Scope facts;
      bind_facts(DeviceFacts{}, facts);
      std::vector<std::string> names = facts.names();
      names.insert(names.end(), {"e", "pi", "inf", "true", "false", "sizeof", "resident_blocks"});
      return names;
    }();
    if (!is_identifier(name)) {
      table.fail(name, fmt::format("'{}' is not a name", to_valid_utf8(name)),
                 "letters, digits and '_', not starting with a digit");
    }
    if (contains(reserved, name)) {
      table.fail(name, fmt::format("the name '{}' is reserved", name), "another name");
    }
    if (!names_.insert(name).second) {
      table.fail(name, fmt::format("the name '{}' is used twice", name),
                 "different names for all axes, tensors and scalars");
    }
  }

  void parse_reference() {
    const auto reference = root_.optional_table("reference");
    if (!reference) {
      return;
    }
    reference->allow_keys({"kind", "mode", "knobs"});
    const std::string kind = reference->string("kind");
    if (kind != "torch" && kind != "kernel") {
      reference->fail_unknown("kind", "kind of reference", kind, {"kernel", "torch"});
    }
    const std::string mode = reference->string_or("mode", "eval");
    if (mode != "eval" && mode != "train") {
      reference->fail_unknown("mode", "mode of the module", mode, {"eval", "train"});
    }
    if (kind == "torch") {
      task_.torch.emplace();
      task_.torch->training = mode == "train";
    } else if (reference->has("mode")) {
      reference->fail("mode", "reference.cu has no mode", "mode with kind = \"torch\" only");
    }
  }

  void parse_axes() {
    const TomlReader axes = root_.table("axes");
    for (const auto& [name, at, description] : axes.members()) {
      declare(axes, name);
      task_.axes.push_back({name, axes.string(name)});
    }
    if (task_.axes.empty()) {
      root_.fail("axes", "the task has no axes", "at least one: name = \"description\"");
    }
  }

  void parse_varied_axes() {
    if (!root_.has("varied_axes")) {
      return;
    }
    if (task_.torch) {
      root_.fail("varied_axes", "a module may not run at other sizes",
                 "varied_axes in a task with reference.cu only");
    }
    task_.varied_axes = root_.strings("varied_axes");
    for (const std::string& name : task_.varied_axes) {
      if (!has_axis(name)) {
        root_.fail("varied_axes", fmt::format("the task has no axis '{}'", name), "axes of [axes]");
      }
    }
  }

  bool has_axis(const std::string& name) const {
    return std::any_of(task_.axes.begin(), task_.axes.end(),
                       [&](const Axis& known) { return known.name == name; });
  }

  void parse_knobs() {
    const auto reference = root_.optional_table("reference");
    const auto knobs = reference ? reference->optional_table("knobs") : std::nullopt;
    if (!knobs || !task_.torch) {
      return;
    }
    for (const auto& [name, at, value] : knobs->members()) {
      const std::string axis = knobs->string(name);
      if (!has_axis(axis)) {
        knobs->fail(name, fmt::format("the task has no axis '{}'", axis), "an axis of [axes]");
      }
      task_.torch->knobs[name] = axis;
    }
  }

  void parse_tensors() {
    const TomlReader tensors = root_.table("tensors");
    for (const auto& [name, at, tensor] : tensors.members()) {
      declare(tensors, name);
      task_.tensors.push_back(parse_tensor(tensors.table(name), name));
    }
    link_csr_columns(tensors, task_.tensors);
    for (const TensorSpec& tensor : task_.tensors) {
      if (names_.count(tensor.name + std::string(kMagnitudeSuffix)) != 0) {
        tensors.fail(
            tensor.name,
            fmt::format("the name '{}_magnitude' is reserved for reference.cu", tensor.name),
            "another name");
      }
    }
    const bool has_output =
        std::any_of(task_.tensors.begin(), task_.tensors.end(),
                    [](const TensorSpec& tensor) { return tensor.role != Role::Input; });
    if (!has_output) {
      root_.fail("tensors", "the task has no output", "a tensor with role = \"output\"");
    }
  }

  void parse_state(const TomlReader& table, TensorSpec& tensor) const {
    tensor.state = table.string_or("state", "");
    if (!tensor.state.empty() && (!task_.torch || tensor.role != Role::Input)) {
      table.fail("state", fmt::format("'{}' is the state of a PyTorch module", tensor.name),
                 "state for inputs of a task with [reference] kind = \"torch\" only");
    }
  }

  TensorSpec parse_tensor(const TomlReader& table, const std::string& name) const {
    table.allow_keys({"role", "dtype", "shape", "generator", "description", "static", "state"});
    TensorSpec tensor;
    tensor.name = name;
    tensor.role = parse_role(table);
    tensor.dtype = read_dtype(table, "dtype");
    tensor.shape = read_expressions(table, "shape");
    tensor.description = table.string_or("description", "");
    parse_state(table, tensor);
    tensor.is_static = table.boolean_or("static", false);
    if (tensor.is_static && tensor.role != Role::Input) {
      table.fail("static", fmt::format("{} '{}' is static", to_string(tensor.role), name),
                 "static inputs only: other tensors change in every run");
    }
    const auto generator = table.optional_table("generator");
    if (generator && tensor.role == Role::Output) {
      table.fail("generator", fmt::format("output '{}' has a generator", name),
                 "a generator for inputs and inouts only");
    }
    if (generator) {
      parse_generator(*generator, tensor);
      check_computed(*generator, tensor);
      if (!task_.torch) { // tasks from modules may have a doubt instead
        require_ranges(*generator, tensor);
      }
    } else if (tensor.role != Role::Output && !is_floating(tensor.dtype)) {
      table.fail(
          {}, fmt::format("'{}' has no generator", name),
          "a generator, such as generator = { kind = \"small_integers\", low = -4, high = 4 }");
    } else if (tensor.role != Role::Output) {
      tensor.generator = default_generator();
    }
    return tensor;
  }

  void check_computed(const TomlReader& generator, const TensorSpec& tensor) const {
    const bool is_state = !tensor.state.empty(); // the constructor computes it, once for many runs
    const bool may_be = task_.torch && tensor.role == Role::Input && tensor.is_static == is_state;
    if (is_computed(tensor) && !may_be) {
      generator.fail("kind", fmt::format("get_inputs() cannot compute '{}'", tensor.name),
                     "kind = \"reference\" for arguments of a PyTorch module that are neither "
                     "inout nor static, and for its static state");
    }
  }

  static Role parse_role(const TomlReader& table) {
    const std::string text = table.string("role");
    std::vector<std::string> known;
    for (const Role role : {Role::Input, Role::Output, Role::InOut}) {
      if (text == to_string(role)) {
        return role;
      }
      known.emplace_back(to_string(role));
    }
    table.fail_unknown("role", "role", text, known);
  }

  void parse_scalars() {
    const auto scalars = root_.optional_table("scalars");
    if (!scalars) {
      return;
    }
    for (const auto& [name, at, scalar] : scalars->members()) {
      declare(*scalars, name);
      task_.scalars.push_back(parse_scalar(scalars->table(name), name));
    }
  }

  static ScalarSpec parse_scalar(const TomlReader& table, const std::string& name) {
    table.allow_keys({"dtype", "value", "low", "high", "description"});
    ScalarSpec scalar;
    scalar.name = name;
    scalar.dtype = read_dtype(table, "dtype");
    const bool known = scalar.dtype == DType::F32 || scalar.dtype == DType::F64 ||
                       scalar.dtype == DType::I32 || scalar.dtype == DType::I64;
    if (!known) {
      table.fail("dtype", fmt::format("a scalar cannot have dtype {}", to_string(scalar.dtype)),
                 "f32, f64, i32 or i64");
    }
    scalar.value = checked_scalar(table, scalar, "value");
    scalar.low = table.has("low") ? checked_scalar(table, scalar, "low") : scalar.value;
    scalar.high = table.has("high") ? checked_scalar(table, scalar, "high") : scalar.value;
    scalar.description = table.string_or("description", "");
    if (scalar.low > scalar.value || scalar.value > scalar.high) {
      table.fail({},
                 fmt::format("value = {} is not in [low, high] = [{}, {}]", scalar.value,
                             scalar.low, scalar.high),
                 "low <= value <= high");
    }
    return scalar;
  }

  // A number of the scalar's type. A float is rounded to the type.
  static double checked_scalar(const TomlReader& table, const ScalarSpec& scalar,
                               std::string_view key) {
    const double value = table.number(key);
    const double limit = scalar.dtype == DType::I32 ? 0x1p31 : 0x1p53;
    if (!is_floating(scalar.dtype) &&
        (value != std::floor(value) || value < -limit || value >= limit)) {
      table.fail(key, fmt::format("{} = {} is not an {}", key, value, to_string(scalar.dtype)),
                 "a whole number that fits");
    }
    return rounded(scalar.dtype, value);
  }

  static double rounded(DType dtype, double value) {
    return dtype == DType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
  }

  void parse_set(const TomlReader& shapes, ShapeSet set) {
    const std::string set_name(to_string(set));
    int position = 0;
    for (const TomlReader& table : shapes.tables(set_name)) {
      Shape shape;
      shape.set = set;
      shape.id = fmt::format("{}/{}", set_name, position++);
      parse_shape(table, shape);
      check_shape(table, shape);
      task_.shapes.push_back(std::move(shape));
    }
    for (const std::string& device : device_kinds()) {
      if (task_.shapes_of(set, device).empty()) {
        shapes.fail(set_name, fmt::format("no shape of '{}' is for device '{}'", set_name, device),
                    "at least one for each of " + join(device_kinds(), ", "));
      }
    }
  }

  void parse_shape(const TomlReader& table, Shape& shape) const {
    std::vector<std::string> keys{"scalars", "devices"};
    for (const Axis& axis : task_.axes) {
      keys.push_back(axis.name);
      const std::int64_t value = table.integer(axis.name);
      if (value < 1 || value > kMaxTensorElements) {
        table.fail(axis.name, fmt::format("axis '{}' = {}", axis.name, value), "1 to 2^40");
      }
      shape.axes[axis.name] = value;
      shape.axis_order.push_back(axis.name);
    }
    table.allow_keys(keys);
    parse_shape_scalars(table, shape);
    if (table.has("devices")) {
      shape.devices = table.strings("devices");
      for (const std::string& device : shape.devices) {
        if (!contains(device_kinds(), device)) {
          table.fail("devices", fmt::format("unknown device '{}'", device),
                     "some of " + join(device_kinds(), ", "));
        }
      }
    }
  }

  void parse_shape_scalars(const TomlReader& table, Shape& shape) const {
    const auto stated = table.optional_table("scalars");
    std::vector<std::string> known;
    for (const ScalarSpec& scalar : task_.scalars) {
      known.push_back(scalar.name);
      const bool given = stated && stated->has(scalar.name);
      shape.scalars[scalar.name] = given ? checked_scalar(*stated, scalar, scalar.name)
                                   : is_hidden(shape.set) ? drawn(scalar, shape.id)
                                                          : scalar.value;
    }
    if (stated) {
      stated->allow_keys(known);
    }
  }

  // Draws a scalar of a hidden shape. Prompts never show this value; every run gets the same one.
  static double drawn(const ScalarSpec& scalar, const std::string& shape_id) {
    const std::string stream = shape_id + "/" + scalar.name;
    if (is_floating(scalar.dtype)) {
      const GeneratorSpec spec{GeneratorSpec::Kind::Uniform, scalar.low, scalar.high};
      return std::clamp(rounded(scalar.dtype, generate_element(spec, 0, stream, 0)), scalar.low,
                        scalar.high);
    }
    const GeneratorSpec spec{GeneratorSpec::Kind::SmallIntegers, scalar.low, scalar.high};
    return generate_element(spec, 0, stream, 0);
  }

  void check_shape(const TomlReader& table, const Shape& shape) const {
    Scope scope;
    bind_shape(task_, shape, scope);
    try {
      for (const TensorSpec& tensor : task_.tensors) {
        if (const std::int64_t count = element_count(tensor, shape); count > kMaxTensorElements) {
          table.fail({},
                     fmt::format("tensor '{}' has {} elements at this shape", tensor.name, count),
                     "at most 2^40");
        }
        generator_at(tensor, shape);
      }
      for (const LibraryBaseline& baseline : task_.library_baselines) {
        if (const std::string mistake = library_mistake(task_, baseline, shape); !mistake.empty()) {
          table.fail({}, mistake, "sizes of a library baseline that fit its tensors");
        }
      }
      check_positive(shape, scope);
    } catch (const ExpressionError& error) {
      table.fail({}, fmt::format("at this shape: {}", error.what()), error.expected());
    }
  }

  void check_positive(const Shape& shape, const Scope& scope) const {
    const auto check = [&](const TomlReader& table, const char* key, const Expression& cost) {
      if (const double value = cost.evaluate_float(scope); !(value > 0) || std::isinf(value)) {
        table.fail(key,
                   fmt::format("'{}' is {} at {} ({}): '{}'", key, value, shape.id,
                               to_string(shape), cost.text()),
                   "a number above 0");
      }
    };
    check(root_, "operations", task_.operations);
    check(root_, "bytes", task_.bytes);
    if (task_.special_functions) {
      check(root_, "special_functions", *task_.special_functions);
    }
    if (task_.tolerance.precision != Precision::Int) {
      const TomlReader tolerance = root_.table("tolerance");
      check(tolerance, "multiple", task_.tolerance.multiple);
      check(tolerance, "norm_multiple", task_.tolerance.norm_multiple);
    }
  }

  const TomlReader& root_;
  std::vector<std::string> intermediates_;
  Task& task_;
  std::set<std::string> names_;
};

constexpr const char* kReference = "reference.cu";

bool has_part(const std::filesystem::path& folder, const char* name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / name, ignored);
}

std::string read_part(const std::filesystem::path& folder, const char* name) {
  if (!has_part(folder, name)) {
    throw UsageError(fmt::format("{}: no such file; expected a task folder to hold task.toml, "
                                 "reference.cu, baseline.cu and reference.py",
                                 (folder / name).string()));
  }
  return read_task_file(folder, folder / name, kMaxFileBytes);
}

/// What speedups are against is one thing for all devices: the task's baselines, or PyTorch eager.
void require_baseline_of_gpus(const std::filesystem::path& folder) {
  if (has_part(folder, kCpuBaselineFile) && !has_part(folder, kBaselineFile)) {
    throw UsageError(fmt::format("{}: there is no {} beside it; expected a baseline for GPUs, too",
                                 (folder / kCpuBaselineFile).string(), kBaselineFile));
  }
}

std::string digest_of(const TaskTexts& texts) {
  std::string all;
  std::vector<const std::string*> parts{&texts.task_toml, &texts.reference, &texts.baseline,
                                        &texts.reference_python};
  if (!texts.cpu_baseline.empty()) { // without the file, the digest is that of earlier versions
    parts.push_back(&texts.cpu_baseline);
  }
  for (const std::string* text : parts) {
    all += fmt::format("{}\n{}", text->size(), *text); // the sizes separate the texts
  }
  return sha256_hex(all);
}

} // namespace

Task parse_task(TaskTexts texts, const std::string& file) {
  Task task;
  const std::string reference = (std::filesystem::path(file).parent_path() / kReference).string();
  TaskParser(TomlReader::parse(texts.task_toml, file),
             narrow_names(narrow_marks(texts.reference, reference)), task)
      .parse();
  task.digest = digest_of(texts);
  task.task_toml = std::move(texts.task_toml);
  task.reference = std::move(texts.reference);
  task.baseline = std::move(texts.baseline);
  task.reference_python = std::move(texts.reference_python);
  task.cpu_baseline = std::move(texts.cpu_baseline);
  return task;
}

Task load_task(const std::filesystem::path& folder) {
  const auto optional_part = [&folder](const char* name) {
    return has_part(folder, name) ? read_part(folder, name) : std::string();
  };
  TaskTexts texts{read_part(folder, "task.toml"), optional_part(kReference),
                  optional_part(kBaselineFile), read_part(folder, "reference.py"),
                  optional_part(kCpuBaselineFile)};
  Task task = parse_task(std::move(texts), (folder / "task.toml").string());
  if (!task.torch) {
    read_part(folder, kReference); // says what is missing
    read_part(folder, kBaselineFile);
  } else if (has_part(folder, kReference)) {
    throw UsageError(fmt::format("{}: the reference of this task is the PyTorch module in "
                                 "reference.py; remove this file, or [reference] in task.toml",
                                 (folder / kReference).string()));
  }
  require_baseline_of_gpus(folder);
  const std::filesystem::path absolute =
      (std::filesystem::absolute(folder) / "").lexically_normal().parent_path();
  task.folder = folder;
  task.name = absolute.filename().string();
  task.category = absolute.parent_path().filename().string();
  return task;
}

} // namespace winnow::tasks
