#pragma once

#include "evaluators/device/device.h"
#include "evaluators/judge/compare.h"
#include "evaluators/worker/output_sample.h"
#include "tasks/plan/plan_resolve.h"
#include "tasks/result/evaluation.h"
#include "tasks/result/verdict.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::evaluators {

// What the coordinator and its `_run` and `_judge` children say to each other: one JSON document a
// line on stdin and stdout. Tensor data travels through the arena, a shared memory file that every
// child inherits as descriptor kArenaFd.

constexpr int kArenaFd = 3;

/// A part of the arena.
struct ArenaSlice {
  std::string tensor;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The seed of the inputs of one timed launch. Every launch of every contestant has another one,
/// and who knows some of them knows nothing of the others. `contestant`: 0 is the case's own
/// kernel.
std::uint64_t launch_seed(std::uint64_t case_seed, std::size_t contestant, int launch);

/// How a case is timed. The outputs of some launches of whoever is judged go to the arena; which,
/// is drawn after each launch.
struct SamplingRequest {
  /// Timed by turns with the case's own plan, on inputs of their own: plan i runs in module i + 1
  /// of the request.
  std::vector<tasks::ResolvedPlan> rivals;
  /// Every contestant is judged, in a final; else the case's own plan alone: its rivals were when
  /// they were candidates. Each takes part until its own budget is spent.
  bool all_judged = false;
  /// The series ends early when the case's own plan is clearly slower than the last rival, and is
  /// drawn out while it may yet win.
  bool stop_when_lost = false;
  bool warm = false; ///< some launches with the caches as the launch before left them, too
  int min_samples = 7;
  int max_samples = 200;
  std::chrono::milliseconds budget{150}; ///< of each contestant
  int places = 1;                        ///< so many sets of the task's tensors; each turn uses one
  /// So many launches of each who is judged are, on average: a kernel that is wrong in every other
  /// launch gets away once in 2^judged times. Twice as many of a kernel that leads a search. Below
  /// one, some series end without.
  double judged = 5;
  /// The series ends after min_samples where the fastest launch of the first rival, the baseline,
  /// takes less: its times compare nothing. 0: however short it is.
  double least_baseline_ns = 0;
  int areas = 1;                ///< so many times there is room for the outputs in the arena
  std::uint64_t area_bytes = 0; ///< from one to the next
};

/// One shape with one seed: inputs are generated, outputs and scratch poisoned, the plan is run,
/// the outputs are copied into the arena.
struct RunCase {
  tasks::ResolvedPlan plan;
  std::uint64_t seed = 0;
  std::uint64_t salt = 0; ///< of the poison (poison.h)
  std::vector<ArenaSlice> outputs;
  /// Inputs whose elements are taken from the arena and not drawn. Runs without `sampling` only.
  std::vector<ArenaSlice> inputs;
  std::optional<SamplingRequest> sampling; ///< absent: run once
  /// What a run does is counted, in passes of their own, instead of running once.
  std::optional<profiling::CounterSet> counters;
  bool energy = false; ///< with `counters`: what a run costs in energy, too
  bool repeat = false; ///< without `sampling`: run once more and compare the outputs
};

struct RunRequest {
  std::filesystem::path module;
  std::vector<std::filesystem::path> rivals; ///< modules 1, 2, ...; see SamplingRequest
  unsigned workers = 0;                      ///< see CpuDeviceOptions
  std::chrono::milliseconds deadline{0};
  std::vector<RunCase> cases;
};

/// Outputs of a timed launch, in the arena.
struct TimedOutput {
  std::size_t contestant = 0; ///< 0: the case's own plan, i + 1: rival i
  int launch = 0; ///< its inputs are those of launch_seed(seed of the case, contestant, launch)
  int area = 0;
  std::uint64_t salt = 0; ///< of the poison that was in them before
  std::uint64_t draw = 0; ///< decides which pieces of each output are in the area: drawn_pieces()
};

/// What became of one case.
struct RunCaseReport {
  std::size_t index = 0;
  std::optional<DeviceFault> fault;
  std::optional<std::size_t> rival; ///< which of them had the fault; nullopt: the case's own plan
  /// Samples with the same index were taken side by side. In a final some have fewer.
  std::vector<double> samples_ns;
  std::vector<std::vector<double>> rival_samples_ns;
  std::vector<double> warm_samples_ns;
  std::vector<double> clocks_mhz; ///< of the multiprocessors, where the device can tell
  int warm_ups = 0;               ///< launches of each contestant that did not count
  int discarded = 0;              ///< and those after them whose clock was too low
  std::string stopped_by;         ///< profiling::StopReason, or "clearly slower"
  profiling::GpuState state;      ///< after the last launch
  std::optional<profiling::CounterReport> counters;
  std::optional<profiling::Energy> energy;
  double prepare_ns = 0;                  ///< of the plan's `prepare` steps
  std::string differing;                  ///< an output that a repetition on the same input changed
  std::vector<TimedOutput> timed_outputs; ///< at least one of each who is judged, if any is due
  std::string printed;                    ///< by device code on a GPU
};

/// The whole answer of a `_run` child, put together from its lines.
struct RunReport {
  std::vector<RunCaseReport> cases;
  std::vector<CheckFinding> findings;
  bool complete = false;
};

/// One tensor of one case to be compared.
struct JudgedTensor {
  ArenaSlice slice;
  std::vector<Piece> pieces; ///< that lie in the slice, one after the other; empty: all of it
  tasks::DType dtype = tasks::DType::F32;
  std::vector<std::int64_t> shape;
};

struct JudgeRequest {
  std::string key; ///< (shape, seed): the reference does not run twice in a row for the same one
  std::filesystem::path module;
  tasks::ResolvedPlan plan; ///< of the reference kernel
  std::uint64_t seed = 0;
  std::uint64_t static_seed = 0; ///< of static inputs, which stay the same for all timed launches
  std::uint64_t salt = 0;        ///< of the poison in the candidate's outputs
  ErrorModel model;
  std::vector<JudgedTensor> tensors;
};

struct JudgeReply {
  tasks::Verdict verdict = tasks::Verdict::Infrastructure;
  std::string detail;
  std::optional<tasks::Mismatch> mismatch;
  double max_error_ratio = 0;
};

std::string encode(const RunRequest& request);
RunRequest decode_run_request(const std::string& line);
std::string encode(const RunCaseReport& report);
std::string encode_findings(const std::vector<CheckFinding>& findings);
std::string encode_end();
/// What a worker with a GPU says first: its context is ready.
std::string encode_ready();
bool is_ready(const std::string& line);
/// Adds one line of a `_run` child; false when it is not one of ours.
bool add_line(RunReport& report, const std::string& line);

std::string encode(const JudgeRequest& request);
JudgeRequest decode_judge_request(const std::string& line);
std::string encode(const JudgeReply& reply);
JudgeReply decode_judge_reply(const std::string& line);

} // namespace winnow::evaluators
