#include "agents/record/replay_endpoint.h"

#include <future>

#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

RecordedCall call(const std::string& key, const std::string& text, double seconds = 0) {
  RecordedCall recorded;
  recorded.key = key;
  recorded.reply.status = ModelReply::Status::Ok;
  recorded.reply.text = text;
  recorded.reply.seconds = seconds;
  return recorded;
}

std::future<ModelReply> ask(ModelEndpoint& endpoint, const std::string& key,
                            const std::string& device = "cpu") {
  auto promise = std::make_shared<std::promise<ModelReply>>();
  ModelRequest request;
  request.key = key;
  request.device = device;
  endpoint.start(std::move(request), [promise](ModelReply reply) { promise->set_value(reply); });
  return promise->get_future();
}

TEST(ReplayEndpoint, AnswersByKey) {
  ReplayEndpoint endpoint({call("a", "A"), call("b", "B")}, 2, 0);
  EXPECT_EQ(ask(endpoint, "b").get().text, "B");
  EXPECT_EQ(ask(endpoint, "a").get().text, "A");
  const ModelReply none = ask(endpoint, "c").get();
  EXPECT_EQ(none.status, ModelReply::Status::Exhausted);
  EXPECT_EQ(none.error, "the recording has no reply for 'c'");
}

TEST(ReplayEndpoint, PrefersTheReplyForTheDevice) {
  RecordedCall for_cuda = call("a", "C");
  for_cuda.device = "cuda";
  ReplayEndpoint endpoint({call("a", "A"), for_cuda}, 1, 0);
  EXPECT_EQ(ask(endpoint, "a", "cuda").get().text, "C");
  EXPECT_EQ(ask(endpoint, "a", "hip").get().text, "A");
}

TEST(ReplayEndpoint, LetsDoneStartTheNextCall) {
  std::promise<std::string> second;
  ReplayEndpoint endpoint({call("a", "A"), call("b", "B")}, 1, 0);
  ModelRequest request;
  request.key = "a";
  endpoint.start(request, [&](ModelReply) {
    ModelRequest next;
    next.key = "b";
    endpoint.start(next, [&](ModelReply reply) { second.set_value(reply.text); });
  });
  EXPECT_EQ(second.get_future().get(), "B");
}

TEST(ReplayEndpoint, ScalesLatencyAndOverlapsCalls) {
  ReplayEndpoint endpoint({call("slow", "S", 300), call("quick", "Q", 1)}, 2, 1e-3);
  auto slow = ask(endpoint, "slow");
  EXPECT_EQ(ask(endpoint, "quick").get().text, "Q") << "does not wait for the slow one";
  EXPECT_EQ(slow.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(slow.get().text, "S");
}

TEST(ReplayEndpoint, CancelsWhatIsInFlightAndWaiting) {
  ReplayEndpoint endpoint({call("a", "A", 1e9), call("b", "B")}, 1, 1);
  auto a = ask(endpoint, "a");
  auto b = ask(endpoint, "b");
  endpoint.cancel_all();
  EXPECT_EQ(a.get().status, ModelReply::Status::Cancelled);
  EXPECT_EQ(b.get().status, ModelReply::Status::Cancelled);
  EXPECT_EQ(ask(endpoint, "b").get().text, "B") << "still usable";
}

TEST(ReplayEndpoint, FinishesEveryCallWhenItGoes) {
  std::future<ModelReply> reply;
  {
    ReplayEndpoint endpoint({call("a", "A", 1e9)}, 1, 1);
    reply = ask(endpoint, "a");
  }
  EXPECT_EQ(reply.get().status, ModelReply::Status::Cancelled);
}

} // namespace
} // namespace winnow::agents
