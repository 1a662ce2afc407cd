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

/// The sparse matrix of a generator: `rows` and `columns` are expressions over axes.
struct CsrPattern {
  std::string pointers; ///< the tensor of row pointers
  Expression rows;      ///< empty in a tensor of column indices until link_csr_columns()
  Expression columns;
};

struct TensorSpec {
  std::string name;
  Role role = Role::Input;
  DType dtype = DType::F32;
  std::vector<Expression> shape; ///< over axes and integer scalars, row-major
  GeneratorSpec generator;       ///< inputs and inouts only; generator_at() adds the extent
  std::string description;
  bool is_static = false; ///< inputs only: the same over many runs; a plan may prepare it once
  /// Inputs of a task with a TorchReference only: the name of the module's parameter or buffer that
  /// holds the tensor, such as "conv.weight". Empty: an argument of forward().
  std::string state = {};
  Expression generator_extent = {};   ///< over axes: `a` of Index, Permutation, OneHot, Csr*
  std::optional<CsrPattern> csr = {}; ///< generators CsrRows and CsrColumns only
};

/// The reference computes this input (GeneratorSpec::Kind::Reference): no generator draws it.
bool is_computed(const TensorSpec& tensor);

/// A by-value argument. Hidden shapes draw new values from [low, high].
struct ScalarSpec {
  std::string name;
  DType dtype = DType::F32; ///< F32, F64, I32 or I64
  double value = 0;         ///< in shapes that state no value of their own
  double low = 0;
  double high = 0;
  std::string description;
};

/// The use of a shape. `tiny`: correctness on every device. `search`: shown to the model.
/// `promotion`: hidden; a candidate must pass it to become the best of its archive. `held_out`:
/// hidden; used only for the final report.
enum class ShapeSet : std::uint8_t { Tiny = 1, Search = 2, Promotion = 3, HeldOut = 4 };
std::string_view to_string(ShapeSet set);
bool is_hidden(ShapeSet set);

struct Shape {
  std::string id; ///< "search/1": set and position from 0 in task.toml
  ShapeSet set = ShapeSet::Tiny;
  std::map<std::string, std::int64_t> axes;
  std::map<std::string, double> scalars;    ///< has every scalar of the task
  std::vector<std::string> devices;         ///< device kinds of the shape ("cpu"); empty: all
  std::vector<std::string> axis_order = {}; ///< the order in task.toml; empty: by name
};

/// The position of the shape in its set, from 0.
std::size_t position_in_set(const Shape& shape);
/// For instance "rows=64, cols=1000, eps=1e-05".
std::string to_string(const Shape& shape);
/// For instance "1e-05".
std::string scalar_text(double value);

/// The error limits of floating outputs.
/// An element may differ from the reference by at most multiple * epsilon(accumulate) * magnitude +
/// epsilon(dtype) / 2 * |expected| + absolute. The reference kernel writes the magnitude.
/// Let r be the difference minus the last two terms, divided by epsilon(accumulate) * magnitude.
/// The rms of r over all elements may be at most norm_multiple.
struct Tolerance {
  Precision precision = Precision::F32;  ///< the task's class; Int: all outputs are integers
  Precision accumulate = Precision::F32; ///< the precision of sums
  Expression multiple;                   ///< float expression over axes, e.g. "8 + 2 * sqrt(k)"
  Expression norm_multiple;              ///< float expression; by default a quarter of `multiple`
  double absolute = 0;
  bool nan_allowed = false; ///< NaN is right if the reference has NaN
  bool reproducible = true; ///< two runs on the same input must give identical bits
  /// Intermediates, by their name in reference.cu, that a kernel may round to a coarser format.
  std::map<std::string, Precision> allows;
};

/// The precision of a library's products and sums. TF32 rounds f32 factors; I32 is for integers.
enum class LibraryCompute : std::uint8_t { F32 = 1, TF32 = 2, I32 = 3 };
std::string_view to_string(LibraryCompute compute);

/// A vendor library's version of the task. All matrices are row-major, CSR matrices are m x k.
///
/// | library  | operation | operands                               | result                       |
/// |----------|-----------|----------------------------------------|------------------------------|
/// | cublaslt | matmul    | a, b, c                                | c = alpha * a b, `batch`     |
/// |          |           |                                        | times; a is m x k, b is k x  |
/// |          |           |                                        | n, or n x k if transposed    |
/// | cufft    | fft       | a, c                                   | c = the transforms of `batch`|
/// |          |           |                                        | rows of n complex numbers    |
/// | cusparse | spmv      | row_pointers, columns, values, b, c    | c = alpha * A b + beta *     |
/// |          |           |                                        | added; b and c are vectors   |
/// | cusparse | spmm      | row_pointers, columns, values, b, c    | c = alpha * A b; b is k x n  |
struct LibraryBaseline {
  std::string library;
  std::string operation;
  std::vector<std::string> operands;   ///< tensors; the last one is the result
  std::string added;                   ///< tensor; empty: nothing is added
  Expression m, n, k, batch, nonzeros; ///< 1 where the operation has no such size
  bool b_transposed = false;
  Expression inverse; ///< not 0: the inverse transform, which is not scaled
  LibraryCompute compute = LibraryCompute::F32;
  Expression alpha, beta; ///< float expressions
};

/// The reference is the PyTorch module `Model` in reference.py, run in float64. There is no
/// reference.cu.
struct TorchReference {
  bool training = false; ///< the module's mode: true uses the statistics of the batch in BatchNorm
  std::map<std::string, std::string> knobs; ///< integers of reference.py that get an axis's value
};

/// From where a task was imported.
struct TaskSource {
  std::string origin;             ///< for people; empty: the task was written for Winnow
  std::vector<std::string> flags; ///< that its import found: doubts about the task, or "scaled"
};

/// Whether an import has cut the sizes. That is no doubt about the task.
bool is_scaled(const std::vector<std::string>& flags);
/// Whether there is a flag beside "scaled".
bool has_doubts(const std::vector<std::string>& flags);

/// A task: the files of a folder catalogue/<category>/<name>/.
struct Task {
  std::string name;
  std::string category;
  std::string title;
  std::string description; ///< of the computation, for people and models
  std::filesystem::path folder;
  std::vector<Axis> axes;
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
  Tolerance tolerance;
  Expression operations; ///< float expression over axes: arithmetic operations in one run
  Expression bytes;      ///< float expression over axes: the least bytes that a run must move
  /// Float expression over axes: calls of exp, rsqrt and the like, where they may limit a kernel.
  std::optional<Expression> special_functions;
  std::vector<LibraryBaseline> library_baselines;
  std::vector<Shape> shapes;
  /// Axes whose sizes at hidden shapes the judge may change (varied_shape.h).
  std::vector<std::string> varied_axes;
  std::string task_toml; ///< text of task.toml
  TaskSource source;
  std::optional<TorchReference> torch; ///< nullopt: the reference is reference.cu
  std::string reference;               ///< text of reference.cu; empty with `torch`
  std::string baseline;     ///< text of baseline.cu; may be empty with `torch`: then speedups are
                            ///< against PyTorch eager. See take_baseline_of()
  std::string cpu_baseline; ///< text of baseline.cpu.cu; empty: the task has no such file
  std::string gpu_baseline; ///< text of baseline.cu while `baseline` is that of baseline.cpu.cu
  std::string reference_python; ///< text of reference.py
  std::string digest;           ///< sha256 over the files; changes with every edit of the task

  /// The shapes of the set for `device` ("cpu", "cuda", "hip"), in file order.
  std::vector<Shape> shapes_of(ShapeSet set, std::string_view device) const;
  const TensorSpec* find_tensor(std::string_view name) const;
};

/// The texts of a task's files.
struct TaskTexts {
  std::string task_toml;
  std::string reference;         ///< reference.cu; empty if the reference is a PyTorch module
  std::string baseline;          ///< baseline.cu; may be empty then
  std::string reference_python;  ///< reference.py
  std::string cpu_baseline = {}; ///< baseline.cpu.cu; empty: there is none
};
/// "cpu", "cuda", "hip": the values that `devices` of a shape may have.
const std::vector<std::string>& device_kinds();
/// "cpu, cuda or hip" with `last` = " or ".
std::string device_words(std::string_view last = ", ");

/// The number of elements of a tensor at a shape, checked for overflow. Throws ExpressionError.
std::int64_t element_count(const TensorSpec& tensor, const Shape& shape);
/// Its bytes, which may be more than 64 bits count. Throws ExpressionError.
double tensor_bytes(const TensorSpec& tensor, const Shape& shape);
/// how_to_read() of each of the task's dtypes that has such a sentence.
std::vector<std::string_view> code_sentences(const Task& task);
/// The generator with its numbers at the shape. Throws ExpressionError if they are out of range.
GeneratorSpec generator_at(const TensorSpec& tensor, const Shape& shape);
/// Puts the axes and scalars of `shape` into `scope`. Integer scalars stay integers.
void bind_shape(const Task& task, const Shape& shape, Scope& scope);

/// What reference_view() adds to the name of an output for the tensor of its magnitudes.
inline constexpr std::string_view kMagnitudeSuffix = "_magnitude";

/// The task for the reference kernel: every floating output `y` becomes an F64 tensor and gets a
/// companion output `y_magnitude` (F64, same shape). The error limit scales with the magnitude.
Task reference_view(const Task& task);

} // namespace winnow::tasks
