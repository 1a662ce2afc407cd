#pragma once

#include "evaluators/selftest/reference_run.h"
#include "evaluators/selftest/selftest.h"
#include "tasks/plan/kernel_file.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace winnow::evaluators {

/// Judges kernel files of the task at every shape of the device and with several seeds.
class KernelTrial {
public:
  KernelTrial(TaskOnDevice& on_device, ReferenceRun& runner, const SelftestOptions& options)
      : on_device_(on_device), runner_(runner), options_(options) {}

  /// A kernel file with one choice of its parameters. `file` must live as long as this object.
  struct Kernel {
    const tasks::KernelFile* file = nullptr;
    tasks::ParameterChoice choice;
    std::string name; ///< in the result
  };

  /// Judges the outputs of reference.cu, rounded once, with one seed.
  KernelResult reference();
  /// One result for each kernel. All kernels get the same inputs, one after the other, because the
  /// judge then computes the answer once. Throws Error when the judge fails.
  std::vector<KernelResult> judge(const std::vector<Kernel>& kernels);
  /// For an honest kernel: times it, and rejects it when it is faster than the task allows for any
  /// kernel.
  void time(const tasks::KernelFile& file, const tasks::ParameterChoice& choice,
            KernelResult& result);

  /// For a wrong kernel: it must be rejected in each of five evaluations, which draw other inputs.
  KernelResult judge_as_candidate(const Kernel& kernel);

private:
  /// A kernel with its result so far.
  struct Tried {
    BuiltKernel built;
    KernelResult result;
    SharedPlan plan;            ///< at the present shape
    std::vector<RunCase> cases; ///< the latest ones
  };
  struct Seeds {
    int first = 0, end = 0;
  };

  Tried build(const Kernel& kernel);
  static bool is_left(const Tried& kernel);
  void judge_at(const tasks::Shape& shape, std::vector<Tried>& kernels);
  /// Runs all kernels of a group before it judges them: the arena has room for their outputs.
  void judge_group(const tasks::Shape& shape, Seeds seeds, std::span<Tried* const> kernels);
  /// Rejects a kernel whose plan does not hold for the shape, and returns false.
  bool plan(const tasks::Shape& shape, Tried& kernel) const;
  void run(const tasks::Shape& shape, Seeds seeds, std::uint64_t& offset, Tried& kernel);
  void judge_case(const tasks::Shape& shape, int seed, const RunCase& run_case,
                  KernelResult& result) const;
  void add(const tasks::Shape& shape, const JudgeReply& reply, KernelResult& result) const;
  void note_magnitude(const ReferenceRun::Seen& magnitude);
  /// "; reference.cu leaves y_magnitude 0 everywhere, ..." if it does; else empty.
  std::string zero_magnitudes() const;

  TaskOnDevice& on_device_;
  ReferenceRun& runner_;
  const SelftestOptions& options_;
  std::map<std::string, bool> has_magnitude_; ///< by output: some element has a magnitude above 0
};

} // namespace winnow::evaluators
