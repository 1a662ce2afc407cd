#include "harness/exit/interrupt.h"

#include <csignal>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

namespace winnow::harness {
namespace {

TEST(Interrupt, TheFirstSignalCallsBack) {
  Interrupt interrupt;
  std::promise<void> called;
  interrupt.on_first([&] { called.set_value(); });
  kill(getpid(), SIGTERM);
  EXPECT_EQ(called.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_TRUE(interrupt.interrupted());
  interrupt.on_first({});
}

TEST(Interrupt, ASignalThatCameEarlierIsNotLost) {
  Interrupt interrupt;
  std::promise<void> seen;
  interrupt.on_first([&] { seen.set_value(); });
  kill(getpid(), SIGINT);
  seen.get_future().wait();
  bool called = false;
  interrupt.on_first([&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(Interrupt, SignalsAreAsBeforeAfterwards) {
  { const Interrupt interrupt; }
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Interrupt interrupt;
        std::promise<void> first;
        interrupt.on_first([&] { first.set_value(); });
        kill(getpid(), SIGINT);
        first.get_future().wait();
        kill(getpid(), SIGINT);
        std::promise<void>().get_future().wait();
      },
      testing::ExitedWithCode(130), "");
}

TEST(EndOnInterrupt, SaysSoInOneLine) {
  const auto interrupted = [](int signal) {
    end_on_interrupt();
    raise(signal);
  };
  EXPECT_EXIT(interrupted(SIGINT), testing::ExitedWithCode(130), "^interrupted\n$");
  EXPECT_EXIT(interrupted(SIGTERM), testing::ExitedWithCode(130), "^interrupted\n$");
}

} // namespace
} // namespace winnow::harness
