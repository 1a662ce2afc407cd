#include "harness/serve/testing/evaluations_fake.h"

#include "evaluators/evaluation/blank_evaluation.h"

#include <cstdlib>

#include <fmt/format.h>

namespace winnow::harness::test {
namespace {

std::string word_after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

tasks::CaseResult timed_case(const std::string& shape, tasks::ShapeSet set, double speedup) {
  tasks::CaseResult result;
  result.set = set;
  result.stage = set == tasks::ShapeSet::Search ? tasks::Stage::Time : tasks::Stage::Promotion;
  result.shape_id = shape;
  result.shape = shape;
  result.verdict = tasks::Verdict::Correct;
  result.median_ns = 1000;
  result.baseline_median_ns = 1000 * speedup;
  result.speedup = speedup;
  return result;
}

double times_of(const tasks::ParameterChoice& choice) {
  const auto times = choice.find("TIMES");
  return times == choice.end() ? 1 : static_cast<double>(times->second);
}

/// Beside the choice of the incumbent, as a heat has it.
tasks::Evaluation trial_of(const evaluators::EvaluationRequest& request,
                           const tasks::ParameterChoice& choice) {
  constexpr double kDefaultNs = 1000;
  tasks::Evaluation trial = evaluators::blank_evaluation("cpu", "fake device", "bubblewrap");
  trial.parameters = choice;
  trial.stage = tasks::Stage::Time;
  tasks::CaseResult timed = timed_case("n=64", tasks::ShapeSet::Search, 1);
  const auto turns = static_cast<std::size_t>(request.turns);
  timed.samples_ns.assign(turns, kDefaultNs / times_of(choice));
  timed.incumbent_samples_ns.assign(turns, kDefaultNs);
  trial.cases = {timed};
  trial.build.machine_code_digest = tasks::parameters_text(choice);
  return trial;
}

tasks::Evaluation evaluation_of(const evaluators::EvaluationRequest& request,
                                const tasks::ParameterChoice& choice) {
  if (request.depth == evaluators::Depth::Trial) {
    return trial_of(request, choice);
  }
  tasks::Evaluation evaluation = evaluation_of_text(request.text, choice);
  evaluation.seed = request.protocol.seed.value_or(0);
  if (request.incumbent && evaluation.verdict == tasks::Verdict::Correct) {
    const double ratio =
        evaluation.speedup /
        evaluation_of_text(request.incumbent->text, request.incumbent->parameters).speedup;
    evaluation.race = tasks::RaceResult{evaluators::digest_of(*request.incumbent),
                                        ratio > 1 ? "faster" : "slower",
                                        ratio,
                                        {ratio * 0.95, ratio * 1.05},
                                        10};
  }
  return evaluation;
}

evaluators::EvaluationResult result_of(const evaluators::EvaluationRequest& request) {
  evaluators::EvaluationResult result{request.id, "fake", {}, {}};
  for (const tasks::ParameterChoice& choice : request.choices) {
    result.evaluations.push_back(evaluation_of(request, choice));
  }
  if (request.choices.empty()) {
    result.evaluations.push_back(evaluation_of(request, {}));
  }
  return result;
}

} // namespace

std::string kernel_saying(const std::string& verdict, double speedup, const std::string& name) {
  return fmt::format("/*@winnow {{\"launches\": []}} @*/\n// verdict={} speedup={} name={} .\n"
                     "__global__ void k() {{}}\n",
                     verdict, speedup, name);
}

std::string family_saying(double speedup, int wrong_at) {
  return fmt::format(
      "/*@winnow {{\"params\": {{\"TIMES\": [1, 2, 3]}}, \"launches\": [{{\"kernel\": \"k\", "
      "\"grid\": [1], \"block\": [32], \"args\": []}}]}} @*/\n"
      "// verdict=correct speedup={} wrong_at={} .\n__global__ void k() {{}}\n",
      speedup, wrong_at);
}

tasks::Evaluation evaluation_of_text(const std::string& text,
                                     const tasks::ParameterChoice& choice) {
  tasks::Evaluation evaluation = evaluators::blank_evaluation("cpu", "fake device", "bubblewrap");
  evaluation.verdict = tasks::verdict_from_string(word_after(text, "verdict="))
                           .value_or(tasks::Verdict::CompileError);
  const double times = times_of(choice);
  const double speedup = times * std::strtod(word_after(text, "speedup=").c_str(), nullptr);
  evaluation.parameters = choice;
  if (!choice.empty() && word_after(text, "wrong_at=") == fmt::format("{}", times)) {
    evaluation.verdict = tasks::Verdict::Wrong;
  }
  const bool is_correct = evaluation.verdict == tasks::Verdict::Correct;
  evaluation.stage = is_correct                                           ? tasks::Stage::Done
                     : evaluation.verdict == tasks::Verdict::WrongUnseen  ? tasks::Stage::Promotion
                     : evaluation.verdict == tasks::Verdict::CompileError ? tasks::Stage::Compile
                                                                          : tasks::Stage::Search;
  evaluation.detail = is_correct ? "" : "the detail of n=409940994099 SECRET";
  if (is_correct) {
    evaluation.speedup = speedup;
    evaluation.speedup_bounds = {speedup * 0.9, speedup * 1.1};
    const std::string hidden = word_after(text, "hidden=");
    evaluation.hidden_speedup = hidden.empty() ? 77.125 : std::strtod(hidden.c_str(), nullptr);
    const std::string time = word_after(text, "time=");
    evaluation.score_ns = time.empty() ? 1000 : std::strtod(time.c_str(), nullptr);
    evaluation.cases = {timed_case("n=64", tasks::ShapeSet::Search, speedup),
                        timed_case("SECRET", tasks::ShapeSet::Promotion, 77.125)};
  }
  evaluation.build.digest = "build";
  evaluation.build.compiler = "fake compiler";
  return evaluation;
}

void HeldEvaluations::answer() {
  const evaluators::EvaluationRequest request = std::move(requests.front());
  requests.pop_front();
  evaluators::EvaluationResult result = result_of(request);
  for (tasks::Evaluation& evaluation : result.evaluations) {
    evaluation.worker = worker;
  }
  done_(result);
}

void HeldEvaluations::fail(const std::string& fault) {
  const std::string id = requests.front().id;
  requests.pop_front();
  done_({id, "fake", {}, fault});
}

void HeldEvaluations::answer_all() {
  while (!requests.empty()) {
    answer();
  }
}

DelayedEvaluations::DelayedEvaluations(const Setup& setup, evaluators::TakeResult done)
    : setup_(setup), done_(std::move(done)) {
  for (unsigned i = 0; i < setup_.lanes; ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

DelayedEvaluations::~DelayedEvaluations() {
  stop();
}

void DelayedEvaluations::submit(evaluators::EvaluationRequest request) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(request));
  }
  changed_.notify_one();
}

void DelayedEvaluations::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  cancelled_.insert(id);
}

void DelayedEvaluations::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void DelayedEvaluations::work() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, setup_.begin_after, [this] { return stopping_; });
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) {
      return;
    }
    const evaluators::EvaluationRequest request = std::move(queue_.front());
    queue_.pop_front();
    changed_.wait_for(lock, setup_.delay, [this] { return stopping_; });
    if (stopping_) {
      return;
    }
    const bool is_cancelled = cancelled_.erase(request.id) > 0;
    const bool fails = setup_.fault_every > 0 && ++answered_ % setup_.fault_every == 0;
    lock.unlock();
    done_(is_cancelled ? evaluators::EvaluationResult{request.id, "fake", {}, "cancelled"}
          : fails      ? evaluators::EvaluationResult{request.id, "fake", {}, "the device was lost"}
                       : result_of(request));
    lock.lock();
  }
}

} // namespace winnow::harness::test
