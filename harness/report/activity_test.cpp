#include "harness/report/activity.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const evaluators::Waiting kSearch{"kernels/gemm.cu", "runs the search shapes", seconds(10)};

TEST(ActivityLine, SaysWhatIsWaitedForAndUntilWhen) {
  EXPECT_EQ(activity_line(kSearch, milliseconds(300)), "gemm.cu runs the search shapes");
  EXPECT_EQ(activity_line(kSearch, milliseconds(7900)),
            "gemm.cu runs the search shapes | 7 s of at most 10.0 s");
  EXPECT_EQ(activity_line({"", "compares", {}}, milliseconds(61'500)), "compares | 1 min 01 s");
}

TEST(Activity, OnATerminalRedrawsOneLine) {
  std::ostringstream out; // the Activity's thread writes too: read this only after its end
  {
    Activity activity(out, true, 80);
    activity.listener()(kSearch);
    std::this_thread::sleep_for(milliseconds(300));
    activity.count("1/2 judged");
    activity.away([&] { out << "a result\n"; });
    activity.wait_for({"b.cu", "is timed", {}});
    std::this_thread::sleep_for(milliseconds(300));
  }
  EXPECT_THAT(out.str(), StartsWith("\r\x1b[Kgemm.cu runs the search shapes"));
  EXPECT_THAT(out.str(), HasSubstr("\r\x1b[Ka result\n"));
  EXPECT_THAT(out.str(), HasSubstr("\r\x1b[K1/2 judged | b.cu is timed"));
  EXPECT_THAT(out.str(), EndsWith("is timed\r\x1b[K")) << "the line is removed at the end";
}

TEST(Activity, CountsTheSecondsOfAWait) {
  std::ostringstream out;
  {
    Activity activity(out, true, 80);
    activity.wait_for(kSearch);
    std::this_thread::sleep_for(milliseconds(2200));
  }
  EXPECT_THAT(out.str(), HasSubstr("| 1 s of at most 10.0 s"));
}

TEST(Activity, NeverWraps) {
  std::ostringstream out;
  { Activity(out, true, 12).wait_for(kSearch); }
  EXPECT_EQ(out.str(), "\r\x1b[Kgemm.cu run\r\x1b[K");
}

TEST(Activity, ElsewhereSaysNothing) {
  std::ostringstream out;
  {
    Activity activity(out, false, 80);
    EXPECT_FALSE(activity.listener());
    activity.wait_for(kSearch);
    activity.away([&] { out << "a result\n"; });
  }
  EXPECT_EQ(out.str(), "a result\n");
}

} // namespace
} // namespace winnow::harness
