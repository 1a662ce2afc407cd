#include "base/error.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "tasks/parse/task_parse.h"
#include "tasks/result/testing/full_evaluation_fake.h"
#include "tasks/task/baseline.h"

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

using Json = nlohmann::json;
using testing::StartsWith;

EvaluationRequest full_request() {
  EvaluationRequest request;
  request.task = std::make_shared<const tasks::Task>(
      tasks::load_task(std::string(WINNOW_SOURCE_DIR) + "/tasks/catalogue/blas/axpy"));
  request.text = std::string("// no UTF-8: \xff", 14);
  request.file_name = "a.cu";
  request.choices = {{{"BLOCK", 128}}, {{"BLOCK", 256}}};
  request.depth = Depth::Trial;
  request.turns = 4;
  request.incumbent = KernelToBeat{"// text", {{"TILE", 8}}};
  Protocol& protocol = request.protocol;
  protocol.seed = ~std::uint64_t{0};
  protocol.tiny_seeds = 3;
  protocol.check = protocol.promotion = protocol.timing = protocol.stop_when_lost = false;
  protocol.warm = protocol.energy = true;
  protocol.reuse = false;
  protocol.counters = Counting::Full;
  protocol.max_samples = 50;
  protocol.time_budget = std::chrono::milliseconds(20);
  protocol.run_timeout = std::chrono::milliseconds(3000);
  request.id = request_id(request, 7);
  return request;
}

std::string error_of(const Json& json, const std::function<void(const std::string&)>& decode) {
  try {
    decode(json.dump());
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(EvaluationRequest, LosesNothing) {
  const EvaluationRequest request = full_request();
  const EvaluationRequest read = decode_evaluation_request(encode(request));
  EXPECT_EQ(encode(read), encode(request));
  EXPECT_EQ(read.text, request.text);
  EXPECT_EQ(read.protocol, request.protocol);
  EXPECT_EQ(read.task->name, "axpy");
  EXPECT_EQ(read.task->category, "blas");
  EXPECT_EQ(read.task->digest, request.task->digest);
  EXPECT_EQ(read.task->shapes.size(), request.task->shapes.size());
  EXPECT_EQ(request_id(read, 7), request.id);
  EvaluationRequest least;
  least.task = request.task;
  EXPECT_EQ(encode(decode_evaluation_request(encode(least))), encode(least));
}

TEST(EvaluationRequest, HasAnIdOfAllItsFields) {
  const EvaluationRequest request = full_request();
  std::set<std::string> ids{request.id, request_id(request, 8)};
  const auto change = [&](const std::function<void(EvaluationRequest&)>& edit) {
    EvaluationRequest other = request;
    edit(other);
    EXPECT_TRUE(ids.insert(request_id(other, 7)).second);
  };
  change([](EvaluationRequest& other) { other.text += " "; });
  change([](EvaluationRequest& other) { other.file_name = "b.cu"; });
  change([](EvaluationRequest& other) { other.choices.pop_back(); });
  change([](EvaluationRequest& other) { other.turns = 5; });
  change([](EvaluationRequest& other) { other.depth = Depth::Quick; });
  change([](EvaluationRequest& other) { other.protocol.energy = false; });
  change([](EvaluationRequest& other) { other.incumbent->text += " "; });
  change([](EvaluationRequest& other) {
    tasks::Task task = *other.task;
    task.digest = "another";
    other.task = std::make_shared<const tasks::Task>(std::move(task));
  });
  EvaluationRequest same = request;
  same.id = "forgotten";
  EXPECT_EQ(request_id(same, 7), request.id);
}

TEST(EvaluationRequest, CarriesTheBaselineOfTheCpu) {
  EvaluationRequest request = full_request();
  EXPECT_FALSE(Json::parse(encode(request)).at("task").contains("cpu_baseline"))
      << "an earlier version reads tasks without it";
  tasks::TaskTexts texts = tasks::task_texts(*request.task);
  texts.cpu_baseline = "for the CPU";
  tasks::Task task = tasks::parse_task(texts, "task.toml");
  request.task = std::make_shared<const tasks::Task>(task);
  const std::string before = encode(request);
  tasks::take_baseline_of(task, "cpu");
  request.task = std::make_shared<const tasks::Task>(task);
  EXPECT_EQ(encode(request), before) << "workers get the files";
  const auto read = decode_evaluation_request(before).task;
  EXPECT_EQ(read->cpu_baseline, "for the CPU");
  EXPECT_EQ(read->baseline, texts.baseline);
}

TEST(EvaluationRequest, NamesWhatIsWrong) {
  const auto decode = [](const std::string& text) { decode_evaluation_request(text); };
  const Json good = Json::parse(encode(full_request()));
  const auto with = [&](const char* pointer, Json value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = std::move(value);
    return error_of(bad, decode);
  };
  EXPECT_THROW(decode_evaluation_request("{"), Error);
  EXPECT_EQ(error_of(Json::array(), decode), "schema: expected winnow.evaluation-request");
  EXPECT_EQ(with("/schema", "winnow.evaluation"), "schema: expected winnow.evaluation-request");
  EXPECT_EQ(with("/version", 2), "version: expected 1");
  EXPECT_EQ(with("/depth", "deep"),
            "request.depth: expected one of full, quick, trial, held_out, compile");
  EXPECT_EQ(with("/protocol/tiny_seeds", 0),
            "request.protocol.tiny_seeds: expected a number from 1 to 100");
  EXPECT_EQ(with("/protocol/run_timeout", 1e300),
            "request.protocol.run_timeout: expected an integer in range");
  EXPECT_EQ(with("/protocol/run_timeout", std::int64_t{1} << 62U),
            "request.protocol.run_timeout: expected a number from 1 to 86400000");
  EXPECT_EQ(with("/turns", 0), "request.turns: expected a number from 1 to 1000");
  EXPECT_EQ(with("/choices", Json::array()),
            "request.choices: expected a trial to have choices and an incumbent");
  EXPECT_EQ(with("/incumbent/text", nullptr), "request.incumbent.text: expected text");
  EXPECT_EQ(with("/task", nullptr), "request.task: expected an object");
  EXPECT_THAT(with("/task/reference", "// another"), StartsWith("request.task.digest: expected "));
  EXPECT_THAT(with("/task/task_toml", "title ="), StartsWith("request.task.task_toml:1"));
}

TEST(EvaluationResult, LosesNothing) {
  EvaluationResult result{
      "id", "cuda:0 GPU", {tasks::test::full_evaluation(), tasks::Evaluation{}}, {}};
  const EvaluationResult read = decode_evaluation_result(encode(result));
  EXPECT_EQ(encode(read), encode(result));
  EXPECT_EQ(read.evaluations.size(), 2U);
  EXPECT_EQ(read.evaluations[0].seed, result.evaluations[0].seed);
  EXPECT_DOUBLE_EQ(read.evaluations[0].hidden_race_ratio, 1.1);
  const EvaluationResult fault{"id", "cuda:0 GPU", {}, "cancelled"};
  EXPECT_EQ(decode_evaluation_result(encode(fault)).fault, "cancelled");
}

TEST(EvaluationResult, HasEvaluationsOrAFault) {
  const Json empty = Json::parse(encode(EvaluationResult{}));
  EXPECT_EQ(error_of(empty, decode_evaluation_result),
            "result.fault: expected either evaluations or a fault");
}

SittingRequest full_sitting() {
  const EvaluationRequest one = full_request();
  SittingRequest request{"final", {{one.task, {}, 0.05}}, one.protocol};
  request.protocol.seed.reset();
  request.boards[0].finalists = {{one.text, one.file_name, one.choices.front(), "digest"}};
  return request;
}

SittingAnswer full_answer() {
  const double third = 1.0 / 3;
  tasks::SittingRow row{"digest", tasks::Verdict::Wrong, "late", 2, 5, 3, {2, 4}, third, {}, {}};
  row.times = {{"search/0", 4.5, 9.5, 2, true}, {"held_out/0", 4.5, 9.5, third, false}};
  row.races = {{"another", "faster", 1.5, {1.4, 1.6}, 6}};
  tasks::SittingResult result{"cuda", "GPU", "GPU-1", "CUDA 13.0", "beta", 9, ~std::uint64_t{0},
                              6,      0.05,  1.25,    "now",       12.5,   {}};
  result.rows = {row};
  return {"final", "cuda:0 GPU", {{result, ""}, {std::nullopt, "cancelled"}}};
}

TEST(SittingRequest, LosesNothing) {
  const SittingRequest request = full_sitting();
  const SittingRequest read = decode_sitting_request(encode(request));
  EXPECT_EQ(encode(read), encode(request));
  EXPECT_EQ(read.boards.at(0).finalists.at(0).text, request.boards[0].finalists[0].text);
  EXPECT_EQ(read.boards.at(0).task->digest, request.boards[0].task->digest);
}

TEST(SittingRequest, NamesWhatIsWrong) {
  SittingRequest seeded = full_sitting();
  seeded.protocol.seed = 7;
  EXPECT_EQ(error_of(Json::parse(encode(seeded)), decode_sitting_request),
            "request.protocol.seed: expected null");
  SittingRequest empty = full_sitting();
  empty.boards[0].finalists.clear();
  EXPECT_EQ(error_of(Json::parse(encode(empty)), decode_sitting_request),
            "request.boards: expected at least one finalist for each board");
  SittingRequest taskless = full_sitting();
  taskless.boards[0].task.reset();
  EXPECT_EQ(error_of(Json::parse(encode(taskless)), decode_sitting_request),
            "request.boards: expected a task for each board");
}

TEST(SittingAnswer, LosesNothing) {
  const SittingAnswer answer = full_answer();
  const SittingAnswer read = decode_sitting_answer(encode(answer));
  EXPECT_EQ(encode(read), encode(answer));
  EXPECT_EQ(read.boards.at(0).result->seed, answer.boards[0].result->seed);
  EXPECT_DOUBLE_EQ(read.boards.at(0).result->rows.at(0).held_out_speedup, 1.0 / 3);
  EXPECT_FALSE(read.boards[0].result->rows[0].times.at(1).counts);
  EXPECT_EQ(read.boards.at(1).fault, "cancelled");
}

TEST(SittingAnswer, HasAResultOrAFaultForEachBoard) {
  SittingAnswer answer = full_answer();
  answer.boards[1].fault.clear();
  EXPECT_EQ(error_of(Json::parse(encode(answer)), decode_sitting_answer),
            "answer.boards: expected either a result or a fault for each board");
}

} // namespace
} // namespace winnow::evaluators
