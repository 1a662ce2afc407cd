#include "base/error.h"
#include "remote/remote_devices.h"
#include "remote/testing/broker_fake.h"
#include "remote/testing/pool_fake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

class RemoteDevicesTest : public testing::Test {
protected:
  RemoteDevices::Setup setup() const {
    RemoteDevices::Setup setup;
    setup.pool = "pool";
    setup.secret = "secret";
    setup.warn = [](const std::string&) {};
    setup.wait = milliseconds(1500);
    return setup;
  }
  PoolRules rules() const { return decode_pool_rules(*observer_->pool_rules("pool")); }
  template <typename Failure> std::string failure_of(RemoteDevices::Setup setup) {
    try {
      const RemoteDevices devices(broker_, std::move(setup));
    } catch (const Failure& error) {
      return error.what() + (" " + error.remedy());
    }
    return "none";
  }

  test::BrokerFake broker_;
  std::unique_ptr<CoordinatorTransport> observer_ = broker_.coordinator("observer");
  std::unique_ptr<WorkerTransport> transport_ = broker_.worker({"w", "pool", true});
};

TEST_F(RemoteDevicesTest, AreThoseOfTheWorkersOfThePool) {
  const test::WorkerOnThread worker(*transport_, test::judge_correct, true);
  RemoteDevices::Setup strict = setup();
  strict.isolation = "rlimits";
  const RemoteDevices devices(broker_, strict);
  EXPECT_EQ(devices.first().name, test::pool_rules().device_name);
  EXPECT_EQ(devices.names(), "cpu");
  EXPECT_EQ(devices.size(), 1U);
  EXPECT_EQ(rules().device_name, test::pool_rules().device_name); // for later workers
  EXPECT_EQ(rules().isolation, "rlimits");
  EXPECT_THROW(devices.start_torch(), Error); // the worker has none
  EXPECT_FALSE(rules().torch);
  test::Results results;
  const auto evaluations = devices.evaluations(results.taker());
  evaluations->submit(test::request_of("kernel"));
  ASSERT_TRUE(results.wait_for(1));
  EXPECT_EQ(results.all().front().fault, "");
}

TEST_F(RemoteDevicesTest, NameWhatIsMissing) {
  EXPECT_THAT(failure_of<DeviceUnavailable>(setup()),
              HasSubstr("no worker of the pool 'pool' has sent a heartbeat to the broker in 1 s "
                        "start one: winnow worker"));
  const test::WorkerOnThread worker(*transport_, test::judge_correct);
  RemoteDevices::Setup other = setup();
  other.device = "cuda";
  EXPECT_THAT(failure_of<DeviceUnavailable>(other), HasSubstr("worker 'w' does not fit"));
  RemoteDevices::Setup strict = setup();
  strict.isolation = "bubblewrap";
  EXPECT_THAT(failure_of<DeviceUnavailable>(strict),
              HasSubstr("requires the isolation 'bubblewrap'"));
}

TEST_F(RemoteDevicesTest, KeepToTheRulesOfThePool) {
  PoolRules earlier = test::pool_rules();
  earlier.isolation = "rlimits";
  observer_->set_pool_rules("pool", encode(earlier));
  const test::WorkerOnThread worker(*transport_, test::judge_correct);
  const RemoteDevices devices(broker_, setup());
  EXPECT_EQ(rules().isolation, "rlimits"); // another coordinator has asked for it
  RemoteDevices::Setup other = setup();
  other.device = "cuda";
  EXPECT_THAT(failure_of<UsageError>(other), HasSubstr("the pool 'pool' judges on cpu"));
  earlier.evaluator_version = evaluators::kEvaluatorVersion + 1;
  observer_->set_pool_rules("pool", encode(earlier));
  EXPECT_THAT(failure_of<UsageError>(setup()), HasSubstr("use the same Winnow on all machines"));
  observer_->set_pool_rules("pool", ""); // `winnow broker forget`
  EXPECT_EQ(failure_of<Error>(setup()), "none");
}

} // namespace
} // namespace winnow::remote
