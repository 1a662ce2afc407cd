#include "base/error.h"
#include "remote/job_message.h"
#include "remote/result_check.h"
#include "remote/testing/pool_fake.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::remote {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

std::string error_in(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

Heartbeat full_heartbeat() {
  Heartbeat heartbeat = test::heartbeat_of_pool(true);
  heartbeat.torch = true;
  heartbeat.devices.front().uuid = "GPU-1";
  heartbeat.devices.front().facts.l2_bytes = 7;
  heartbeat.held = {{"job", 3, 7}};
  heartbeat.last_fault = "caf\xc3\xa9 \xff";
  heartbeat.environment = {{"kernel", "Linux"}};
  return heartbeat;
}

TEST(JobMessage, LosesNothing) {
  const Heartbeat heartbeat = full_heartbeat();
  const Heartbeat read = decode_heartbeat(encode(heartbeat));
  EXPECT_EQ(encode(read), encode(heartbeat));
  EXPECT_EQ(read.devices.front().facts.l2_bytes, 7);
  EXPECT_EQ(read.last_fault, heartbeat.last_fault);
  PoolRules rules = test::pool_rules();
  rules.isolation = "bubblewrap";
  EXPECT_EQ(encode(decode_pool_rules(encode(rules))), encode(rules));
  Job job;
  job.kind = JobKind::Sitting;
  job.publication = "p";
  job.task = "digest";
  job.request = "{}";
  EXPECT_EQ(encode(decode_job(encode(job))), encode(job));
}

TEST(JobMessage, ATaskTravelsAlone) {
  const evaluators::EvaluationRequest request = test::request_of("kernel");
  evaluators::EvaluationRequest alone = request;
  alone.task.reset();
  const std::string text = encode(alone);
  EXPECT_EQ(text.find("[[shapes"), std::string::npos);
  const auto task = evaluators::decode_task(evaluators::encode(*request.task));
  EXPECT_EQ(encode(evaluators::decode_request_of_task(text, task)), encode(request));
  EXPECT_EQ(error_in([&] { evaluators::decode_evaluation_request(text); }),
            "request.task: expected an object");
  EXPECT_EQ(error_in([&] { evaluators::decode_request_of_task(encode(request), task); }),
            "request.task: expected null, because the task travels alone");
  EXPECT_EQ(error_in([] { evaluators::decode_task("null"); }), "task: expected a task");
}

TEST(JobMessage, HostileTextIsAnError) {
  const std::string deep(10'000, '[');
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("{}"), deep, std::string("[1"),
        std::string("\xff\xfe"), std::string(1, '\0')}) {
    EXPECT_THROW(decode_job(text), Error);
    EXPECT_THROW(decode_pool_rules(text), Error);
    EXPECT_THROW(decode_heartbeat(text), Error);
    EXPECT_THROW(evaluators::decode_task(text), Error);
  }
}

TEST(JobMessage, RefusesJsonThatWouldExhaustTheStack) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  std::string text = encode(full_heartbeat());
  const std::string kernel = R"("Linux")";
  text.replace(text.find(kernel), kernel.size(), deep);
  EXPECT_EQ(error_in([&] { decode_heartbeat(text); }),
            "worker: expected JSON of at most 100 levels");
}

TEST(JobMessage, NamesWhatIsWrong) {
  const auto with = [](const char* key, const Json& value) {
    Json json = Json::parse(encode(full_heartbeat()));
    json[key] = value;
    return error_in([&] { decode_heartbeat(json.dump()); });
  };
  EXPECT_THAT(with("version", 2), HasSubstr("version"));
  EXPECT_THAT(with("schema", "winnow.job"), HasSubstr("schema"));
  EXPECT_THAT(with("isolation", "none"), HasSubstr("worker.isolation"));
  EXPECT_THAT(with("devices", Json::array()), HasSubstr("worker.devices: expected 1 to 1024"));
  EXPECT_THAT(with("held", "x"), HasSubstr("worker.held"));
  EXPECT_THAT(with("more", 1), HasSubstr("more"));
}

TEST(JobMessage, ThePoolRemembersItsQuarantine) {
  PoolRules rules = test::pool_rules();
  rules.quarantined = {"a", "b"};
  const PoolRules read = decode_pool_rules(encode(rules));
  EXPECT_TRUE(is_quarantined(read, "b"));
  EXPECT_FALSE(is_quarantined(read, "c"));
}

TEST(JobMessage, NamesOfWorkersAreSubjectsOfTheBroker) {
  EXPECT_TRUE(is_name("h200-1_a"));
  for (const std::string& bad : {std::string(), std::string("a.b"), std::string("a*"),
                                 std::string("a b"), std::string(65, 'a'), std::string(">")}) {
    EXPECT_FALSE(is_name(bad)) << bad;
  }
}

TEST(ResultCheck, TheBrokerNamesTheWorkerAndNotTheResult) {
  const evaluators::EvaluationRequest request = test::request_of("kernel");
  evaluators::EvaluationResult result{request.id, "cpu", test::judge_correct(request, {}), {}};
  result.evaluations.front().worker = "another";
  result.evaluations.front().device_uuid = "GPU-1";
  const auto checked = checked_result(request, test::pool_rules(), {"w", encode(result)});
  EXPECT_EQ(checked.evaluations.front().worker, "w");
  EXPECT_EQ(checked.evaluations.front().device_uuid, "GPU-1");
}

TEST(ResultCheck, RefusesWhatIsNoAnswer) {
  const evaluators::EvaluationRequest request = test::request_of("kernel");
  const auto error_with = [&](const std::function<void(evaluators::EvaluationResult&)>& edit) {
    evaluators::EvaluationResult result{request.id, "cpu", test::judge_correct(request, {}), {}};
    edit(result);
    const std::string body = encode(result);
    return error_in([&] { checked_result(request, test::pool_rules(), {"w", body}); });
  };
  EXPECT_EQ(error_with([](auto&) {}), "none");
  EXPECT_EQ(error_with([](auto& result) { result.id = "x"; }),
            "worker 'w' sent the result of another request");
  EXPECT_THAT(error_with([](auto& result) {
                result.evaluations.clear();
                result.fault = "no";
              }),
              HasSubstr("a fault as a result: no"));
  EXPECT_THAT(error_with([](auto& result) { result.evaluations.front().evaluator_version = 1; }),
              HasSubstr("another version of the evaluator"));
  EXPECT_THAT(error_with([](auto& result) { result.evaluations.front().device = "cuda"; }),
              HasSubstr("another device"));
  PoolRules strict = test::pool_rules();
  strict.isolation = "bubblewrap";
  const std::string body =
      encode(evaluators::EvaluationResult{request.id, "", test::judge_correct(request, {}), {}});
  EXPECT_THAT(error_in([&] {
                checked_result(request, strict, {"w", body});
              }),
              HasSubstr("weaker isolation 'rlimits'"));
}

} // namespace
} // namespace winnow::remote
