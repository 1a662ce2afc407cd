#include "remote/worker_trust.h"

#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

struct Counted : WorkerTrust {
  Counted() : WorkerTrust({}) {}
  void count_results(int results) {
    for (int i = 0; i < results; ++i) {
      count("a");
    }
  }
};

TEST(WorkerTrust, AWorkerPassesBothKindsOfCanarySoon) {
  Counted trust;
  trust.count_results(WorkerTrust::kFirstCanaryAfter - 1);
  EXPECT_EQ(trust.owed_canary(), std::nullopt);
  trust.count_results(1);
  EXPECT_EQ(trust.owed_canary(), CanaryKind::Wrong);
  trust.passed_canary("a", CanaryKind::Wrong);
  EXPECT_EQ(trust.owed_canary(), std::nullopt);
  trust.count_results(WorkerTrust::kFirstCanaryAfter);
  EXPECT_EQ(trust.owed_canary(), CanaryKind::Timing);
  trust.passed_canary("a", CanaryKind::Timing);
  trust.count_results(WorkerTrust::kCanaryAfter - 1);
  EXPECT_EQ(trust.owed_canary(), std::nullopt);
  trust.count_results(1);
  EXPECT_EQ(trust.owed_canary(), CanaryKind::Wrong);
}

TEST(WorkerTrust, ADoubtAboutTimesEndsWithACanaryOfThatKind) {
  Counted trust;
  trust.doubt_timing("a");
  EXPECT_EQ(trust.owed_canary(), CanaryKind::Timing);
  trust.passed_canary("a", CanaryKind::Wrong);
  EXPECT_EQ(trust.owed_canary(), CanaryKind::Timing);
  trust.passed_canary("a", CanaryKind::Timing);
  EXPECT_EQ(trust.owed_canary(), std::nullopt);
  trust.doubt_timing("trusted");
  trust.prove_trusted("trusted");
  EXPECT_EQ(trust.owed_canary(), std::nullopt);
}

} // namespace
} // namespace winnow::remote
