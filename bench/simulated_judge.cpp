#include "bench/simulated_judge.h"

#include "base/random_bits.h"
#include "remote/testing/evaluation_fake.h"

#include <cmath>
#include <functional>
#include <random>
#include <string_view>

namespace winnow::bench {
namespace {

constexpr double kWrongShare = 0.1, kOutOfBoundsShare = 0.1;
constexpr double kMedianSpeedup = 1.2, kSpread = 0.2; // standard deviation of the logarithm

remote::test::SimulatedKernel kernel_in(std::string_view text) {
  remote::test::SimulatedKernel kernel;
  kernel.speedup = 1;
  if (text.find("{ return; }") != std::string_view::npos) { // a canary without work
    kernel.verdict = tasks::Verdict::UnwrittenOutput;
    return kernel;
  }
  const auto mark = text.rfind(kMadeUp);
  if (mark == std::string_view::npos) {
    return kernel;
  }
  std::mt19937_64 random(std::hash<std::string_view>()(text.substr(mark)));
  const double lot = std::uniform_real_distribution<double>(0, 1)(random);
  if (lot < kWrongShare) {
    kernel.verdict = tasks::Verdict::Wrong;
  } else if (lot < kWrongShare + kOutOfBoundsShare) {
    kernel.verdict = tasks::Verdict::OutOfBounds;
  }
  kernel.speedup = kMedianSpeedup * std::exp(std::normal_distribution<double>(0, kSpread)(random));
  return kernel;
}

} // namespace

std::chrono::milliseconds draw_time(int least_ms, int most_ms) {
  std::mt19937_64 random(random_bits());
  return std::chrono::milliseconds(std::uniform_int_distribution<int>(least_ms, most_ms)(random));
}

tasks::Evaluation simulated_verdict(const evaluators::EvaluationRequest& request,
                                    double device_seconds) {
  remote::test::SimulatedKernel kernel = kernel_in(request.text);
  if (request.incumbent) {
    kernel.incumbent_speedup = kernel_in(request.incumbent->text).speedup;
  }
  tasks::Evaluation evaluation = remote::test::simulated_evaluation(request, kernel);
  evaluation.seconds = device_seconds;
  return evaluation;
}

} // namespace winnow::bench
