#include "base/error.h"
#include "remote/testing/pool_fake.h"
#include "remote/worker_selftest.h"

#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using evaluators::EvaluationRequest;
using evaluators::EvaluationResult;
using tasks::Verdict;
using testing::AllOf;
using testing::HasSubstr;

using Say = std::function<Verdict(bool returns_at_once)>;

/// Answer at once, by turns. `of`: so many devices.
class Devices : public evaluators::Evaluations {
public:
  Devices(int of, Say say, evaluators::TakeResult done)
      : of_(of), say_(std::move(say)), done_(std::move(done)) {}
  void submit(EvaluationRequest request) override {
    const bool returns = request.text.find("{ return; }") != std::string::npos;
    const std::string device = "cuda:" + std::to_string(judged_++ % of_);
    done_({request.id, device, {test::evaluation_of_pool(say_(returns))}, {}});
  }
  void cancel(const std::string& /*id*/) override {}
  evaluators::SittingAnswer hold(const evaluators::SittingRequest& request, const std::stop_token&,
                                 const evaluators::HoldProgress&) override {
    return evaluators::failed_sittings(request, "a fake holds no sittings");
  }
  void stop() override {}

private:
  int of_, judged_ = 0;
  Say say_;
  evaluators::TakeResult done_;
};

/// To two devices, of which `working` take requests. Empty: they may work.
std::string objection_to(const Say& say, int working = 2) {
  try {
    require_right_verdicts(
        [&](evaluators::TakeResult done) {
          return std::make_unique<Devices>(working, say, std::move(done));
        },
        2, "cuda", *test::request_of("any").task);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(WorkerSelftest, DevicesThatJudgeRightlyMayWork) {
  EXPECT_EQ(objection_to(
                [](bool returns) { return returns ? Verdict::UnwrittenOutput : Verdict::Correct; }),
            "");
}

TEST(WorkerSelftest, DevicesThatJudgeWronglyMayNot) {
  EXPECT_THAT(objection_to([](bool) { return Verdict::Correct; }),
              AllOf(HasSubstr("this machine judges wrongly"),
                    HasSubstr("kernels that return at once of the task axpy gets 'correct'"),
                    HasSubstr("on cuda:0")));
  EXPECT_THAT(objection_to([](bool) { return Verdict::Wrong; }),
              HasSubstr("the baseline of the task axpy gets 'wrong'"));
  int judged = 0;
  EXPECT_THAT(objection_to([&](bool returns) {
                const bool is_second_device = judged++ % 2 == 1;
                return returns && !is_second_device ? Verdict::Wrong : Verdict::Correct;
              }),
              AllOf(HasSubstr("gets 'correct'"), HasSubstr("on cuda:1")));
  EXPECT_THAT(objection_to([](bool returns) {
                return returns ? Verdict::Infrastructure : Verdict::Correct;
              }),
              HasSubstr("gets 'infrastructure'"));
}

TEST(WorkerSelftest, EachDeviceMustTakePart) {
  EXPECT_EQ(
      objection_to(
          [](bool returns) { return returns ? Verdict::UnwrittenOutput : Verdict::Correct; }, 1),
      "1 of 2 devices judge");
}

} // namespace
} // namespace winnow::remote
