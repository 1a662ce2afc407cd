#include "harness/serve/judge_request.h"

#include "base/digest.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/serve/client_request.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

constexpr std::size_t kShownOfLongText = 4096; ///< bytes that the store keeps

tasks::ParameterChoice parameters_of(const ClientObject& item) {
  tasks::ParameterChoice parameters;
  const nlohmann::json* given = item.find("parameters");
  if (given == nullptr) {
    return parameters;
  }
  const ClientObject object(*given, item.path_of("parameters"));
  for (const auto& [name, value] : given->items()) {
    if (!value.is_number_integer()) {
      throw UsageError(object.path_of(name.c_str()) + " is no whole number");
    }
    parameters[name] = value.get<std::int64_t>();
  }
  return parameters;
}

Measuring measuring_of(const ClientObject& request) {
  Measuring measuring;
  if (request.find("counters") != nullptr) {
    const std::vector<std::string> known{"off", "fast", "full"};
    measuring.counters = request.text("counters");
    if (std::find(known.begin(), known.end(), measuring.counters) == known.end()) {
      const std::string shown = shortened(to_valid_utf8(measuring.counters), 40);
      throw UsageError("counters: there is no '" + shown + "'" + suggestion(shown, known));
    }
  }
  measuring.energy = request.boolean("energy");
  measuring.time_budget =
      std::chrono::milliseconds(request.whole_number("time_budget_ms", 0, kMostTimeBudgetMs, 0));
  return measuring;
}

JudgeItem item_of(const nlohmann::json& json, std::size_t index) {
  const ClientObject object(json, fmt::format("items[{}]", index));
  std::vector<std::string> members{"id", "task", "reply", "kernel", "parameters"};
  const std::vector<std::string>& more = members_of_declared_call();
  members.insert(members.end(), more.begin(), more.end());
  object.allow_only(members);
  JudgeItem item{object.text("id"), object.text("task"), object.text("reply"), false, {}};
  if (object.find("kernel") != nullptr) {
    if (object.find("reply") != nullptr) {
      throw UsageError(object.path_of("kernel") + " and reply are both there",
                       "send the model's reply, or the kernel file");
    }
    item.text = object.text("kernel");
    item.is_kernel = true;
  }
  item.parameters = parameters_of(object);
  if (item.id.empty()) {
    item.id = std::to_string(index);
  }
  if (item.id.size() > kMaxIdBytes) {
    throw UsageError(fmt::format("{} has more than {} bytes", object.path_of("id"), kMaxIdBytes));
  }
  check_item(item);
  item.declared = read_declared_call(object);
  return item;
}

void check_ids(const std::vector<JudgeItem>& items) {
  std::set<std::string> ids;
  for (const JudgeItem& item : items) {
    if (!ids.insert(item.id).second) {
      throw UsageError("two items have the id '" + shortened(item.id, 60) + "'",
                       "give each item of a request an id of its own");
    }
  }
}

std::string metadata_of(const ClientObject& request) {
  const nlohmann::json* metadata = request.find("metadata");
  std::string text = metadata == nullptr ? "" : json_line(*metadata);
  if (text.size() > kMaxMetadataBytes) {
    throw UsageError(
        fmt::format("metadata has {} bytes; it may have {}", text.size(), kMaxMetadataBytes));
  }
  return text;
}

} // namespace

std::string_view to_string(JudgeDepth depth) {
  switch (depth) {
  case JudgeDepth::Compile:
    return "compile";
  case JudgeDepth::Correct:
    return "correct";
  case JudgeDepth::Full:
    break;
  }
  return "full";
}

JudgeDepth depth_from_string(const std::string& name) {
  for (const JudgeDepth depth : {JudgeDepth::Compile, JudgeDepth::Correct, JudgeDepth::Full}) {
    if (to_string(depth) == name) {
      return depth;
    }
  }
  const std::string shown = shortened(to_valid_utf8(name), 40);
  throw UsageError("there is no depth '" + shown + "'" +
                   suggestion(shown, {"compile", "correct", "full"}));
}

void check_options(const JudgeRequest& request) {
  const bool has_parameters =
      std::any_of(request.items.begin(), request.items.end(),
                  [](const JudgeItem& item) { return !item.parameters.empty(); });
  if (request.depth != JudgeDepth::Full && request.measuring != Measuring{}) {
    throw UsageError("counters, energy and time_budget_ms need the depth 'full'",
                     "leave depth out");
  }
  if (has_parameters && request.max_variants > 1) {
    throw UsageError("max_variants chooses the parameters itself",
                     "leave max_variants or parameters out");
  }
  if (request.depth != JudgeDepth::Full &&
      (!request.race_against.empty() || request.max_variants > 1)) {
    throw UsageError("race_against and max_variants need the depth 'full'", "leave depth out");
  }
  if (!request.race_against.empty() && request.max_variants > 1) {
    throw UsageError("race_against needs one choice of parameters",
                     "leave max_variants or race_against out");
  }
  if (request.depth != JudgeDepth::Full &&
      std::any_of(request.items.begin(), request.items.end(),
                  [](const JudgeItem& item) { return item.declared.has_value(); })) {
    throw UsageError("a call of a run needs the depth 'full'", "leave depth or run out");
  }
}

void check_item(JudgeItem& item) {
  if (item.task.empty()) {
    item.problem = "the item names no task";
  } else if (item.text.size() > kMaxItemBytes) {
    item.bad_reply =
        fmt::format("the text has {} bytes; it may have {}", item.text.size(), kMaxItemBytes);
    item.text =
        truncate_text(item.text, kShownOfLongText) + "\n[sha256 " + sha256_hex(item.text) + "]\n";
  }
}

JudgeRequest parse_judge_request(std::string_view body) {
  const nlohmann::json document = parse_client_json(body);
  const ClientObject object(document, "");
  object.allow_only({"items", "depth", "max_variants", "reward", "priority", "fresh",
                     "race_against", "counters", "energy", "time_budget_ms", "wait_s", "metadata"});
  const nlohmann::json* items = object.find("items");
  if (items == nullptr || !items->is_array() || items->empty() || items->size() > kMaxItems) {
    throw UsageError(fmt::format("items is no list of 1 to {} items", kMaxItems));
  }
  JudgeRequest request;
  for (const nlohmann::json& item : *items) {
    request.items.push_back(item_of(item, request.items.size()));
  }
  check_ids(request.items);
  if (object.find("depth") != nullptr) {
    request.depth = depth_from_string(object.text("depth"));
  }
  request.reward = object.text("reward");
  request.max_variants =
      static_cast<std::size_t>(object.whole_number("max_variants", 1, kMostVariants, 1));
  request.priority =
      static_cast<int>(object.whole_number("priority", -kMostPriority, kMostPriority, 0));
  request.fresh = object.boolean("fresh");
  request.race_against = object.text("race_against");
  request.measuring = measuring_of(object);
  request.metadata = metadata_of(object);
  check_options(request);
  request.wait = std::chrono::seconds(object.number("wait_s", kMostWait.count()));
  return request;
}

} // namespace winnow::harness
