#pragma once

#include "evaluators/evaluation/evaluator.h"
#include "evaluators/worker/protocol.h"
#include "tasks/inputs/host_tensor.h"
#include "tasks/mutants.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace winnow::evaluators {

struct Session;
class ReferenceRun;

struct SelftestOptions {
  EvaluationOptions evaluation; ///< device, cache, isolation, time limit of one run
  std::uint64_t seed = 1;       ///< the first one; others follow it
  int seeds = 5;                ///< inputs per shape for honest kernels
  /// Told before each part: "mutants, search shapes", "baseline.cu BLOCK=128".
  std::function<void(const std::string&)> progress;
  /// Mutants that a set of shapes may reject as a whole are not run on shapes with more elements in
  /// all inputs together: there are many, and a host changes their inputs.
  std::int64_t max_input_elements = std::int64_t{1} << 22U;
};

/// What became of a mutant on one set of shapes. A candidate must pass all shapes of a set, so one
/// of them that rejects the mutant is enough; or, of a mutant that every shape must reject, on one
/// shape.
struct MutantResult {
  enum class State : std::uint8_t { Rejected, Accepted, NotApplicable };
  tasks::Mutant mutant;
  tasks::ShapeSet set = tasks::ShapeSet::Tiny;
  State state = State::NotApplicable;
  std::string shape_id; ///< Rejected: where; Accepted: where it came nearest to being rejected
  tasks::Verdict verdict = tasks::Verdict::NotJudged; ///< of the judge there
  double max_error_ratio = 0;                         ///< there; above 1 is wrong
  std::string why;                                    ///< NotApplicable
};
std::string_view to_string(MutantResult::State state);

/// One choice of parameters of a kernel that is right, at every shape of the device.
struct HonestResult {
  enum class State : std::uint8_t { Accepted, Rejected, Unsupported };
  std::string file; ///< "baseline.cu", "honest/kahan.cu"; "reference.cu": its answers, rounded once
  tasks::ParameterChoice parameters;
  State state = State::Accepted;
  int cases = 0;              ///< shapes with their seeds that were judged
  double max_error_ratio = 0; ///< of all of them
  std::string detail;         ///< unless accepted: why, and at which shape
};
std::string_view to_string(HonestResult::State state);

/// What reference.cu computes, as it computes it.
struct ReferenceAnswer {
  tasks::HostTensors outputs;    ///< by the task's names: f64, or the task's integers
  tasks::HostTensors magnitudes; ///< of the floating outputs, under the same names
};

/// Whether a task tells right kernels from wrong ones: mutants of its reference and honest kernels,
/// judged by the judge of candidates. One device; one thread at a time.
class Selftest {
public:
  /// Throws Error when the task's own files are broken.
  Selftest(const tasks::Task& task, std::shared_ptr<DeviceHost> host, SelftestOptions options);
  ~Selftest();
  Selftest(const Selftest&) = delete; // owns the judge
  Selftest& operator=(const Selftest&) = delete;

  /// Every mutant on every set of shapes, with as many inputs as an evaluation uses, or on every
  /// shape. Throws Error when reference.cu or the judge fails.
  std::vector<MutantResult> mutants();
  /// The rounded answers of reference.cu, every variant of baseline.cu, and of each kernel file in
  /// the task's folder honest/. The first variant of each file is timed, too, and rejected where it
  /// is faster than `operations` and `bytes` of the task allow. Throws Error when a file cannot be
  /// parsed or the judge fails.
  std::vector<HonestResult> honest();
  /// What looks like a mistake in task.toml: tasks::doubts_of(), and `operations` beside what
  /// reference.cu loads and stores.
  std::vector<std::string> doubts();

  /// What reference.cu computes from the inputs that `seed` draws. Throws Error when it fails.
  ReferenceAnswer reference(const tasks::Shape& shape, std::uint64_t seed);
  /// `outputs`: elements of the task's dtypes. Throws Error when the judge cannot answer.
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed,
                   const tasks::HostTensors& outputs);

private:
  void tell(std::string part) const;

  SelftestOptions options_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ReferenceRun> runner_;
};

/// The kernel files that say they are honest: baseline.cu, then honest/*.cu by name.
std::vector<std::filesystem::path> honest_files(const std::filesystem::path& task_folder);

} // namespace winnow::evaluators
