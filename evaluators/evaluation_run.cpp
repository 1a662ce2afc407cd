#include "evaluators/evaluation_run.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "evaluators/device/cpu/cpu_device.h"
#include "evaluators/reference_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using tasks::CaseResult;
using tasks::ShapeSet;
using tasks::Stage;
using tasks::Verdict;

constexpr std::size_t kMaxNotes = 10;
constexpr std::uint64_t kPoisonSalt = 0x706f69736f6eULL;

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31U);
}

std::string diagnostics_text(const std::vector<tasks::Diagnostic>& diagnostics) {
  std::vector<std::string> lines;
  lines.reserve(diagnostics.size());
  for (const tasks::Diagnostic& diagnostic : diagnostics) {
    lines.push_back(to_string(diagnostic));
  }
  return join(lines, "\n");
}

Verdict plan_verdict(const std::vector<tasks::Diagnostic>& errors) {
  return tasks::all_unsupported(errors) ? Verdict::Unsupported : Verdict::BadPlan;
}

} // namespace

EvaluationRun::EvaluationRun(Session& session, const tasks::KernelFile& file,
                             tasks::ParameterChoice choice, Depth depth)
    : session_(session), file_(file), depth_(depth) {
  result_.parameters = choice;
  result_.device = session.host->device.kind;
  result_.device_name = session.host->device.name;
  result_.isolation = to_string(session.host->sandbox.level());
  result_.evaluator_version = kEvaluatorVersion;
  result_.started_at = utc_now();
  built_.choice = std::move(choice);
}

tasks::Evaluation EvaluationRun::run() {
  const auto start = std::chrono::steady_clock::now();
  if (compile()) {
    run_compiled();
  }
  if (session_.cancelled) {
    result_.verdict = Verdict::Infrastructure;
    result_.detail = "cancelled";
  }
  result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

void EvaluationRun::run_compiled() {
  const bool full = depth_ == Depth::Full;
  const std::string key = full ? fingerprint() : std::string();
  if (const auto known = session_.known.find(key); !key.empty() && known != session_.known.end()) {
    copy_known(known->second);
    return;
  }
  if (tiny() && (!full || check()) && search() && time() && (!full || promotion())) {
    result_.verdict = full ? Verdict::Correct : Verdict::NotJudged;
    result_.stage = full ? Stage::Done : result_.stage;
  }
  if (!key.empty() && !session_.cancelled && result_.verdict != Verdict::Infrastructure) {
    session_.known.emplace(key, result_);
  }
}

std::string EvaluationRun::fingerprint() const {
  if (result_.build.machine_code_digest.empty() || !session_.options.reuse) {
    return {};
  }
  std::string text = result_.build.machine_code_digest;
  for (const tasks::Shape& shape : session_.task.shapes) {
    std::vector<tasks::Diagnostic> errors, warnings;
    const auto plan =
        tasks::resolve_plan(file_, session_.task, shape, built_.choice, session_.host->device.facts,
                            built_.compiled.facts, errors, warnings);
    if (!plan) {
      return {};
    }
    text += shape.id + nlohmann::json(*plan).dump();
  }
  return sha256_hex(text);
}

void EvaluationRun::copy_known(const tasks::Evaluation& known) {
  tasks::Evaluation copy = known;
  copy.parameters = result_.parameters;
  copy.build = result_.build;
  copy.started_at = result_.started_at;
  copy.notes.push_back("not run again: the same machine code with the same launches was judged "
                       "before in this session");
  result_ = std::move(copy);
}

bool EvaluationRun::fail(Verdict verdict, std::string detail) {
  result_.verdict = verdict;
  result_.detail = std::move(detail);
  return false;
}

bool EvaluationRun::compile() {
  result_.stage = Stage::Compile;
  const std::vector<tasks::Shape> shapes = shown_shapes(session_.task, result_.device);
  std::vector<tasks::Diagnostic> errors;
  built_ =
      session_.build(file_, session_.task, result_.parameters, shapes, BuildMode::Plain, errors);
  if (!errors.empty()) {
    return fail(plan_verdict(errors), diagnostics_text(errors));
  }
  result_.build = built_.compiled.build;
  if (built_.compiled.verdict != Verdict::Correct) {
    return fail(built_.compiled.verdict, built_.compiled.detail);
  }
  return true;
}

bool EvaluationRun::plan_cases(const std::vector<tasks::Shape>& shapes, int seeds,
                               const BuiltKernel& built, std::vector<PlannedCase>& cases) {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<tasks::Diagnostic> errors, warnings;
    const auto plan =
        tasks::resolve_plan(*built.file, *built.task, shapes[i], built.choice,
                            session_.host->device.facts, built.compiled.facts, errors, warnings);
    if (!plan) {
      return fail(plan_verdict(errors), diagnostics_text(errors));
    }
    for (const tasks::Diagnostic& warning : warnings) {
      const std::string note = to_string(warning);
      const bool known =
          std::find(result_.notes.begin(), result_.notes.end(), note) != result_.notes.end();
      if (!known && result_.notes.size() < kMaxNotes && !tasks::is_hidden(shapes[i].set)) {
        result_.notes.push_back(note);
      }
    }
    for (int seed = 0; seed < seeds; ++seed) {
      const std::uint64_t position = i * 1000 + static_cast<std::uint64_t>(seed);
      cases.push_back({shapes[i],
                       mix(session_.options.seed ^
                           mix(position ^ (static_cast<std::uint64_t>(shapes[i].set) << 32U))),
                       *plan});
    }
  }
  return true;
}

std::vector<RunCase> EvaluationRun::run_cases_of(const std::vector<PlannedCase>& cases,
                                                 const SamplingRequest* sampling) const {
  std::vector<RunCase> run_cases;
  std::uint64_t offset = 0;
  for (const PlannedCase& planned : cases) {
    RunCase run_case;
    run_case.plan = planned.plan;
    run_case.seed = planned.seed;
    run_case.salt = mix(planned.seed ^ kPoisonSalt);
    if (sampling != nullptr) {
      run_case.sampling = *sampling;
    }
    run_case.outputs = output_slices(session_.task, planned.shape, offset);
    run_cases.push_back(std::move(run_case));
  }
  if (offset > session_.host->arena.size_bytes()) {
    throw Error(
        fmt::format("the outputs of {} shapes need {} bytes, more than the {} that are there",
                    cases.size(), offset, session_.host->arena.size_bytes()),
        "use smaller shapes in task.toml");
  }
  return run_cases;
}

RunOutcome EvaluationRun::run_module(const BuiltKernel& built, std::vector<RunCase> cases,
                                     unsigned workers, std::chrono::milliseconds wall) const {
  DeviceHost& host = *session_.host;
  RunRequest request;
  request.module = built.compiled.module;
  request.workers = workers;
  request.cases = std::move(cases);
  RunnerLimits limits;
  limits.wall = wall;
  limits.memory_bytes = session_.options.memory_bytes + host.arena.size_bytes() + cpu_stack_bytes();
  if (!host.worker_device.is_gpu()) {
    host.arena.clear(); // a GPU's worker keeps its pages pinned
  }
  const SpentTime spent(host.spent.run_seconds);
  return host.runner->run(std::move(request), limits, [this] { return session_.cancelled.load(); });
}

CaseResult EvaluationRun::blank_case(Stage stage, const PlannedCase& planned) {
  CaseResult result;
  result.stage = stage;
  result.shape_id = planned.shape.id;
  result.set = planned.shape.set;
  result.shape = to_string(planned.shape);
  result.seed = planned.seed;
  return result;
}

std::string EvaluationRun::judged_key(const PlannedCase& planned) {
  return fmt::format("{}#{}", planned.shape.id, planned.seed);
}

CaseResult EvaluationRun::judge_case(Stage stage, const PlannedCase& planned,
                                     const RunCase& run_case) {
  const JudgeReply reply = session_.ask(
      judge_request(session_, planned.shape, planned.seed, run_case.salt, run_case.outputs));
  CaseResult result = blank_case(stage, planned);
  result.verdict = reply.verdict;
  result.mismatch = reply.mismatch;
  result.max_error_ratio = reply.max_error_ratio;
  result.detail = reply.mismatch ? mismatch_text(*reply.mismatch) : reply.detail;
  return result;
}

bool EvaluationRun::run_and_judge(Stage stage, const std::vector<PlannedCase>& cases,
                                  const BuiltKernel& built) {
  std::vector<tasks::Shape> shapes;
  shapes.reserve(cases.size());
  for (const PlannedCase& planned : cases) {
    shapes.push_back(planned.shape);
  }
  session_.own_kernel(session_.reference_file, session_.reference_task, shapes, session_.reference);
  const std::vector<RunCase> run_list = run_cases_of(cases, nullptr);
  const RunOutcome outcome = run_module(built, run_list, 0, session_.options.run_timeout);
  if (outcome.cancelled) {
    return fail(Verdict::Infrastructure, "cancelled");
  }
  const std::size_t completed =
      outcome.fault ? std::min(outcome.faulty_case, cases.size()) : cases.size();
  bool passed = true;
  for (std::size_t i = 0; i < completed; ++i) {
    const bool right = add_case(judge_case(stage, cases[i], run_list[i]));
    if (right && i < outcome.report.cases.size()) {
      judged_outputs_[judged_key(cases[i])] = outcome.report.cases[i].outputs;
    }
    passed = right && passed;
  }
  if (outcome.fault) {
    CaseResult faulty = blank_case(stage, cases[std::min(completed, cases.size() - 1)]);
    faulty.verdict = outcome.fault->verdict;
    faulty.detail = outcome.fault->detail;
    passed = add_case(std::move(faulty)) && passed;
  }
  if (!outcome.printed.empty() && !tasks::is_hidden(cases.front().shape.set) &&
      result_.notes.size() < kMaxNotes) {
    result_.notes.push_back("the kernel printed: " + outcome.printed);
  }
  return passed;
}

bool EvaluationRun::add_case(CaseResult result) {
  const bool passed = result.verdict == Verdict::Correct;
  if (!passed && result_.verdict == Verdict::NotJudged) { // the first failure decides
    fail(result.verdict, tasks::is_hidden(result.set) ? std::string(describe(result.verdict))
                                                      : fmt::format("{} ({}): {}", result.shape_id,
                                                                    result.shape, result.detail));
  }
  result_.cases.push_back(std::move(result));
  return passed;
}

bool EvaluationRun::tiny() {
  result_.stage = Stage::Tiny;
  std::vector<PlannedCase> cases;
  const int seeds = depth_ == Depth::Full ? session_.options.tiny_seeds : 1;
  if (!plan_cases(session_.task.shapes_of(ShapeSet::Tiny, result_.device), seeds, built_, cases)) {
    return false;
  }
  // The search shapes are only planned here: a plan that does not hold for one fails before any
  // run.
  std::vector<PlannedCase> search_cases;
  if (!plan_cases(session_.task.shapes_of(ShapeSet::Search, result_.device), 1, built_,
                  search_cases)) {
    return false;
  }
  if (run_and_judge(Stage::Tiny, cases, built_)) {
    return true;
  }
  const bool may_have_a_deeper_cause = result_.verdict == Verdict::Wrong ||
                                       result_.verdict == Verdict::UnwrittenOutput ||
                                       result_.verdict == Verdict::OutOfBounds;
  if (may_have_a_deeper_cause && depth_ == Depth::Full && session_.options.check) {
    explain_by_check();
  }
  return false;
}

// Check mode sees the access itself: an overrun decides the verdict; a race or an uninitialised
// read is named as the likely cause, and the wrong answer stays the verdict.
void EvaluationRun::explain_by_check() {
  const Verdict verdict = result_.verdict;
  const std::string detail = result_.detail;
  const bool found = !check() && result_.verdict != Verdict::Infrastructure;
  const bool decides = found && result_.verdict == Verdict::OutOfBounds;
  if (decides && verdict != Verdict::OutOfBounds) {
    result_.detail += "\nseen as: " + detail;
  } else if (!decides) {
    result_.detail = found ? detail + "\nlikely cause: " + result_.detail : detail;
  }
  result_.verdict = decides ? Verdict::OutOfBounds : verdict;
  result_.stage = Stage::Tiny;
}

bool EvaluationRun::check() {
  if (!session_.options.check || !session_.host->compiler->has_check_mode()) {
    return true;
  }
  result_.stage = Stage::Check;
  const std::vector<tasks::Shape> shapes = session_.task.shapes_of(ShapeSet::Tiny, result_.device);
  std::vector<tasks::Diagnostic> errors;
  const BuiltKernel checked =
      session_.build(file_, session_.task, result_.parameters, shapes, BuildMode::Check, errors);
  if (!errors.empty() || checked.compiled.verdict != Verdict::Correct) {
    result_.notes.push_back("check mode did not run: " +
                            (errors.empty() ? checked.compiled.detail : diagnostics_text(errors)));
    return true;
  }
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, 1, checked, cases)) {
    return false;
  }
  const RunOutcome outcome =
      run_module(checked, run_cases_of(cases, nullptr), 1, session_.options.run_timeout);
  for (const CheckFinding& finding : outcome.report.findings) {
    if (finding.certain) {
      return fail(finding.verdict, finding.detail);
    }
    if (result_.notes.size() < kMaxNotes) {
      result_.notes.push_back(finding.detail);
    }
  }
  if (outcome.fault && outcome.fault->verdict != Verdict::Timeout) {
    return fail(outcome.fault->verdict, outcome.fault->detail);
  }
  if (outcome.fault) {
    result_.notes.push_back("check mode ran out of time and found nothing until then");
  }
  return true;
}

bool EvaluationRun::search() {
  result_.stage = Stage::Search;
  std::vector<PlannedCase> cases;
  return plan_cases(session_.task.shapes_of(ShapeSet::Search, result_.device), 1, built_, cases) &&
         run_and_judge(Stage::Search, cases, built_);
}

bool EvaluationRun::promotion() {
  if (!session_.options.promotion) {
    result_.notes.push_back("hidden shapes were not run");
    return true;
  }
  result_.stage = Stage::Promotion;
  const std::vector<tasks::Shape> shapes =
      session_.task.shapes_of(ShapeSet::Promotion, result_.device);
  std::vector<tasks::Diagnostic> errors;
  const BuiltKernel built =
      session_.build(file_, session_.task, result_.parameters, shapes, BuildMode::Plain, errors);
  if (!errors.empty() || built.compiled.verdict != Verdict::Correct) {
    return fail(Verdict::WrongUnseen, "does not compile for a hidden shape");
  }
  std::vector<PlannedCase> cases;
  if (!plan_cases(shapes, 1, built, cases)) {
    return fail(Verdict::WrongUnseen, "the plan does not hold for a hidden shape: cover sizes that "
                                      "are not multiples of a tile, primes and small sizes");
  }
  if (run_and_judge(Stage::Promotion, cases, built)) {
    return true;
  }
  if (result_.verdict == Verdict::Infrastructure) {
    return false;
  }
  return fail(Verdict::WrongUnseen, fmt::format("{} on a hidden shape", describe(result_.verdict)));
}

} // namespace winnow::evaluators
