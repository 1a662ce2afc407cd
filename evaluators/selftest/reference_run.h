#pragma once

#include "evaluators/evaluation/task_on_device.h"
#include "evaluators/messages/arena.h"
#include "evaluators/selftest/selftest.h"
#include "evaluators/worker/runner.h"
#include "tasks/task/host_tensor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::evaluators {

/// Inputs that the caller has chosen.
struct ReferenceCase {
  tasks::Shape shape;
  tasks::HostTensors inputs; ///< every input and inout of the task
};

/// One draw of inputs and its correct outputs.
struct Drawn {
  std::uint64_t seed = 0;
  ReferenceCase inputs;
  ReferenceAnswer right;
};

/// Seed number `i` of a selftest. Both halves differ from those of the others, because the upper
/// half alone decides what all launches of a turn share.
std::uint64_t nth_seed(std::uint64_t first, int i);

/// Runs cases in a worker of the device and asks the device's judge. The data of the
/// cases goes through the arena.
class ReferenceRun {
public:
  /// Compiles reference.cu for every shape of the device. Throws Error.
  explicit ReferenceRun(TaskOnDevice& on_device);

  /// Runs the cases of `built` unchanged. Their outputs are in the arena afterwards. `workers`: see
  /// RunRequest::workers.
  StageOutcome run(const BuiltKernel& built, std::vector<RunCase> cases, unsigned workers = 0);

  /// The parts of an answer that answers() takes. Outputs only are half of the bytes.
  enum class Parts : std::uint8_t { Outputs, OutputsAndMagnitudes };

  struct Outcome {
    std::vector<ReferenceAnswer> answers; ///< of the cases before the fault, if there is one
    std::optional<DeviceFault> fault;
  };
  /// Computes the answer of reference.cu for each case's inputs.
  Outcome answers(std::span<const ReferenceCase> cases, Parts parts = Parts::OutputsAndMagnitudes);

  /// The answer for the task's own inputs. Throws Error when reference.cu fails.
  ReferenceAnswer answer(const ReferenceCase& reference_case,
                         Parts parts = Parts::OutputsAndMagnitudes);

  /// A part of an answer in the arena; valid until the next call of this class.
  struct Seen {
    std::string name; ///< of the output
    bool is_magnitude = false;
    tasks::DType dtype = tasks::DType::F64;
    std::span<std::byte> bytes;
  };
  /// Computes the answer of one case and lets `see` look at its parts where they are, because
  /// copies of large outputs take longer than the reference. Returns the fault of the run, if there
  /// is one.
  std::optional<DeviceFault> look(const ReferenceCase& reference_case, Parts parts,
                                  const std::function<void(std::span<const Seen>)>& see);

  /// The same with another build of reference.cu.
  std::optional<DeviceFault> look(const BuiltKernel& reference, const ReferenceCase& reference_case,
                                  Parts parts,
                                  const std::function<void(std::span<const Seen>)>& see);

  /// Asks the device's judge about outputs in this process, or in the arena. `explain`: see
  /// JudgeRequest::explain. Throws Error when the judge cannot answer.
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                   const tasks::HostTensors& outputs, bool explain = true);
  JudgeReply judge(const tasks::Shape& shape, std::uint64_t seed, std::uint64_t salt,
                   const std::vector<ArenaSlice>& slices, bool explain = true);

  /// Draws inputs until `settle(drawn, result)` was true for every result, `most` times at most.
  template <typename Result, typename Settle>
  void settle(const tasks::Shape& shape, std::uint64_t first_seed, int most,
              std::vector<Result>& results, const Settle& settle) {
    std::vector<Result*> open;
    for (Result& result : results) {
      open.push_back(&result);
    }
    for (int i = 0; i < most && !open.empty(); ++i) {
      Drawn drawn = draw(shape, nth_seed(first_seed, i));
      std::erase_if(open, [&](Result* result) { return settle(drawn, *result); });
    }
  }

  /// Throws UsageError if the arena has not so many bytes. `tensors`: what they are for.
  void require_room(const tasks::Shape& shape, std::uint64_t bytes, std::string_view tensors) const;

  /// Call it before each run(): on a CPU the arena's pages go back to the system, and read 0 after.
  void clear_arena();

private:
  /// Assigns the case's buffers their ranges in the arena and writes the inputs there. Throws
  /// UsageError if the arena is too small.
  RunCase place(const BuiltKernel& reference, const ReferenceCase& reference_case, Parts parts,
                std::uint64_t& offset) const;
  /// Writes the inputs of a plan into their ranges of the arena.
  void write_inputs(const tasks::ResolvedPlan& plan, const std::vector<ArenaSlice>& slices,
                    const tasks::HostTensors& inputs) const;
  ReferenceAnswer take(const RunCase& run_case) const;
  Drawn draw(const tasks::Shape& shape, std::uint64_t seed);
  std::vector<Seen> parts_of(const RunCase& run_case) const;

  TaskOnDevice& on_device_;
  ArenaView arena_;
  /// For the task's own kernels on a CPU, where the device's runner starts a process for each run
  /// because it expects candidates. nullptr on a GPU, whose runner stands already.
  std::unique_ptr<Runner> standing_;
};

/// Rounds an output of the reference to the output's dtype. Uses the memory of `rounded` again if
/// the sizes are equal.
void round_output(const tasks::Task& task, const tasks::Shape& shape,
                  const ReferenceRun::Seen& output, tasks::HostTensor& rounded);

/// The answer, rounded to the dtypes of the task's outputs.
tasks::HostTensors rounded_outputs(const tasks::Task& task, const tasks::Shape& shape,
                                   const ReferenceAnswer& answer);

/// All shapes that a task has for a kind of device.
std::vector<tasks::Shape> shapes_for(const tasks::Task& task, const std::string& device_kind);

/// Number of elements of all inputs together.
std::int64_t input_elements(const tasks::Task& task, const tasks::Shape& shape);

std::uint64_t poison_salt(std::uint64_t seed);

} // namespace winnow::evaluators
