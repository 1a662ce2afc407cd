#include "harness/serve/compat.h"

#include "base/error.h"
#include "base/text.h"
#include "harness/serve/client_json.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kTailBytes = 200;
constexpr std::size_t kMaxKernelGymTasks = 100; // as KernelGYM itself

/// The query is the prompt with the reply. A tokeniser may have changed the begin of the prompt, or
/// cut it off; then the end of the prompt tells where the reply begins.
std::string reply_in(const std::string& query, const std::string& prompt) {
  if (query.starts_with(prompt)) {
    return query.substr(prompt.size());
  }
  const std::string tail = prompt.substr(prompt.size() - std::min(prompt.size(), kTailBytes));
  const std::size_t at = query.find(tail);
  return at == std::string::npos ? query : query.substr(at + tail.size());
}

JudgeItem item_for(std::size_t index, const std::string& task, const std::string& instead,
                   std::string reply) {
  JudgeItem item;
  item.id = std::to_string(index);
  item.task = task.empty() ? instead : task;
  item.text = std::move(reply);
  check_item(item);
  return item;
}

std::vector<JudgeItem> openrlhf_items(const ClientObject& body, const std::string& task) {
  const std::vector<std::string> queries = body.texts("query"), prompts = body.texts("prompts"),
                                 labels = body.texts("labels");
  const auto fits = [&](const std::vector<std::string>& list) {
    return list.empty() || list.size() == queries.size();
  };
  if (queries.empty() || queries.size() > kMaxItems || !fits(prompts) || !fits(labels)) {
    throw UsageError(
        fmt::format("query, prompts and labels are no lists of one length, 1 to {}", kMaxItems));
  }
  std::vector<JudgeItem> items;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    items.push_back(item_for(i, labels.empty() ? "" : labels[i], task,
                             prompts.empty() ? queries[i] : reply_in(queries[i], prompts[i])));
  }
  return items;
}

/// The text of an answer in OpenAI's form "Responses".
std::string text_of_response(const ClientObject& body) {
  const json* response = body.find("response");
  if (response == nullptr) {
    throw UsageError("response is missing", "send the Responses object of the model");
  }
  const json* output = ClientObject(*response, "response").find("output");
  std::string text;
  for (const json& message : output != nullptr && output->is_array() ? *output : json::array()) {
    const json* content = ClientObject(message, "response.output").find("content");
    for (const json& part : content != nullptr && content->is_array() ? *content : json::array()) {
      const ClientObject object(part, "response.output.content");
      text += object.text("type") == "output_text" ? object.text("text") : "";
    }
  }
  return text;
}

std::string task_of_metadata(const ClientObject& body) {
  const json* metadata = body.find("verifier_metadata");
  return metadata == nullptr ? body.text("task")
                             : ClientObject(*metadata, "verifier_metadata").text("task");
}

double flag(const json& result, const char* name) {
  return result.value(name, false) ? 1 : 0;
}

double speedup_of(const json& result, const char* end) {
  const json speedup = result.value("speedup", json());
  const json value = speedup.is_object() ? speedup.value(end, json()) : json();
  return value.is_number() ? value.get<double>() : 0;
}

/// Numbers only, because trainers make tensors of them.
json components(const json& result) {
  return {{"parsed", flag(result, "parsed")},       {"compiled", flag(result, "compiled")},
          {"correct", flag(result, "correct")},     {"progress", result.value("progress", 0.0)},
          {"speedup", speedup_of(result, "value")}, {"speedup_low", speedup_of(result, "low")}};
}

json openrlhf_reply(const std::vector<json>& results) {
  json reply = {
      {"rewards", json::array()}, {"scores", json::array()}, {"extra_logs", json::object()}};
  for (const json& result : results) {
    reply["rewards"].push_back(result.at("reward"));
    reply["scores"].push_back(flag(result, "correct"));
    const json numbers = components(result);
    for (const auto& [name, value] : numbers.items()) {
      reply["extra_logs"][name].push_back(value);
    }
  }
  return reply;
}

std::vector<JudgeItem> kernelgym_items(const ClientObject& body, const std::string& task) {
  const json* tasks = body.find("tasks");
  if (tasks == nullptr || !tasks->is_array() || tasks->empty() ||
      tasks->size() > kMaxKernelGymTasks) {
    throw UsageError(fmt::format("tasks is no list of 1 to {} tasks", kMaxKernelGymTasks));
  }
  std::set<std::string> ids;
  std::vector<JudgeItem> items;
  for (const json& one : *tasks) {
    items.push_back(kernelgym_item(one, task));
    if (!ids.insert(items.back().id).second) {
      throw UsageError("two tasks have the task_id '" + shortened(items.back().id, 60) + "'",
                       "give each task of a batch an id of its own");
    }
  }
  return items;
}

json kernelgym_batch(const json& body, const std::vector<json>& results) {
  json list = json::array();
  for (const json& result : results) {
    list.push_back(kernelgym_status(result.at("id").get<std::string>(), &result));
  }
  return {{"batch_id", body.value("batch_id", json())},
          {"total_tasks", results.size()},
          {"completed_tasks", results.size()},
          {"failed_tasks", 0}, // a batch with a fault has no such answer
          {"batch_status", "completed"},
          {"results", std::move(list)}};
}

} // namespace

std::vector<JudgeItem> trainer_items(Trainer trainer, const json& body, const std::string& task) {
  const ClientObject object(body, "");
  if (trainer == Trainer::OpenRlhf) {
    return openrlhf_items(object, task);
  }
  if (trainer == Trainer::NemoGym) {
    return {item_for(0, task_of_metadata(object), task, text_of_response(object))};
  }
  if (trainer == Trainer::KernelGymBatch) {
    return kernelgym_items(object, task);
  }
  return {item_for(0, object.text("label"), task, object.text("response"))};
}

json trainer_reply(Trainer trainer, const json& body, const std::vector<json>& results,
                   bool as_object) {
  if (trainer == Trainer::OpenRlhf) {
    return openrlhf_reply(results);
  }
  if (trainer == Trainer::KernelGymBatch) {
    return kernelgym_batch(body, results);
  }
  const json& result = results.at(0);
  if (trainer == Trainer::Slime && !as_object) {
    return result.at("reward");
  }
  json reply = trainer == Trainer::NemoGym ? body : components(result);
  reply["reward"] = result.at("reward");
  if (trainer == Trainer::NemoGym) {
    reply["reward_components"] = components(result);
  }
  return reply;
}

json nemo_gym_metrics(const json& body) {
  const json* rollouts = ClientObject(body, "").find("verify_responses");
  if (rollouts == nullptr || !rollouts->is_array()) {
    throw UsageError("verify_responses is no list");
  }
  double sum = 0;
  for (const json& rollout : *rollouts) {
    const json* reward = ClientObject(rollout, "verify_responses").find("reward");
    if (reward == nullptr || !reward->is_number()) {
      throw UsageError("verify_responses.reward is no number");
    }
    sum += reward->get<double>();
  }
  json metrics = json::object();
  if (!rollouts->empty()) {
    metrics["mean/reward"] = sum / static_cast<double>(rollouts->size());
  }
  return {
      {"group_level_metrics", json::array()}, {"agent_metrics", metrics}, {"key_metrics", metrics}};
}

JudgeItem kernelgym_item(const json& body, const std::string& task) {
  const ClientObject object(body, "");
  std::string named = object.text("task");
  named = named.empty() ? task : named;
  named = named.empty() ? object.text("entry_point") : named;
  JudgeItem item{object.text("task_id"), std::move(named), object.text("kernel_code"), true, {}};
  if (item.id.empty() || item.id.size() > kMaxIdBytes) {
    throw UsageError(fmt::format("task_id is no text of 1 to {} bytes", kMaxIdBytes));
  }
  check_item(item);
  return item;
}

int kernelgym_priority(const json& body) {
  const auto tasks = body.find("tasks");
  if (tasks != body.end() && tasks->is_array() && !tasks->empty()) {
    int highest = -1;
    for (const json& task : *tasks) {
      highest = std::max(highest, task.is_object() ? kernelgym_priority(task) : 0);
    }
    return highest;
  }
  const auto priority = body.find("priority");
  return priority == body.end() ? 0 : *priority == "high" ? 1 : *priority == "low" ? -1 : 0;
}

json kernelgym_status(const std::string& id, const json* result) {
  json status = {{"task_id", id}, {"status", "processing"}};
  if (result == nullptr) {
    return status;
  }
  const bool is_correct = flag(*result, "correct") > 0;
  const double speedup = speedup_of(*result, "value");
  const json time = result->value("time_ns", json());
  const double kernel_ms = time.is_number() ? time.get<double>() / 1e6 : 0;
  status.update(
      {{"status", "completed"},
       {"compiled", result->value("compiled", false)},
       {"correctness", is_correct},
       {"decoy_kernel", false},
       {"speedup", speedup},
       {"kernel_runtime", kernel_ms}, // milliseconds, as KernelGYM's
       {"reference_runtime", kernel_ms * speedup},
       {"error_message", is_correct ? json() : result->value("feedback", json())},
       {"error_code", is_correct ? json() : result->value("verdict", json())},
       {"processing_time", result->value("seconds", 0.0)},
       {"metadata",
        {{"reward", result->value("reward", json())}, {"winnow_job", result->value("job", "")}}}});
  return status;
}

} // namespace winnow::harness
