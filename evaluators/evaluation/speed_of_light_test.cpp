#include "evaluators/device/device_report.h"
#include "evaluators/evaluation/profile.h"
#include "evaluators/timing/physical_floor.h"
#include "tasks/catalogue.h"
#include "tasks/known_limit.h"

#include <gtest/gtest.h>

namespace winnow::evaluators {
namespace {

struct SpeedOfLightShare : testing::Test {
  tasks::Task task =
      tasks::find_task(std::filesystem::path(WINNOW_SOURCE_DIR) / "tasks/catalogue", "axpy");
  DeviceReport device;

  void SetUp() override {
    device.kind = "cuda";
    device.facts.sm_count = 2;
  }
  /// Timed at each search shape, at these multiples of the physical floor.
  tasks::Evaluation timed_at(const std::vector<double>& multiples) const {
    tasks::Evaluation evaluation;
    const auto shapes = task.shapes_of(tasks::ShapeSet::Search, device.kind);
    for (std::size_t i = 0; i < multiples.size(); ++i) {
      tasks::CaseResult& timed = evaluation.cases.emplace_back();
      timed.stage = tasks::Stage::Time;
      timed.shape_id = shapes.at(i).id;
      timed.median_ns =
          multiples[i] * physical_floor(stated_work(task, shapes.at(i)), device.facts, {}).ns();
    }
    return evaluation;
  }
};

TEST_F(SpeedOfLightShare, IsTheGeometricMeanOverTheSearchShapes) {
  EXPECT_NEAR(share_of_speed_of_light(device, task, timed_at({1, 1}), {}).value(), 1, 1e-9);
  EXPECT_NEAR(share_of_speed_of_light(device, task, timed_at({2, 8}), {}).value(), 0.25, 1e-9);
}

TEST_F(SpeedOfLightShare, CountsTheTimeOfAnEmptyLaunchIfItIsKnown) {
  profiling::Ceilings ceilings;
  ceilings.launch_overhead_ns = 1e9; // far more than the floor
  EXPECT_GT(share_of_speed_of_light(device, task, timed_at({2, 2}), ceilings).value(), 1);
}

TEST_F(SpeedOfLightShare, IsUnknownWhereTheBoardSaysThatTheLimitIs) {
  const tasks::Evaluation timed = timed_at({2, 2});
  device.kind = "cpu";
  EXPECT_FALSE(share_of_speed_of_light(device, task, timed, {}));
  const tasks::Shape shape = task.shapes_of(tasks::ShapeSet::Search, "cpu").front();
  const profiling::SpeedOfLightResult speed = speed_of_light_of(device, task, shape, 1e6, {});
  EXPECT_FALSE(speed.value);
  EXPECT_EQ(speed.reason, tasks::why_no_limit("cpu"));
}

TEST_F(SpeedOfLightShare, IsUnknownWithoutTimes) {
  EXPECT_FALSE(share_of_speed_of_light(device, task, {}, {}));
  tasks::Evaluation hidden = timed_at({2, 2});
  for (tasks::CaseResult& one : hidden.cases) {
    one.shape_id = "promotion/1"; // no search shape
  }
  EXPECT_FALSE(share_of_speed_of_light(device, task, hidden, {}));
}

} // namespace
} // namespace winnow::evaluators
