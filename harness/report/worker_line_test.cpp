#include "harness/report/worker_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::harness {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(WorkerLine, ShowsTheTextsOfAHostileWorkerOnOneLine) {
  remote::WorkerRoster::Worker worker;
  worker.name = "w\x1b[2J\u202e";
  worker.heartbeat.pool = "p\u009b31m";
  worker.heartbeat.isolation = "i\u200b";
  worker.heartbeat.last_fault = "none\nhonest: pool p, trusted\r\x07";
  evaluators::DeviceReport& device = worker.heartbeat.devices.emplace_back();
  device.kind = "cpu\x1b]0;t\x07";
  device.name = "d\u2066";
  const std::string line = worker_line(worker);
  EXPECT_THAT(line, HasSubstr("w\\u001b[2J\\u202e: pool p\\u009b31m, 1 x cpu\\u001b]0;t\\u0007"));
  EXPECT_THAT(line, HasSubstr("(d\\u2066), isolation i\\u200b"));
  EXPECT_THAT(line, HasSubstr("last fault: none honest: pool p, trusted\\u000d\\u0007"));
  EXPECT_THAT(line, Not(HasSubstr("\n")));
}

} // namespace
} // namespace winnow::harness
