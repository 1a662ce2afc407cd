#pragma once

#include "tasks/expression/expression.h"
#include "tasks/inputs/dtype.h"
#include "tasks/inputs/generator_core.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace winnow::tasks {

enum class Role : std::uint8_t { Input = 1, Output = 2, InOut = 3 };
std::string_view to_string(Role role);

struct Axis {
  std::string name;
  std::string description;
};

struct TensorSpec {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::vector<Expression> shape; ///< over axes and integer scalars, row-major
  GeneratorSpec generator;       ///< inputs and inouts only; see generator_at()
  std::string description;
  bool is_static = false; ///< inputs only: the same over many runs, so a plan may prepare it once
  Expression generator_extent = {}; ///< over axes: `a` of Index, Permutation, OneHot; else empty
};

/// A by-value argument. Hidden shapes draw new values from [low, high].
struct ScalarSpec {
  std::string name;
  DType dtype = DType::F32; ///< F32, F64, I32 or I64
  double value = 0;         ///< in shapes that state no value of their own
  double low = 0;
  double high = 0;
  std::string description;
};

/// Which shapes: `tiny` (correctness, every device), `search` (shown to the model), `promotion`
/// (hidden, gates the archive's top), `held_out` (hidden, for the final report only).
enum class ShapeSet : std::uint8_t { Tiny = 1, Search = 2, Promotion = 3, HeldOut = 4 };
std::string_view to_string(ShapeSet set);
bool is_hidden(ShapeSet set);

struct Shape {
  std::string id; ///< "search/1": set and position from 0 in task.toml
  ShapeSet set = ShapeSet::Tiny;
  std::map<std::string, std::int64_t> axes;
  std::map<std::string, double> scalars;    ///< every scalar of the task has a value here
  std::vector<std::string> devices;         ///< device kinds it is meant for ("cpu"); empty: all
  std::vector<std::string> axis_order = {}; ///< as the task lists them; empty: by name
};

/// "rows=64, cols=1000, eps=1e-05"
std::string to_string(const Shape& shape);
/// A scalar in it: "1e-05".
std::string scalar_text(double value);

/// An element of a floating output may differ from the reference by at most
/// multiple * epsilon(accumulate) * magnitude + epsilon(dtype) / 2 * |expected| + absolute, where
/// the reference writes the magnitude. What is left of the difference without the last two terms,
/// over epsilon(accumulate) * magnitude, may have an rms over all elements of norm_multiple.
struct Tolerance {
  Precision precision = Precision::F32;  ///< the task's class; Int: all outputs are integers
  Precision accumulate = Precision::F32; ///< in which sums are formed
  Expression multiple;                   ///< float expression over axes, e.g. "8 + 2 * sqrt(k)"
  Expression norm_multiple; ///< the same; a quarter of `multiple` where the task states none
  double absolute = 0;
  bool nan_allowed = false; ///< NaN is right where the reference has it
  bool reproducible = true; ///< two runs on the same input must give the same bits
};

/// In what a library multiplies and adds. TF32 rounds f32 factors; I32 is for integers.
enum class LibraryCompute : std::uint8_t { F32 = 1, TF32 = 2, I32 = 3 };
std::string_view to_string(LibraryCompute compute);

/// The task's operation as a vendor's library has it: c = alpha * a b, for row-major a (m x k), b
/// (k x n, or n x k where it is transposed) and c (m x n).
struct LibraryBaseline {
  std::string library;   ///< "cublaslt"
  std::string operation; ///< "matmul"
  std::string a, b, c;   ///< tensors
  Expression m, n, k;
  bool b_transposed = false;
  LibraryCompute compute = LibraryCompute::F32;
  Expression alpha; ///< float expression
};

/// A problem: the four files of a folder catalogue/<category>/<name>/.
struct Task {
  std::string name;
  std::string category;
  std::string title;
  std::string description; ///< what is computed, for people and models
  std::filesystem::path folder;
  std::vector<Axis> axes;
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
  Tolerance tolerance;
  Expression operations; ///< float expression over axes: arithmetic operations of one run
  Expression bytes;      ///< float expression over axes: bytes that must move at least
  std::vector<LibraryBaseline> library_baselines;
  std::vector<Shape> shapes;
  std::string reference;        ///< text of reference.cu
  std::string baseline;         ///< text of baseline.cu
  std::string reference_python; ///< text of reference.py
  std::string digest;           ///< sha256 over the four files: identifies the task's revision

  /// In file order; only those meant for `device` ("cpu", "cuda", "hip").
  std::vector<Shape> shapes_of(ShapeSet set, std::string_view device) const;
  const TensorSpec* find_tensor(std::string_view name) const;
};

/// Loads and validates one folder. Throws UsageError with file:line:column: what; expected ...
/// (unknown keys with the nearest match, wrong types, expressions that do not parse, a shape that
/// lacks an axis, a tensor that would be empty or over 2^40 elements, missing files).
Task load_task(const std::filesystem::path& folder);

struct TaskTexts {
  std::string task_toml;
  std::string reference;        ///< reference.cu
  std::string baseline;         ///< baseline.cu
  std::string reference_python; ///< reference.py
};
/// The same from texts; `file` names task.toml in messages. Leaves name, category and folder empty.
Task parse_task(TaskTexts texts, const std::string& file);

/// "cpu", "cuda", "hip": what `devices` of a shape may name.
const std::vector<std::string>& device_kinds();

/// Elements of a tensor at a shape (checked product). Throws ExpressionError.
std::int64_t element_count(const TensorSpec& tensor, const Shape& shape);
/// How the tensor is drawn at a shape. Throws ExpressionError.
GeneratorSpec generator_at(const TensorSpec& tensor, const Shape& shape);
/// Sets the axes and scalars of `shape` (integer scalars as integers) in `scope`.
void bind_shape(const Task& task, const Shape& shape, Scope& scope);

/// The catalogue: $WINNOW_CATALOGUE, or tasks/catalogue found from the working directory upwards,
/// or from the program's own path upwards (../../tasks/catalogue, ../share/winnow/catalogue).
/// Throws UsageError saying where it looked.
std::filesystem::path find_catalogue();

struct CatalogueEntry {
  std::string name;
  std::string category;
  std::filesystem::path folder;
};
/// Every task folder below `catalogue`, sorted by category and name (files are not parsed).
std::vector<CatalogueEntry> list_tasks(const std::filesystem::path& catalogue);
/// By name, category/name, or path of a folder. Throws UsageError with the nearest match.
Task find_task(const std::filesystem::path& catalogue, std::string_view name);

/// The task as its reference kernel sees it: every floating output `y` is an F64 tensor and has a
/// companion output `y_magnitude` (F64, same shape), with which the error bound scales.
Task reference_view(const Task& task);

} // namespace winnow::tasks
