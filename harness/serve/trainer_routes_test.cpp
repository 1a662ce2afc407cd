#include "harness/serve/testing/judge_fixture.h"

#include <chrono>

#include <gmock/gmock.h>

namespace winnow::harness {
namespace {

using nlohmann::json;
using test::ExchangeFake;
using test::kernel_saying;

struct TrainerRoutes : test::JudgeFixture {
  static std::string reply_with(const std::string& kernel) {
    return "Here it is:\n```cuda\n" + kernel + "```\n<|im_end|>";
  }
  std::shared_ptr<ExchangeFake> slime(const std::string& kernel, const std::string& query = "") {
    return send("POST", "/compat/slime" + query,
                {{"prompt", "p"}, {"response", reply_with(kernel)}, {"label", "axpy"}});
  }
};

TEST_F(TrainerRoutes, OpenRlhfGetsItsThreeLists) {
  const std::string prompt = "<|im_start|>user\n```cuda\n" + kernel_saying("wrong", 0) + "```\n";
  const auto held = send(
      "POST", "/compat/openrlhf",
      {{"query",
        {prompt + reply_with(kernel_saying("correct", 2)),
         "the begin was cut off" + prompt.substr(20) + reply_with(kernel_saying("correct", 4))}},
       {"prompts", {prompt, prompt}},
       {"labels", {"axpy", "axpy"}}});
  EXPECT_EQ(status_of(held), 0);
  ASSERT_EQ(evaluations->requests.size(), 2U);
  std::swap(evaluations->requests[0], evaluations->requests[1]); // the order of the items stays
  evaluations->answer_all();
  EXPECT_EQ(status_of(held), 200);
  EXPECT_EQ(body_of(held).at("rewards"), json({2.3, 4.3}));
  EXPECT_EQ(body_of(held).at("scores"), json({1.0, 1.0}));
  EXPECT_EQ(body_of(held).at("extra_logs").at("speedup"), json({2.0, 4.0}));
}

TEST_F(TrainerRoutes, SlimeGetsANumberOrAnObject) {
  const auto number = slime(kernel_saying("correct", 2));
  evaluations->answer();
  EXPECT_EQ(body_of(number), 2.3);
  const json object = body_of(slime(kernel_saying("correct", 2), "?object=1&reward=tiers"));
  EXPECT_EQ(object.at("reward"), 0.8);
  EXPECT_EQ(object.at("speedup_low"), 1.8);
}

TEST_F(TrainerRoutes, NemoGymGetsItsRequestBack) {
  const json body = {
      {"responses_create_params", {{"input", json::array()}}},
      {"response",
       {{"output",
         {{{"type", "reasoning"}},
          {{"type", "message"},
           {"content",
            {{{"type", "output_text"}, {"text", reply_with(kernel_saying("correct", 2))}}}}}}}}},
      {"verifier_metadata", {{"task", "axpy"}}}};
  const auto held = send("POST", "/compat/nemo_gym/verify", body);
  evaluations->answer();
  const json answer = body_of(held);
  EXPECT_EQ(answer.at("reward"), 2.3);
  EXPECT_EQ(answer.at("reward_components").at("correct"), 1);
  EXPECT_EQ(answer.at("response"), body.at("response"));
  EXPECT_EQ(status_of(send("POST", "/compat/nemo_gym/seed_session", json::object())), 200);
}

TEST_F(TrainerRoutes, NemoGymGetsTheMeanOfItsRewardsAtTheEnd) {
  const json body = {{"verify_responses", {{{"reward", 1.0}}, {{"reward", 2.0}}}}};
  const json metrics = body_of(send("POST", "/compat/nemo_gym/aggregate_metrics", body));
  EXPECT_EQ(metrics.at("key_metrics"), (json{{"mean/reward", 1.5}}));
  EXPECT_EQ(metrics.at("agent_metrics"), metrics.at("key_metrics"));
  EXPECT_EQ(metrics.at("group_level_metrics"), json::array());
  const json none = {{"verify_responses", json::array()}};
  EXPECT_EQ(body_of(send("POST", "/compat/nemo_gym/aggregate_metrics", none)).at("key_metrics"),
            json::object());
  EXPECT_EQ(status_of(send("POST", "/compat/nemo_gym/aggregate_metrics", json::object())), 422);
  EXPECT_EQ(body_of(send("GET", "/compat/nemo_gym/reverify_mode")), "stateless");
}

TEST_F(TrainerRoutes, KernelGymPollsItsTask) {
  const json body = {{"task_id", "t_1"},
                     {"task", "axpy"},
                     {"kernel_code", kernel_saying("correct", 2)},
                     {"reference_code", "class Model: ..."},
                     {"timeout", 300}};
  EXPECT_EQ(body_of(send("POST", "/compat/kernelgym/evaluate", body)).at("status"), "pending");
  EXPECT_EQ(body_of(send("GET", "/compat/kernelgym/status/t_1")).at("status"), "processing");
  evaluations->fail("the device was lost");
  // 503 keeps its client polling; the status "failed" would become a reward of -1
  EXPECT_EQ(status_of(send("GET", "/compat/kernelgym/status/t_1")), 503);
  send("POST", "/compat/kernelgym/evaluate", body);
  evaluations->answer();
  const json result = body_of(send("GET", "/compat/kernelgym/results/t_1"));
  EXPECT_EQ(result.at("status"), "completed");
  EXPECT_EQ(result.at("correctness"), true);
  EXPECT_EQ(result.at("speedup"), 2);
  EXPECT_EQ(result.at("reference_runtime"), 0.002); // ms
  EXPECT_EQ(status_of(send("GET", "/compat/kernelgym/status/t_2")), 404);
}

TEST_F(TrainerRoutes, TheEntryPointOfKernelGymNamesTheTaskIfNothingElseDoes) {
  json body = {
      {"task_id", "t_1"}, {"entry_point", "axpy"}, {"kernel_code", kernel_saying("correct", 2)}};
  EXPECT_EQ(status_of(send("POST", "/compat/kernelgym/evaluate", body)), 200);
  body["entry_point"] = "Model";
  EXPECT_EQ(status_of(send("POST", "/compat/kernelgym/evaluate", body)), 422);
  EXPECT_EQ(status_of(send("POST", "/compat/kernelgym/evaluate?task=axpy", body)), 200);
}

TEST_F(TrainerRoutes, KernelGymGetsABatchAtOnce) {
  const auto task_of = [](const std::string& id, const std::string& kernel) {
    return json{{"task_id", id}, {"task", "axpy"}, {"kernel_code", kernel}, {"priority", "high"}};
  };
  const json body = {
      {"batch_id", "rl_1"},
      {"tasks",
       {task_of("t_10", kernel_saying("correct", 2)), task_of("t_9", kernel_saying("wrong", 0))}}};
  const auto held = send("POST", "/compat/kernelgym/evaluate/batch", body);
  EXPECT_EQ(status_of(held), 0);
  std::swap(evaluations->requests[0], evaluations->requests[1]);
  evaluations->answer_all();
  const json answer = body_of(held);
  EXPECT_EQ(answer.at("batch_id"), "rl_1");
  EXPECT_EQ(answer.at("total_tasks"), 2);
  EXPECT_EQ(answer.at("batch_status"), "completed");
  EXPECT_EQ(answer.at("results").at(0).at("task_id"), "t_10"); // in the order of the tasks
  EXPECT_EQ(answer.at("results").at(0).at("speedup"), 2);
  EXPECT_EQ(answer.at("results").at(1).at("correctness"), false);
  EXPECT_EQ(body_of(send("GET", "/compat/kernelgym/results/t_9")).at("status"), "completed");
}

TEST_F(TrainerRoutes, AFaultInABatchOfKernelGymIsNoResult) {
  const json task = {
      {"task_id", "t"}, {"task", "axpy"}, {"kernel_code", kernel_saying("wrong", 0)}};
  json other = task;
  other["task_id"] = "u";
  other["kernel_code"] = kernel_saying("correct", 2);
  const json body = {{"batch_id", "b"}, {"tasks", {task, other}}};
  const auto held = send("POST", "/compat/kernelgym/evaluate/batch", body);
  evaluations->answer();
  evaluations->fail("the device was lost");
  EXPECT_EQ(status_of(held), 503);
  EXPECT_EQ(held->answer()->body.find("results"), std::string::npos);
  const auto again = send("POST", "/compat/kernelgym/evaluate/batch", body);
  ASSERT_EQ(evaluations->requests.size(), 1U); // the other one is known
  evaluations->answer();
  EXPECT_EQ(body_of(again).at("results").at(1).at("speedup"), 2);
  const auto refuses = [&](const json& tasks) {
    return status_of(send("POST", "/compat/kernelgym/evaluate/batch", {{"tasks", tasks}})) == 422;
  };
  EXPECT_TRUE(refuses(json::array()));
  EXPECT_TRUE(refuses({task, task})); // one id twice
  EXPECT_TRUE(refuses(std::vector<json>(101, task)));
  EXPECT_TRUE(refuses({{{"task_id", "x"}, {"task", "no"}, {"kernel_code", "k"}}}));
  EXPECT_TRUE(refuses({"text"}));
}

TEST_F(TrainerRoutes, TakesOptionsFromTheUrlAndRefusesUnknownOnes) {
  EXPECT_EQ(status_of(slime(kernel_saying("correct", 2), "?rewrd=log")), 422);
  EXPECT_EQ(status_of(slime(kernel_saying("correct", 2), "?depth=compile&max_variants=2")), 422);
  const auto held = slime(test::family_saying(2), "?max_variants=3&priority=5");
  evaluations->answer_all();
  EXPECT_EQ(body_of(held), 6.3);
}

TEST_F(TrainerRoutes, AFaultIsNeverAReward) {
  const auto held = slime(kernel_saying("correct", 2));
  evaluations->fail("the device was lost");
  EXPECT_EQ(status_of(held), 503);
  EXPECT_EQ(held->answer()->retry_after_s, 1);
  const auto again = slime(kernel_saying("correct", 2)); // as slime does
  evaluations->answer();
  EXPECT_EQ(body_of(again), 2.3);
  const auto unsupported = slime(kernel_saying("unsupported", 0));
  evaluations->answer();
  EXPECT_EQ(status_of(unsupported), 422);
  EXPECT_EQ(status_of(send("POST", "/compat/slime", {{"response", "x"}, {"label", "no"}})), 422);
}

TEST_F(TrainerRoutes, HoldsTheRequestWhileTheQueueIsFull) {
  queue = 1;
  in_flight = 1;
  restart();
  slime(kernel_saying("correct", 2));
  slime(kernel_saying("correct", 3));
  const auto held = slime(kernel_saying("correct", 4));
  routes->tick();
  EXPECT_EQ(status_of(held), 0);
  evaluations->answer();
  routes->tick();
  evaluations->answer_all();
  EXPECT_EQ(body_of(held), 4.3);
}

TEST_F(TrainerRoutes, SaysToComeAgainWhenItTakesTooLong) {
  routes_setup.hold = std::chrono::milliseconds(0);
  queue = 1;
  in_flight = 1;
  restart();
  EXPECT_EQ(status_of(slime(kernel_saying("correct", 2))), 503);
  slime(kernel_saying("correct", 3));
  const auto blocked = slime(kernel_saying("correct", 4));
  routes->tick();
  EXPECT_EQ(status_of(blocked), 503);
  evaluations->answer_all();
  EXPECT_EQ(body_of(slime(kernel_saying("correct", 2))), 2.3); // the job went on
}

} // namespace
} // namespace winnow::harness
