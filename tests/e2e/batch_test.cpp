// Tests a search whose replies come as files. With `winnow batch export` and `winnow batch import`
// it must end as a replay of the same replies does.
#include "base/files.h"
#include "base/text.h"
#include "tests/e2e/run_account.h"
#include "tests/e2e/winnow_program.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace winnow::test {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxBytes = 1U << 26U;

// Without timings and with a fixed seed, prompts and verdicts are the same in every run.
const std::vector<std::string> kSearch{
    "--task", "reduce_sum",         "--task", "row_softmax",
    "--set",  "run.max_variants=1", "--set",  "evaluation.timing=false",
    "--set",  "evaluation.seed=1",  "--set",  "evaluation.tiny_seeds=1"};

ProgramResult winnow(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  ProgramOptions options;
  options.timeout = std::chrono::minutes(10);
  return run_winnow(arguments, options);
}

std::vector<json> json_lines(const std::string& file) {
  std::vector<json> lines;
  const std::string text = read_file(file, kMaxBytes);
  for (const std::string_view line : split_lines(text)) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

// The quickstart's replies by custom id.
const std::map<std::string, std::string>& recorded_replies() {
  static const std::map<std::string, std::string> replies = [] {
    std::map<std::string, std::string> by_id;
    for (const json& call : json_lines(project_folder() / "configs/quickstart_replies.jsonl")) {
      if (call.contains("device")) { // for a GPU
        continue;
      }
      auto id = call.at("key").get<std::string>();
      std::replace(id.begin(), id.end(), '/', '-');
      by_id[id] = call.at("reply").get<std::string>();
    }
    return by_id;
  }();
  return replies;
}

// ---- a provider's batch service: reads requests and writes answers, both in its own form ----

json chat_body(const std::string& text) {
  const json choice{{"index", 0},
                    {"message", {{"role", "assistant"}, {"content", text}}},
                    {"finish_reason", "stop"}};
  return {{"object", "chat.completion"},
          {"model", "batched"},
          {"choices", json::array({choice})},
          {"usage", {{"prompt_tokens", 100}, {"completion_tokens", 20}, {"total_tokens", 120}}}};
}

json responses_body(const std::string& text) {
  const json part{{"type", "output_text"}, {"text", text}};
  const json message{{"type", "message"}, {"role", "assistant"}, {"content", json::array({part})}};
  return {{"object", "response"},
          {"status", "completed"},
          {"model", "batched"},
          {"output", json::array({message})},
          {"usage", {{"input_tokens", 100}, {"output_tokens", 20}, {"total_tokens", 120}}}};
}

json openai_line(const std::string& id, json body) {
  return {{"id", "batch_req_1"},
          {"custom_id", id},
          {"response", {{"status_code", 200}, {"request_id", "r"}, {"body", std::move(body)}}},
          {"error", nullptr}};
}

json anthropic_line(const std::string& id, const std::string& text) {
  const json part{{"type", "text"}, {"text", text}};
  const json message{
      {"type", "message"},         {"role", "assistant"},
      {"model", "batched"},        {"content", json::array({part})},
      {"stop_reason", "end_turn"}, {"usage", {{"input_tokens", 100}, {"output_tokens", 20}}}};
  return {{"custom_id", id}, {"result", {{"type", "succeeded"}, {"message", message}}}};
}

json gemini_line(const std::string& id, const std::string& text) {
  const json part{{"text", text}};
  const json candidate{{"content", {{"role", "model"}, {"parts", json::array({part})}}},
                       {"finishReason", "STOP"}};
  return {{"key", id},
          {"response",
           {{"candidates", json::array({candidate})},
            {"modelVersion", "batched"},
            {"usageMetadata", {{"promptTokenCount", 100}, {"candidatesTokenCount", 20}}}}}};
}

json answered(const std::string& format, const json& request) {
  const std::string id = request.value("custom_id", request.value("key", ""));
  const std::string& text = recorded_replies().at(id);
  return format == "chat"        ? openai_line(id, chat_body(text))
         : format == "responses" ? openai_line(id, responses_body(text))
         : format == "anthropic" ? anthropic_line(id, text)
                                 : gemini_line(id, text);
}

// Answers every request of a file. Returns the number of requests.
std::size_t play_provider(const std::string& format, const std::string& requests,
                          const std::string& replies) {
  std::string answers;
  const std::vector<json> lines = json_lines(requests);
  for (const json& request : lines) {
    answers += answered(format, request).dump() + "\n";
  }
  write_file_atomic(replies, answers);
  return lines.size();
}

// All messages that were sent, by call. Numbers are removed, because some differ from run to run:
// for example which thread is the first to write out of bounds.
std::set<std::string> prompts(const std::string& store) {
  SQLite::Database database(store, SQLite::OPEN_READONLY);
  SQLite::Statement rows(database, "SELECT key, position, role, text FROM call_messages");
  const std::regex digits("[0-9]+");
  std::set<std::string> all;
  while (rows.executeStep()) {
    all.insert(fmt::format("{} {} {}: {}", rows.getColumn(0).getString(),
                           rows.getColumn(1).getInt64(), rows.getColumn(2).getString(),
                           std::regex_replace(rows.getColumn(3).getString(), digits, "#")));
  }
  return all;
}

TEST(Batch, ASearchByFilesEndsAsTheSameRepliesDoLive) {
  const TemporaryDirectory directory("batch");
  const std::string live = directory.path() / "live.db";
  const std::string store = directory.path() / "batch.db";
  const std::string requests = directory.path() / "requests.jsonl";
  const std::string replies = directory.path() / "replies.jsonl";
  const ProgramResult replay = winnow({"run", "configs/quickstart.toml", "--store", live}, kSearch);
  ASSERT_EQ(replay.exit_code, 0) << replay.err;

  const std::vector<std::string> formats{"chat", "responses", "anthropic", "gemini"};
  ProgramResult step = winnow({"batch", "export", "configs/quickstart.toml", "--store", store,
                               "--format", formats[0], "-o", requests},
                              kSearch);
  ASSERT_EQ(step.exit_code, 0) << step.err;
  EXPECT_NE(step.err.find("winnow batch import"), std::string::npos) << step.err;
  std::size_t rounds = 0;
  for (std::size_t asked; (asked = play_provider(formats[rounds % 4], requests, replies)) > 0;) {
    EXPECT_EQ(asked, 2U) << "a step of each task";
    ++rounds;
    step = winnow({"batch", "import", replies, "--run", "quickstart", "--store", store},
                  {"-o", requests, "--format", formats[rounds % 4]});
    ASSERT_EQ(step.exit_code, 0) << step.err;
  }
  EXPECT_EQ(rounds, 7U);
  EXPECT_NE(step.err.find("14 calls, 1680 tokens"), std::string::npos) << step.err;
  EXPECT_EQ(run_account(store).size(), 16U) << "two baselines and 14 replies";
  EXPECT_EQ(run_account(store), run_account(live));
  EXPECT_EQ(prompts(store), prompts(live));
}

// An exported run of independent proposals.
struct ExportedRun {
  TemporaryDirectory directory{"batch"};
  std::string store = directory.path() / "store.db";
  std::string requests = directory.path() / "requests.jsonl";
  ProgramResult result;

  explicit ExportedRun(const std::vector<std::string>& more = {}) {
    std::vector<std::string> options{"--task", "reduce_sum"};
    for (const char* key :
         {"run.strategy=best-of-n", "run.proposals=3", "evaluation.timing=false"}) {
      options.insert(options.end(), {"--set", key});
    }
    options.insert(options.end(), more.begin(), more.end());
    result = winnow(
        {"batch", "export", "configs/quickstart.toml", "--store", store, "-o", requests}, options);
  }

  ProgramResult import(const std::string& lines, const std::vector<std::string>& more = {}) const {
    const std::string file = directory.path() / "replies.jsonl";
    write_file_atomic(file, lines);
    return winnow({"batch", "import", file, "--run", "quickstart", "--store", store}, more);
  }

  static std::string reply(const std::string& id) {
    return json{{"custom_id", id}, {"reply", "no code"}}.dump() + "\n";
  }
};

TEST(Batch, RepliesMayComeInPartsAndNoneIsTakenTwice) {
  const ExportedRun run;
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_EQ(json_lines(run.requests).size(), 3U);
  const std::string failed = R"({"custom_id": "reduce_sum-1-0", "result": {"type": "expired"}})"
                             "\n";
  const std::string first = ExportedRun::reply("reduce_sum-0-0") + failed;
  const ProgramResult part = run.import("what is this\n" + first, {"-o", run.requests});
  EXPECT_EQ(part.exit_code, 0) << part.err;
  EXPECT_NE(part.err.find("replies.jsonl:1: not JSON"), std::string::npos) << part.err;
  EXPECT_NE(part.err.find("waiting for 2 replies"), std::string::npos) << part.err;
  const std::vector<json> next = json_lines(run.requests);
  ASSERT_EQ(next.size(), 1U) << "what failed is asked again, what is still out is not";
  EXPECT_EQ(next[0].at("custom_id"), "reduce_sum-1-0");
  const ProgramResult rest = run.import(first + ExportedRun::reply("reduce_sum/1/0") +
                                            ExportedRun::reply("reduce_sum/2/0"),
                                        {"-o", run.requests});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_NE(rest.err.find("3 calls"), std::string::npos) << rest.err;
  EXPECT_TRUE(json_lines(run.requests).empty()) << "the search is over";
}

TEST(Batch, LimitsHold) {
  const ExportedRun run({"--max-calls", "2"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_EQ(json_lines(run.requests).size(), 2U);
  EXPECT_NE(run.result.err.find("limits.calls = 2"), std::string::npos) << run.result.err;
  const ProgramResult over =
      run.import(ExportedRun::reply("reduce_sum-0-0") + ExportedRun::reply("reduce_sum-1-0"));
  EXPECT_EQ(over.exit_code, 5) << over.err;
  EXPECT_NE(over.err.find("winnow batch export -o REQUESTS --run quickstart"), std::string::npos)
      << over.err;
}

TEST(Batch, AFileOfSomethingElseIsRefused) {
  const ExportedRun run;
  const ProgramResult wrong = run.import(ExportedRun::reply("gemm_f32-0-0"));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("no call 'gemm_f32-0-0'"), std::string::npos) << wrong.err;
  EXPECT_NE(wrong.err.find("docs/batch.md"), std::string::npos) << wrong.err;
  const ProgramResult missing =
      winnow({"batch", "import", "/nonexistent", "--run", "quickstart", "--store", run.store}, {});
  EXPECT_EQ(missing.exit_code, 2);
  const ProgramResult no_run =
      winnow({"batch", "export", "--run", "quickstrat", "--store", run.store, "-o", "x"}, {});
  EXPECT_EQ(no_run.exit_code, 2);
  EXPECT_NE(no_run.err.find("did you mean 'quickstart'"), std::string::npos) << no_run.err;
}

} // namespace
} // namespace winnow::test
