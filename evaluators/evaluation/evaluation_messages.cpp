#include "base/digest.h"
#include "base/error.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "evaluators/evaluation/evaluation_request.h"
#include "evaluators/evaluation/sitting_request.h"
#include "tasks/parse/task_parse.h"
#include "tasks/plan/kernel_file.h"
#include "tasks/result/evaluation_codec.h"
#include "tasks/task/baseline.h"

#include <algorithm>
#include <map>

namespace winnow::evaluators {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr const char* kRequestSchema = "winnow.evaluation-request";
constexpr const char* kResultSchema = "winnow.evaluation-result";
constexpr const char* kSittingSchema = "winnow.sitting-request";
constexpr const char* kAnswerSchema = "winnow.sitting-answer";

/// The texts of a task, and what a folder says about it.
struct TaskMessage {
  std::string name, category, digest;
  std::string task_toml, reference, baseline, reference_python, cpu_baseline;
};
WINNOW_FIELDS(TaskMessage, name, category, digest, task_toml, reference, baseline, reference_python,
              cpu_baseline)

} // namespace

WINNOW_FIELDS(Protocol, seed, tiny_seeds, check, promotion, hidden_draw, hidden_sizes, timing,
              stop_when_lost, warm, counters, energy, max_samples, reuse, time_budget, run_timeout)
WINNOW_FIELDS(EarnedSpeed, speedup, bounds)
WINNOW_FIELDS(KernelToBeat, text, parameters, earned)
WINNOW_FIELDS(EvaluationRequest, id, task, text, file_name, choices, depth, turns, protocol,
              incumbent)
WINNOW_FIELDS(EvaluationResult, id, worker, evaluations, fault)
WINNOW_FIELDS(Finalist, text, file_name, parameters, kernel)
WINNOW_FIELDS(SittingRequest::Board, task, finalists, baseline_spread)
WINNOW_FIELDS(SittingRequest, id, boards, protocol)
WINNOW_FIELDS(SittingAnswer::Board, result, fault)
WINNOW_FIELDS(SittingAnswer, id, worker, boards)

} // namespace winnow::evaluators

namespace winnow::tasks {

template <>
constexpr EnumRange kEnumRange<evaluators::Counting>{static_cast<int>(evaluators::Counting::Off),
                                                     static_cast<int>(evaluators::Counting::Full)};
template <>
constexpr EnumRange kEnumRange<evaluators::Depth>{static_cast<int>(evaluators::Depth::Full),
                                                  static_cast<int>(evaluators::Depth::Compile)};

/// The key of a message that may be missing: most tasks have no baseline.cpu.cu.
constexpr const char* kCpuBaseline = "cpu_baseline";

template <> struct JsonForm<std::shared_ptr<const Task>> {
  static void append(std::string& out, const std::shared_ptr<const Task>& task) {
    append_tree(out, task ? write_one(*task) : nlohmann::json());
  }
  static nlohmann::json write_one(const Task& task) {
    TaskTexts texts = task_texts(task);
    nlohmann::json json = write_json(
        evaluators::TaskMessage{task.name, task.category, task.digest, std::move(texts.task_toml),
                                std::move(texts.reference), std::move(texts.baseline),
                                std::move(texts.reference_python), std::move(texts.cpu_baseline)});
    if (task.cpu_baseline.empty()) {
      json.erase(kCpuBaseline);
    }
    return json;
  }
  static void read(const nlohmann::json& json, const std::string& path,
                   std::shared_ptr<const Task>& task) {
    task.reset();
    if (json.is_null()) {
      return; // the task travels alone
    }
    nlohmann::json complete = json;
    if (complete.is_object()) {
      complete.emplace(kCpuBaseline, "");
    }
    evaluators::TaskMessage message;
    read_json(complete, path, message);
    Task parsed = parse_task({std::move(message.task_toml), std::move(message.reference),
                              std::move(message.baseline), std::move(message.reference_python),
                              std::move(message.cpu_baseline)},
                             path + ".task_toml");
    if (parsed.digest != message.digest) {
      throw_bad_json(path + ".digest", parsed.digest);
    }
    parsed.name = std::move(message.name);
    parsed.category = std::move(message.category);
    task = std::make_shared<const Task>(std::move(parsed));
  }
};

} // namespace winnow::tasks

namespace winnow::evaluators {
namespace {

void require_range(const std::string& path, std::int64_t value, std::int64_t low,
                   std::int64_t high) {
  if (value < low || value > high) {
    tasks::throw_bad_json(path,
                          "a number from " + std::to_string(low) + " to " + std::to_string(high));
  }
}

void check(const Protocol& protocol) {
  constexpr std::int64_t kDay = 86'400'000; // in milliseconds
  require_range("request.protocol.tiny_seeds", protocol.tiny_seeds, 1, 100);
  require_range("request.protocol.max_samples", protocol.max_samples, 6, 100'000);
  require_range("request.protocol.time_budget", protocol.time_budget.count(), 0, kDay);
  require_range("request.protocol.run_timeout", protocol.run_timeout.count(), 1, kDay);
}

} // namespace

std::string digest_of(const KernelToBeat& kernel) {
  return tasks::kernel_digest(kernel.text, kernel.parameters);
}

std::string_view to_string(Counting counting) {
  switch (counting) {
  case Counting::Off:
    return "off";
  case Counting::Auto:
    return "auto";
  case Counting::Fast:
    return "fast";
  case Counting::Full:
    return "full";
  }
  return "off";
}

std::optional<Counting> counting_from_string(std::string_view text) {
  const std::map<std::string_view, Counting> names{{"off", Counting::Off},
                                                   {"auto", Counting::Auto},
                                                   {"fast", Counting::Fast},
                                                   {"full", Counting::Full}};
  const auto found = names.find(text);
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

std::chrono::milliseconds time_budget(const Protocol& protocol, std::string_view device_kind) {
  constexpr std::chrono::milliseconds kCpu{150};
  constexpr std::chrono::milliseconds kGpu{20}; // its clock is exact and it runs nothing else
  return protocol.time_budget.count() > 0 ? protocol.time_budget
         : device_kind == "cpu"           ? kCpu
                                          : kGpu;
}

std::string_view to_string(Depth depth) {
  switch (depth) {
  case Depth::Full:
    return "full";
  case Depth::Quick:
    return "quick";
  case Depth::Trial:
    return "trial";
  case Depth::HeldOut:
    return "held_out";
  case Depth::Compile:
    return "compile";
  }
  return "unknown_depth";
}

std::string request_id(const EvaluationRequest& request, std::int64_t repetition) {
  EvaluationRequest without_task = request; // its digest stands for the task
  without_task.task.reset();
  Json json = tasks::write_json(without_task);
  json["id"] = repetition;
  json["task"] = request.task->digest;
  json["evaluator_version"] = kEvaluatorVersion;
  return sha256_hex(json.dump());
}

std::string encode(const EvaluationRequest& request) {
  return tasks::write_document(request, kRequestSchema, kVersion);
}

EvaluationRequest decode_request_of_task(std::string_view text,
                                         std::shared_ptr<const tasks::Task> task) {
  auto request = tasks::read_document<EvaluationRequest>(text, kRequestSchema, kVersion, "request");
  if (!request.task == !task) {
    tasks::throw_bad_json("request.task",
                          task ? "null, because the task travels alone" : "an object");
  }
  request.task = task ? std::move(task) : std::move(request.task);
  require_range("request.turns", request.turns, 1, 1000);
  check(request.protocol);
  if (request.depth == Depth::Trial && (request.choices.empty() || !request.incumbent)) {
    tasks::throw_bad_json("request.choices", "a trial to have choices and an incumbent");
  }
  return request;
}

EvaluationRequest decode_evaluation_request(std::string_view text) {
  return decode_request_of_task(text, nullptr);
}

std::string encode(const tasks::Task& task) {
  return tasks::JsonForm<std::shared_ptr<const tasks::Task>>::write_one(task).dump();
}

std::shared_ptr<const tasks::Task> decode_task(std::string_view text) {
  std::shared_ptr<const tasks::Task> task;
  tasks::read_json(tasks::parse_json(text, "task"), "task", task);
  if (!task) {
    tasks::throw_bad_json("task", "a task");
  }
  return task;
}

std::string encode(const EvaluationResult& result) {
  return tasks::write_document(result, kResultSchema, kVersion);
}

EvaluationResult decode_evaluation_result(std::string_view text) {
  auto result = tasks::read_document<EvaluationResult>(text, kResultSchema, kVersion, "result");
  if (result.evaluations.empty() == result.fault.empty()) {
    tasks::throw_bad_json("result.fault", "either evaluations or a fault");
  }
  return result;
}

SittingAnswer failed_sittings(const SittingRequest& request, const std::string& fault) {
  return {request.id, {}, std::vector<SittingAnswer::Board>(request.boards.size(), {{}, fault})};
}

std::string encode(const SittingRequest& request) {
  return tasks::write_document(request, kSittingSchema, kVersion);
}

SittingRequest decode_sitting_request(std::string_view text) {
  auto request = tasks::read_document<SittingRequest>(text, kSittingSchema, kVersion, "request");
  check(request.protocol);
  if (request.protocol.seed) {
    tasks::throw_bad_json("request.protocol.seed", "null");
  }
  for (const SittingRequest::Board& board : request.boards) {
    if (!board.task) {
      tasks::throw_bad_json("request.boards", "a task for each board");
    }
    if (board.finalists.empty()) {
      tasks::throw_bad_json("request.boards", "at least one finalist for each board");
    }
  }
  return request;
}

std::string encode(const SittingAnswer& answer) {
  return tasks::write_document(answer, kAnswerSchema, kVersion);
}

SittingAnswer decode_sitting_answer(std::string_view text) {
  auto answer = tasks::read_document<SittingAnswer>(text, kAnswerSchema, kVersion, "answer");
  for (const SittingAnswer::Board& board : answer.boards) {
    if (board.result.has_value() != board.fault.empty()) {
      tasks::throw_bad_json("answer.boards", "either a result or a fault for each board");
    }
  }
  return answer;
}

} // namespace winnow::evaluators
