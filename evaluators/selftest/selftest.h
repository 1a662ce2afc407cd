#pragma once

#include "evaluators/evaluation/evaluation_options.h"
#include "evaluators/judge/compare.h"
#include "evaluators/messages/protocol.h"
#include "tasks/mutants/mutants.h"
#include "tasks/reference/narrowing.h"
#include "tasks/task/host_tensor.h"
#include "tasks/task/task.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

struct DeviceHost;
struct TaskOnDevice;
class ReferenceRun;

struct SelftestOptions {
  EvaluationOptions evaluation; ///< device, cache, isolation, time limit of one run
  std::uint64_t seed = 1;       ///< the first seed; the other seeds follow it
  int seeds = 5;                ///< inputs per shape for honest kernels
  /// Called before each part with its name: "mutants, search shapes", "baseline.cu BLOCK=128".
  std::function<void(const std::string&)> progress;
  /// Limit for the elements of all inputs of a shape. Above it, mutants that need to be rejected
  /// only by the set are not run: there are many mutants, and the host changes their inputs.
  std::int64_t max_input_elements = std::int64_t{1} << 22U;
};

/// The result of one mutant on one set of shapes. A candidate must pass all shapes of a set, so it
/// is enough that one shape rejects the mutant. For a mutant that every shape must reject, there is
/// one result per shape.
struct MutantResult {
  enum class State : std::uint8_t { Rejected, Accepted, NotApplicable };
  tasks::Mutant mutant;
  tasks::ShapeSet set = tasks::ShapeSet::Tiny;
  State state = State::NotApplicable;
  /// Rejected: the shape that rejected it. Accepted: the shape with the largest error.
  std::string shape_id;
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< the judge's verdict at that shape
  double max_error_ratio = 0;                         ///< at that shape; above 1 is wrong
  std::string why; ///< NotApplicable: the reason. Accepted: its answers were right, if they were
};
std::string_view to_string(MutantResult::State state);

/// The result of one reference with narrowed intermediates at one shape.
struct NarrowResult {
  using State = MutantResult::State;
  tasks::Narrowing narrowing;
  State state = State::NotApplicable; ///< NotApplicable: the rounding changes no answer
  std::string shape_id;
  tasks::Verdict verdict = tasks::Verdict::NotJudged;
  ErrorRatios ratios; ///< Rejected: of the inputs that rejected it. Accepted: of all inputs
};
/// Whether the task tells the truth about it: accepted if task.toml allows it, else rejected.
bool is_as_stated(const NarrowResult& result);

/// The errors of a kernel at one search shape, with the first seed.
struct MeasuredErrors {
  std::string shape_id;
  ErrorRatios ratios;
};

/// The result of one kernel file with one choice of parameters, at every shape of the device.
struct KernelResult {
  enum class State : std::uint8_t { Accepted, Rejected, Unsupported };
  /// "baseline.cu", "honest/kahan.cu" or "wrong/fixed_shift.cu"; "reference.cu" stands for its
  /// answers, rounded once;
  /// "reference.py in its own dtypes" for the answers of a PyTorch module.
  std::string file;
  tasks::ParameterChoice parameters;
  State state = State::Accepted;
  int cases = 0;              ///< judged pairs of shape and seed
  double max_error_ratio = 0; ///< over all cases
  std::string detail;         ///< unless accepted: the reason and the shape
  tasks::Verdict verdict = tasks::Verdict::Correct;
  std::vector<MeasuredErrors> measured = {}; ///< of kernel files that ran at search shapes
  double run_seconds = 0; ///< wall time of its judged runs, beside those of other tasks
};
std::string_view to_string(KernelResult::State state);

/// The outputs of reference.cu, not rounded.
struct ReferenceAnswer {
  tasks::HostTensors outputs;    ///< by the task's names; f64, or the task's integer type
  tasks::HostTensors magnitudes; ///< magnitudes of the floating outputs, under the same names
};

class AheadCompiler;

/// Tests whether a task tells correct kernels from wrong ones. It runs mutants of the reference and
/// honest kernels, and asks the judge that also judges candidates. One device; one thread at a
/// time.
class Selftest {
public:
  /// Throws Error when the task's own files are broken or a shape does not fit into the device's
  /// memory.
  Selftest(const tasks::Task& task, std::shared_ptr<DeviceHost> host, SelftestOptions options);
  ~Selftest();
  Selftest(const Selftest&) = delete; // owns the judge
  Selftest& operator=(const Selftest&) = delete;

  /// Runs every mutant on every set of shapes, or on every shape, with as many inputs as an
  /// evaluation uses. PyTorch computes the mutants of a module. Throws Error when the reference or
  /// the judge fails.
  std::vector<MutantResult> mutants();
  /// Judges the rounded answers of reference.cu and every variant of baseline.cu and of each kernel
  /// file in the task's folder honest/. Also times the first variant of each file and rejects it if
  /// it is faster than the task's `operations` and `bytes` allow. Throws Error when a file cannot
  /// be parsed or the judge fails.
  std::vector<KernelResult> honest();
  /// Judges references with narrowed intermediates (narrowing.h). Throws Error when the
  /// reference or the judge fails.
  std::vector<NarrowResult> narrowed();
  /// Judges every variant of each kernel file in the task's folder wrong/ as a candidate, in
  /// several evaluations. All must reject it: a kernel that is right by luck now and then gets onto
  /// a board. Throws Error when a file does not compile or its name begins with none of
  /// wrong_kernel_kinds().
  std::vector<KernelResult> wrong();
  /// Probable mistakes in task.toml: tasks::doubts_of(), and `operations` that do not fit the loads
  /// and stores of reference.cu.
  std::vector<std::string> doubts();

  /// The answer of reference.cu for the inputs of `seed`. Throws Error when reference.cu fails.
  ReferenceAnswer reference(const tasks::Shape& shape, std::uint64_t seed);
  /// `outputs`: elements of the task's dtypes. Throws Error when the judge cannot answer.
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed,
                   const tasks::HostTensors& outputs);

private:
  void tell(const std::string& part) const;

  SelftestOptions options_;
  std::unique_ptr<TaskOnDevice> on_device_;
  std::unique_ptr<ReferenceRun> runner_;
  std::optional<KernelResult> module_; ///< of a task with a TorchReference, after mutants()
  std::unique_ptr<AheadCompiler>
      ahead_; ///< of the honest kernels; last, because it uses the others
};

/// The kinds of mistake that a file in wrong/ may show, as its name begins: "fixed_shift".
const std::vector<std::string>& wrong_kernel_kinds();
/// The kind of "wrong/fixed_shift_20.cu"; empty: none.
std::string wrong_kernel_kind(const std::string& file);

/// The kernel files that the task declares correct: baseline.cu, baseline.cpu.cu if it is the
/// task's baseline here, then honest/*.cu by name.
std::vector<std::filesystem::path> honest_files(const tasks::Task& task);

} // namespace winnow::evaluators
