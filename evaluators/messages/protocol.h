#pragma once

#include "evaluators/device/device_fault.h"
#include "evaluators/messages/error_model.h"
#include "evaluators/messages/output_sample.h"
#include "evaluators/messages/shared_plan.h"
#include "profiling/counters/counter_report.h"
#include "profiling/power/energy.h"
#include "profiling/power/gpu_monitor.h"
#include "tasks/inputs/dtype.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/verdict.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::evaluators {

// Messages between the coordinator and its `_run` and `_judge` children: one JSON document per
// line, on stdin and stdout. Tensor data travels through the arena, a shared memory file that every
// child inherits as descriptor kArenaFd.

constexpr int kArenaFd = 3;
/// The exchange: a second shared memory file, of the judge and the reference outside of it.
constexpr int kExchangeFd = 4;

/// A part of the arena.
struct ArenaSlice {
  std::string tensor;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The seed of the inputs of one timed launch. Every launch of every contestant has its own seed.
/// Known seeds do not reveal other seeds. `contestant` 0 is the case's own kernel. The upper 32
/// bits are the same for all contestants, so their sparse matrices have the same row pointers
/// (csr_row() in generator_core.h).
std::uint64_t launch_seed(std::uint64_t case_seed, std::size_t contestant, int launch);

/// How a case is timed. The outputs of some launches go to the arena to be judged. After each
/// launch, a random draw decides whether it is one of them.
struct SamplingRequest {
  /// Plans that take turns with the case's own plan, each on inputs of its own. Plan i runs in
  /// module i + 1 of the request.
  std::vector<SharedPlan> rivals;
  bool has_baseline = true; ///< rival 0 is the task's baseline; a further one is the incumbent
  /// True for a final: every contestant is judged, and each takes part until its own budget is
  /// spent. False: the case's own plan and the incumbent are judged, and not the task's baseline.
  bool all_judged = false;
  /// End the series early when the case's own plan is clearly slower than the last rival, and
  /// prolong it while the plan may still win.
  bool stop_when_lost = false;
  bool warm = false; ///< also time some launches with the caches as the previous launch left them
  int min_samples = 7;
  int max_samples = 200;
  std::chrono::milliseconds budget{150}; ///< per contestant
  double overdraft = 4; ///< min_samples of a slow kernel may take this many budgets
  int places = 1;       ///< number of sets of the task's tensors; each turn uses one set
  /// Number of judged launches per judged contestant, the same however many launches there are. A
  /// kernel that is wrong in every other launch escapes once in 2^judged series. A kernel that
  /// leads a search gets twice as many. Of a fraction, that share of the series has one more.
  double judged = 5;
  /// The same for the incumbent. Right in its own evaluation, it may be wrong or idle since then.
  double incumbent_judged = 0;
  /// End the series after min_samples if the fastest launch of the first rival, the baseline, takes
  /// less than this: times that short cannot be compared. 0: no minimum.
  double least_baseline_ns = 0;
  /// Number of areas in the arena; one area holds the outputs of one launch.
  int areas = 1;
  std::uint64_t area_bytes = 0; ///< distance from one area to the next
};

/// One shape with one seed. The worker generates the inputs, poisons outputs and scratch, runs the
/// plan and copies the outputs into the arena.
struct RunCase {
  SharedPlan plan;
  std::uint64_t seed = 0;
  std::uint64_t salt = 0; ///< of the poison (poison.h)
  std::vector<ArenaSlice> outputs;
  /// Inputs whose elements come from the arena instead of the generator. Only without `sampling`.
  std::vector<ArenaSlice> inputs;
  /// Inputs that the reference computes. The worker asks for them before each launch (InputsNeeded)
  /// and finds them here.
  std::vector<ArenaSlice> computed;
  std::string shape;                       ///< id of the shape in the task
  std::optional<SamplingRequest> sampling; ///< absent: run once
  /// Read these performance counters, in passes of their own, instead of running once. All cases of
  /// a request, or none.
  std::optional<profiling::CounterSet> counters;
  bool energy = false; ///< with `counters`: also measure the energy of a run
  bool repeat = false; ///< without `sampling`: run once more and compare the outputs
};

struct RunRequest {
  std::filesystem::path module;
  std::vector<std::filesystem::path> rivals; ///< modules 1, 2, ...; see SamplingRequest
  unsigned workers = 0;                      ///< see CpuDeviceOptions
  std::chrono::milliseconds deadline{0};
  std::vector<RunCase> cases;
};

/// The outputs of one timed launch; they lie in the arena.
struct TimedOutput {
  std::size_t contestant = 0; ///< 0: the case's own plan, i + 1: rival i
  int launch = 0; ///< the seed of its inputs is launch_seed(case seed, contestant, launch)
  int area = 0;
  std::uint64_t salt = 0; ///< salt of the poison that the outputs held before the launch
  /// Decides which pieces of each output are in the area: drawn_pieces().
  std::uint64_t draw = 0;
};

/// The result of one case.
struct RunCaseReport {
  std::size_t index = 0;
  std::optional<DeviceFault> fault;
  /// The rival that was running when the fault was seen; nullopt: the case's own plan. Another
  /// contestant may have done the damage.
  std::optional<std::size_t> rival;
  /// Samples with the same index come from the same turn. In a final, some contestants have fewer.
  std::vector<double> samples_ns;
  std::vector<std::vector<double>> rival_samples_ns;
  std::vector<double> warm_samples_ns;
  /// Clock of the multiprocessors per launch, if the device can tell
  std::vector<double> clocks_mhz;
  int warm_ups = 0; ///< warm-up launches of each contestant; they do not count
  /// Further launches that do not count: the clock was too low or the host disturbed them
  int discarded = 0;
  std::string stopped_by;    ///< profiling::StopReason, or "clearly slower"
  profiling::GpuState state; ///< after the last launch
  std::optional<profiling::CounterReport> counters;
  /// With `counters`: the time of each step of the plan, with what caches the step before left;
  /// empty: there is one step, or the device does not tell
  std::vector<double> step_ns;
  std::optional<profiling::Energy> energy;
  double prepare_ns = 0; ///< duration of the plan's `prepare` steps
  std::string differing; ///< an output that differed between two runs on the same input
  /// At least one per judged contestant, if SamplingRequest::judged is 1 or more.
  std::vector<TimedOutput> timed_outputs;
  std::string printed; ///< printed by device code on a GPU
};

/// A worker's question: the inputs of this seed that the reference computes.
struct InputsNeeded {
  std::size_t index = 0; ///< of the case
  std::uint64_t seed = 0;
};

/// The complete answer of a `_run` child, collected from its lines.
struct RunReport {
  std::vector<RunCaseReport> cases;
  std::vector<CheckFinding> findings;
  bool complete = false;
};

/// One tensor of one case that is to be compared.
struct JudgedTensor {
  ArenaSlice slice;
  /// Positions of the elements in the slice, one piece after the other; empty: the whole tensor.
  std::vector<Piece> pieces;
  tasks::DType dtype = tasks::DType::F32;
  std::vector<std::int64_t> shape;
};

struct JudgeRequest {
  /// Identifies the task and the shape. If module, shape and seeds are those of the request before,
  /// the reference does not run again.
  std::string shape;
  std::filesystem::path module;
  SharedPlan plan; ///< the reference kernel's plan
  std::uint64_t seed = 0;
  /// Seed of static inputs, which are the same in all timed launches
  std::uint64_t static_seed = 0;
  std::uint64_t salt = 0; ///< salt of the poison in the candidate's outputs
  ErrorModel model;
  std::vector<JudgedTensor> tensors;
  /// false: `wrong` without a mismatch will do. To explain a wrong output, the judge reads every
  /// element of it and of the answer.
  bool explain = true;
  /// Of a reference outside of the judge: the judge puts the inputs into the exchange, asks for the
  /// answer, and takes the outputs of tasks::reference_view() from the exchange. `plan` then has
  /// buffers only, and `module` is empty.
  std::vector<ArenaSlice> inputs, answers;
  std::string question; ///< of a reference outside: TorchQuestion::line, for Outside
  /// The question for inputs that the reference computes; comes before `question`. Empty: none.
  std::string inputs_question;
};

struct JudgeReply {
  tasks::Verdict verdict = tasks::Verdict::Infrastructure;
  std::string detail;
  std::optional<tasks::Mismatch> mismatch;
  ErrorRatios ratios;
};

std::string encode(const RunRequest& request);
RunRequest decode_run_request(const std::string& line);
std::string encode(const RunCaseReport& report);
std::string encode_findings(const std::vector<CheckFinding>& findings);
std::string encode_end();
/// The first line of a worker with a GPU: its context is ready.
std::string encode_ready();
bool is_ready(const std::string& line);
/// The worker's line that asks for inputs. encode_answered() is the line that tells it that they
/// are there.
std::string encode(const InputsNeeded& needed);
std::optional<InputsNeeded> decode_inputs_needed(const std::string& line);
/// Adds one line of a `_run` child to `report`. False when the line does not belong to the
/// protocol.
bool add_line(RunReport& report, const std::string& line);

std::string encode(const JudgeRequest& request);
JudgeRequest decode_judge_request(const std::string& line);
/// The judge's line that asks for the answer of the reference outside: the inputs are in the
/// exchange.
std::string encode_asks();
bool asks(const std::string& line);
/// The next line to the judge or the worker. `error`: why there is no answer; empty: the answer is
/// in the exchange, the inputs are in the arena.
std::string encode_answered(const std::string& error);
std::string decode_answered(const std::string& line);
std::string encode(const JudgeReply& reply);
JudgeReply decode_judge_reply(const std::string& line);

} // namespace winnow::evaluators
