#include "remote/testing/judges_fake.h"

#include "base/draws.h"
#include "base/error.h"
#include "base/text.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace winnow::remote::test {
namespace {

using evaluators::EvaluationRequest;
using tasks::Evaluation;
using tasks::Verdict;

Judge calling_everything_correct() {
  return [](const EvaluationRequest& request, const std::stop_token&) {
    SimulatedKernel kernel = kernel_of(request);
    kernel.verdict = Verdict::Correct;
    return std::vector{simulated_evaluation(request, kernel)};
  };
}

Judge halving_times() {
  return [](const EvaluationRequest& request, const std::stop_token&) {
    SimulatedKernel kernel = kernel_of(request);
    kernel.speedup *= 2;
    return std::vector{simulated_evaluation(request, kernel)};
  };
}

Judge halving_medians() {
  return [](const EvaluationRequest& request, const std::stop_token&) {
    Evaluation evaluation = simulated_evaluation(request, kernel_of(request));
    for (tasks::CaseResult& timed : evaluation.cases) {
      timed.median_ns /= 2;
      timed.speedup *= 2;
    }
    evaluation.speedup *= 2;
    return std::vector{evaluation};
  };
}

Judge repeating_results() {
  return [first = std::make_shared<std::optional<Evaluation>>()](const EvaluationRequest& request,
                                                                 const std::stop_token&) {
    if (!*first) {
      *first = simulated_evaluation(request, {});
    }
    return std::vector{**first};
  };
}

Judge repeating_samples() {
  return [first = std::make_shared<std::optional<Evaluation>>()](const EvaluationRequest& request,
                                                                 const std::stop_token&) {
    const Evaluation fresh = simulated_evaluation(request, {});
    if (!*first) {
      *first = fresh;
    }
    Evaluation repeated = **first;
    repeated.seed = fresh.seed;
    for (std::size_t i = 0; i < repeated.cases.size(); ++i) {
      repeated.cases[i].seed = fresh.cases.at(i).seed;
    }
    return std::vector{repeated};
  };
}

const std::map<std::string, std::function<Judge()>, std::less<>>& makers() {
  static const std::map<std::string, std::function<Judge()>, std::less<>> all{
      {"calls everything correct", calling_everything_correct},
      {"halves its times", halving_times},
      {"halves its medians", halving_medians},
      {"repeats its results", repeating_results},
      {"repeats its samples", repeating_samples}};
  return all;
}

} // namespace

SimulatedKernel kernel_of(const EvaluationRequest& request) {
  if (request.text.find("return;") != std::string::npos) {
    return {1, 0.02, Verdict::UnwrittenOutput}; // a canary
  }
  if (request.text.find("// kernel") == std::string::npos) {
    return {1, 0.02, Verdict::Correct}; // the baseline, as a canary
  }
  Draws draws(1, request.text);
  const bool is_wrong = draws.uniform() < 1.0 / 3;
  return {0.6 + draws.uniform(), 0.02, is_wrong ? Verdict::Wrong : Verdict::Correct};
}

Judge honest_judge(double factor) {
  return [factor](const EvaluationRequest& request, const std::stop_token&) {
    SimulatedKernel kernel = kernel_of(request);
    kernel.speedup *= kernel.speedup == 1 ? 1 : factor;
    return std::vector{simulated_evaluation(request, kernel)};
  };
}

const std::vector<std::string>& lies() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : makers()) {
      all.push_back(name);
    }
    return all;
  }();
  return names;
}

Judge lying_judge(std::string_view lie) {
  const auto found = makers().find(lie);
  if (found == makers().end()) {
    throw UsageError("unknown lie '" + std::string(lie) + "'" +
                     suggestion(std::string(lie), lies()));
  }
  return found->second();
}

} // namespace winnow::remote::test
