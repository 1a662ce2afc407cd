#include "evaluators/judge/answers.h"

#include <algorithm>
#include <utility>

namespace winnow::evaluators {
namespace {

constexpr std::size_t kMaxHostBytes = std::size_t{4} << 30U;
constexpr const char* kMagnitude = "_magnitude"; // tasks::reference_view()

std::span<const double> as_doubles(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}

std::vector<std::byte> downloaded(CaseRunner& runner, const std::string& output) {
  std::vector<std::byte> bytes(runner.output_bytes(output));
  runner.download(output, bytes);
  return bytes;
}

bool is_output(const tasks::Buffer& buffer) {
  return buffer.kind == tasks::Buffer::Kind::Output || buffer.kind == tasks::Buffer::Kind::InOut;
}

// Why the totals of a device are not within the limits needs a look at every element.
ComparisonResult compare_on_host(Comparison comparison, const Answer& answer) {
  if (answer.magnitude.empty()) {
    comparison.expected_exact = answer.expected;
  } else {
    comparison.expected = as_doubles(answer.expected);
    comparison.magnitude = as_doubles(answer.magnitude);
  }
  return compare(comparison);
}

} // namespace

void AnswerStore::remember(const std::string& key, const tasks::ResolvedPlan& plan,
                           CaseRunner& runner) {
  std::map<std::string, const tasks::Buffer*> outputs;
  for (const tasks::Buffer& buffer : plan.buffers) {
    if (is_output(buffer)) {
      outputs.emplace(buffer.name, &buffer);
    }
  }
  Case answers;
  for (const auto& [name, buffer] : outputs) {
    const std::string magnitude = name + kMagnitude;
    const bool is_magnitude = name.ends_with(kMagnitude);
    if (!is_magnitude) {
      answers.emplace(name,
                      take(name, outputs.contains(magnitude) ? magnitude : std::string(), runner));
    }
  }
  cases_.emplace(key, std::move(answers));
  order_.push_back(key);
  while (host_bytes_ > kMaxHostBytes && order_.size() > 1) {
    forget_oldest();
  }
}

Answer AnswerStore::take(const std::string& output, const std::string& magnitude,
                         CaseRunner& runner) {
  Answer answer;
  answer.kept = keep(output, magnitude, runner);
  if (!answer.kept) {
    answer.expected = downloaded(runner, output);
    answer.magnitude = magnitude.empty() ? std::vector<std::byte>() : downloaded(runner, magnitude);
    host_bytes_ += answer.expected.size() + answer.magnitude.size();
  }
  return answer;
}

// Older answers on the device make room.
std::unique_ptr<KeptAnswer> AnswerStore::keep(const std::string& output,
                                              const std::string& magnitude, CaseRunner& runner) {
  const auto oldest_is_kept = [this] {
    if (order_.empty()) {
      return false;
    }
    const Case& oldest = cases_.at(order_.front());
    return std::any_of(oldest.begin(), oldest.end(),
                       [](const auto& answer) { return answer.second.kept != nullptr; });
  };
  std::unique_ptr<KeptAnswer> kept = runner.keep(output, magnitude);
  while (!kept && oldest_is_kept()) {
    forget_oldest();
    kept = runner.keep(output, magnitude);
  }
  return kept;
}

void AnswerStore::forget_oldest() {
  for (const auto& [output, answer] : cases_.at(order_.front())) {
    host_bytes_ -= answer.expected.size() + answer.magnitude.size();
  }
  cases_.erase(order_.front());
  order_.pop_front();
}

ComparisonResult compare(Comparison comparison, const Answer& answer) {
  if (!answer.kept) {
    return compare_on_host(std::move(comparison), answer);
  }
  const ErrorLimits limits = limits_of(comparison.model, comparison.dtype);
  const ErrorTotals totals = answer.kept->compare(comparison.got, comparison.dtype, limits);
  if (is_within(totals, limits)) {
    ComparisonResult result;
    result.max_error_ratio = error_ratio(totals, limits);
    return result;
  }
  Answer copy;
  copy.expected.resize(answer.kept->expected_bytes());
  copy.magnitude.resize(answer.kept->magnitude_bytes());
  answer.kept->download(copy.expected, copy.magnitude);
  return compare_on_host(std::move(comparison), copy);
}

} // namespace winnow::evaluators
