#include "remote/checking_threads.h"

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

ArrivedResult result_of(const std::string& job, int number) {
  return {job, "w", std::to_string(number), nullptr};
}

TEST(CheckingThreads, CheckTheResultsOfAJobInTheirOrder) {
  constexpr int kJobs = 20, kResults = 50;
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> checked;
  std::latch all(kJobs * kResults);
  CheckingThreads threads([&](const ArrivedResult& result) {
    {
      const std::lock_guard lock(mutex);
      checked[result.job].push_back(result.body);
    }
    all.count_down();
  });
  for (int i = 0; i < kResults; ++i) {
    for (int job = 0; job < kJobs; ++job) {
      threads.post(result_of(std::to_string(job), i));
    }
  }
  all.wait();
  ASSERT_EQ(checked.size(), kJobs);
  for (const auto& [job, bodies] : checked) {
    ASSERT_EQ(bodies.size(), kResults);
    for (int i = 0; i < kResults; ++i) {
      EXPECT_EQ(bodies.at(static_cast<std::size_t>(i)), std::to_string(i)) << job;
    }
  }
}

TEST(CheckingThreads, CheckSeveralJobsAtATime) {
  std::promise<void> two, go;
  std::atomic<int> begun{0};
  CheckingThreads threads([&, gone = go.get_future().share()](const ArrivedResult&) {
    if (++begun == 2) {
      two.set_value();
    }
    gone.wait();
  });
  for (int job = 0; job < 8; ++job) {
    threads.post(result_of(std::to_string(job), 0));
  }
  EXPECT_EQ(two.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  go.set_value();
}

TEST(CheckingThreads, DropWhatIsLeftWhenTheyStop) {
  std::promise<void> begun, go;
  std::atomic<int> checks{0};
  CheckingThreads threads([&](const ArrivedResult&) {
    if (++checks == 1) {
      begun.set_value();
      go.get_future().wait();
    }
  });
  std::thread poster([&] { // waits, because nothing is checked
    for (int i = 0; i < 1000; ++i) {
      threads.post(result_of("a", i));
    }
  });
  begun.get_future().wait();
  std::thread stopper([&] { threads.stop(); });
  poster.join();
  go.set_value();
  stopper.join();
  EXPECT_EQ(checks, 1);
  threads.post(result_of("b", 0));
  EXPECT_EQ(checks, 1);
}

} // namespace
} // namespace winnow::remote
