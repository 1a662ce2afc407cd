// How large an honest result can be: far below the message that a broker takes.
#include "evaluators/evaluation/evaluation_request.h"
#include "remote/testing/evaluation_fake.h"
#include "remote/testing/pool_fake.h"
#include "tasks/catalogue.h"
#include "tasks/task/task.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;

constexpr std::size_t kMaxPayload = std::size_t{8} << 20U; // remote/broker_config.cpp
constexpr std::size_t kLogBytes = 4096;                    // of a compiler, capped
constexpr std::size_t kPrintedBytes = 2000;                // of a kernel, capped
constexpr int kNotes = 12;
constexpr std::size_t kProfileBytes = std::size_t{16} << 10U; // of a shape: 80 counters need 5 KB
constexpr double kLongNumber = 12345678.901234567;            // as many digits as a double has

void fill(tasks::CaseResult& timed, std::size_t samples) {
  const std::vector<double> full(samples, kLongNumber);
  timed.samples_ns = timed.baseline_samples_ns = timed.incumbent_samples_ns = full;
  timed.warm_samples_ns = full;
  for (const char* name : {"cublaslt", "another library"}) {
    tasks::LibraryTiming library;
    library.name = name;
    library.samples_ns = full;
    timed.libraries.push_back(library);
  }
}

/// Of a full evaluation with counters, in which everything is as long as it can be.
std::size_t largest_result(const std::shared_ptr<const tasks::Task>& task, std::size_t samples) {
  EvaluationRequest request = test::request_of("kernel");
  request.task = task;
  request.text = task->baseline;
  request.incumbent = evaluators::KernelToBeat{task->baseline, {}};
  tasks::Evaluation evaluation = test::simulated_evaluation(request, {});
  std::size_t timed_shapes = 0;
  for (tasks::CaseResult& one : evaluation.cases) {
    if (!one.samples_ns.empty()) {
      fill(one, samples);
      ++timed_shapes;
    }
  }
  evaluation.profile = std::string(timed_shapes * kProfileBytes, 'p');
  evaluation.build.log = std::string(kLogBytes, 'l');
  evaluation.notes.assign(kNotes, std::string(kPrintedBytes, 'n'));
  return encode(evaluators::EvaluationResult{"id", "worker", {evaluation}, {}}).size();
}

TEST(ResultSize, OfEveryTaskIsFarBelowWhatABrokerTakes) {
  std::shared_ptr<const tasks::Task> largest_of;
  std::size_t largest = 0;
  for (tasks::Task& task : tasks::find_tasks(tasks::find_catalogue(), {})) {
    const auto shared = std::make_shared<const tasks::Task>(std::move(task));
    const std::size_t size = largest_result(shared, 200);
    largest_of = size > largest ? shared : largest_of;
    largest = std::max(largest, size);
  }
  std::cout << "the largest: " << largest_of->name << ", " << largest << " bytes; with 10,000 "
            << "samples " << largest_result(largest_of, 10'000) << '\n';
  EXPECT_LT(largest, kMaxPayload / 4);
}

} // namespace
} // namespace winnow::remote
