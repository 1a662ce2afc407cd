#include "evaluators/evaluation/drawn_shapes.h"
#include "evaluators/evaluation/shared_evaluations.h"

#include <map>
#include <set>

#include <gmock/gmock.h>

namespace winnow::evaluators {
namespace {

using testing::ElementsAre;

/// Answers when the test says so.
class Held : public Evaluations {
public:
  explicit Held(TakeResult done) : done_(std::move(done)) {}
  void submit(EvaluationRequest request) override { waiting.insert(request.id); }
  void cancel(const std::string& id) override { cancelled.insert(id); }
  SittingAnswer hold(const SittingRequest& request, const std::stop_token&,
                     const HoldProgress&) override {
    return failed_sittings(request, "none");
  }
  void stop() override {}
  void answer(const std::string& id) { done_({id, "", {}, "fault of " + id}); }

  std::set<std::string> waiting, cancelled;

private:
  TakeResult done_;
};

struct SharedEvaluationsTest : testing::Test {
  std::unique_ptr<Evaluations> door(std::vector<std::string>& results) {
    return shared.door()(
        [&results](const EvaluationResult& result) { results.push_back(result.id); });
  }
  static EvaluationRequest request(const std::string& id) {
    EvaluationRequest one;
    one.id = id;
    return one;
  }
  Held* held = nullptr;
  SharedEvaluations shared{[this](TakeResult done) {
    auto made = std::make_unique<Held>(std::move(done));
    held = made.get();
    return made;
  }};
  std::vector<std::string> of_a, of_b;
};

TEST_F(SharedEvaluationsTest, GivesEachDoorItsResults) {
  const auto a = door(of_a), b = door(of_b);
  a->submit(request("1"));
  b->submit(request("2"));
  a->submit(request("3"));
  for (const char* id : {"2", "3", "1", "unknown"}) {
    held->answer(id);
  }
  EXPECT_THAT(of_a, ElementsAre("3", "1"));
  EXPECT_THAT(of_b, ElementsAre("2"));
}

TEST_F(SharedEvaluationsTest, StopsOneDoorAlone) {
  const auto a = door(of_a);
  a->submit(request("1"));
  {
    const auto b = door(of_b);
    b->submit(request("2"));
  }
  EXPECT_THAT(held->cancelled, ElementsAre("2"));
  held->answer("2"); // too late
  held->answer("1");
  EXPECT_THAT(of_a, ElementsAre("1"));
  EXPECT_TRUE(of_b.empty());
}

TEST(DrawnShapes, AreHalfOfEachKind) {
  std::vector<tasks::Shape> shapes;
  for (int i = 0; i < 9; ++i) {
    tasks::Shape shape;
    shape.id = "promotion/" + std::to_string(i);
    if (i % 3 == 0) {
      shape.devices = {"cuda"};
    }
    shapes.push_back(shape);
  }
  std::map<std::string, int> drawn;
  std::set<std::string> draws;
  for (std::uint64_t draw = 0; draw < 40; ++draw) {
    std::string ids;
    int large = 0;
    for (const tasks::Shape& shape : drawn_shapes(shapes, draw)) {
      ++drawn[shape.id];
      large += shape.devices.empty() ? 0 : 1;
      ids += shape.id;
    }
    draws.insert(ids);
    EXPECT_EQ(large, 2);
    EXPECT_EQ(drawn_shapes(shapes, draw).size(), 5U);
  }
  EXPECT_EQ(drawn.size(), 9U); // each comes
  EXPECT_GT(draws.size(), 10U);
  EXPECT_EQ(drawn_shapes({shapes[1]}, 1).size(), 1U); // a single one is kept
}

} // namespace
} // namespace winnow::evaluators
