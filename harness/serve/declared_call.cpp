#include "harness/serve/declared_call.h"

#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRunNameBytes = 64;
constexpr std::size_t kMostModelBytes = 200;
constexpr std::size_t kMostTasks = 1024;
constexpr std::size_t kMostDigitsOfNumber = 18;
constexpr std::int64_t kMostSamples = 10'000;

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// A name begins with a letter, so that none is taken for the number of a run.
bool is_name(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return text.size() <= kMostRunNameBytes && consists_of(text.substr(0, 1), kLetters) &&
         consists_of(text, std::string(kLetters) + "0123456789._-");
}

void require_name(const ClientObject& object, const char* member, std::string_view name) {
  if (!is_name(name)) {
    throw UsageError(fmt::format("{} is no name of a letter and up to {} letters, digits, '.', "
                                 "'_' and '-'",
                                 object.path_of(member), kMostRunNameBytes - 1));
  }
}

std::string parent_of(const ClientObject& item, const json& parent, std::int64_t call) {
  if (parent.is_number_integer() && parent >= 0 && parent <= kMostCall && parent != call) {
    return std::to_string(parent.get<std::int64_t>());
  }
  const std::string text = parent.is_string() ? parent.get<std::string>() : "";
  const bool is_candidate = text.starts_with('@') && text.size() <= kMostDigitsOfNumber + 1 &&
                            consists_of(text.substr(1), "0123456789");
  if (is_candidate || (text.size() == kDigitsOfJob && consists_of(text, "0123456789abcdef"))) {
    return text;
  }
  throw UsageError(item.path_of("parents") + " has what is no earlier kernel",
                   "name a call of the run by its number, a candidate as \"@43\", or a job");
}

std::vector<std::string> parents_of(const ClientObject& item, std::int64_t call) {
  const json* list = item.find("parents");
  std::vector<std::string> parents;
  if (list == nullptr) {
    return parents;
  }
  if (!list->is_array() || list->size() > kMostParents) {
    throw UsageError(
        fmt::format("{} is no list of up to {} parents", item.path_of("parents"), kMostParents));
  }
  for (const json& parent : *list) {
    std::string name = parent_of(item, parent, call);
    if (std::find(parents.begin(), parents.end(), name) == parents.end()) {
      parents.push_back(std::move(name));
    }
  }
  return parents;
}

tasks::Usage usage_of(const ClientObject& item) {
  tasks::Usage usage;
  const json* stated = item.find("tokens");
  if (stated == nullptr) {
    return usage;
  }
  const ClientObject tokens(*stated, item.path_of("tokens"));
  tokens.allow_only({"input", "cached", "output"});
  usage.prompt_tokens = tokens.whole_number("input", 0, kMostTokens, 0);
  usage.cached_tokens = tokens.whole_number("cached", 0, usage.prompt_tokens, 0);
  usage.completion_tokens = tokens.whole_number("output", 0, kMostTokens, 0);
  return usage;
}

std::optional<double> dollars_of(const ClientObject& item) {
  const json* dollars = item.find("dollars");
  if (dollars == nullptr) {
    return std::nullopt;
  }
  if (!dollars->is_number() || !(dollars->get<double>() >= 0) ||
      !(dollars->get<double>() <= kMostDollars)) {
    throw UsageError(
        fmt::format("{} is no number from 0 to {:.0f}", item.path_of("dollars"), kMostDollars));
  }
  return dollars->get<double>();
}

std::string strategy_of(const ClientObject& object) {
  std::string strategy = object.text("strategy");
  if (!strategy.starts_with(kExternal)) {
    throw UsageError("strategy does not begin with '" + std::string(kExternal) +
                         "', by which a table tells the loops of others",
                     "write \"" + std::string(kExternal) + "NAME\"");
  }
  require_name(object, "strategy",
               std::string_view(strategy).substr(std::string_view(kExternal).size()));
  return strategy;
}

std::vector<std::string> tasks_of(const ClientObject& object) {
  std::vector<std::string> tasks = object.texts("tasks");
  if (tasks.empty() || tasks.size() > kMostTasks) {
    throw UsageError(fmt::format("tasks is no list of 1 to {} tasks", kMostTasks));
  }
  if (std::set<std::string>(tasks.begin(), tasks.end()).size() < tasks.size()) {
    throw UsageError("tasks names a task twice");
  }
  return tasks;
}

} // namespace

const std::vector<std::string>& members_of_declared_call() {
  static const std::vector<std::string> members{"run", "call", "parents", "tokens", "dollars"};
  return members;
}

std::optional<DeclaredCall> read_declared_call(const ClientObject& item) {
  if (item.find("run") == nullptr) {
    for (const std::string& member : members_of_declared_call()) {
      if (item.find(member.c_str()) != nullptr) {
        throw UsageError(item.path_of(member.c_str()) + " is there, and run is not",
                         "name the run that POST /v1/runs has declared");
      }
    }
    return std::nullopt;
  }
  DeclaredCall call;
  call.run = item.text("run");
  require_name(item, "run", call.run);
  if (item.find("call") == nullptr) {
    throw UsageError(item.path_of("call") + " is missing",
                     "number the calls of a run, so that one that is sent again counts once");
  }
  call.call = item.whole_number("call", 0, kMostCall, 0);
  call.parents = parents_of(item, call.call);
  call.usage = usage_of(item);
  call.dollars = dollars_of(item);
  return call;
}

RunDeclaration parse_run_declaration(std::string_view body) {
  const json document = parse_client_json(body);
  const ClientObject object(document, "");
  object.allow_only({"name", "strategy", "model", "tasks", "samples"});
  RunDeclaration run;
  run.name = object.text("name");
  require_name(object, "name", run.name);
  run.strategy = strategy_of(object);
  run.model = object.text("model");
  if (run.model.empty() || run.model.size() > kMostModelBytes) {
    throw UsageError(fmt::format("model is no text of 1 to {} bytes", kMostModelBytes));
  }
  run.tasks = tasks_of(object);
  run.samples = object.whole_number("samples", 1, kMostSamples, 0);
  return run;
}

} // namespace winnow::harness
