#include "harness/run/reports/reports.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "evaluators/evaluation/blank_evaluation.h"
#include "harness/named/named_run.h"
#include "harness/report/board_report.h"
#include "harness/report/candidate_report.h"
#include "harness/report/json_table.h"
#include "harness/run/prompts/rules_document.h"
#include "harness/serve/judge_record.h"
#include "tasks/task/baseline.h"

#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

constexpr std::int64_t kMostColumns = 10'000, kMostTop = 1'000'000;

/// Makes the text of one part from a candidate's document, and what the part is called.
struct Part {
  std::function<std::string(const nlohmann::json&)> text;
  const char* what;
};

const std::map<std::string, Part>& parts() {
  const auto member = [](const char* path) {
    return [path](const nlohmann::json& document) { return text_at(document, path); };
  };
  static const std::map<std::string, Part> known{
      {"source", {member("source"), "source"}},
      {"plan", {member("plan"), "launch plan"}},
      {"reply", {member("reply"), "reply of a model"}},
      {"prompt", {prompt_text, "prompt"}},
      {"log", {member("evaluation/build/log"), "messages of the compiler"}},
      {"samples", {samples_text, "samples"}}};
  return known;
}

std::string part_text(const nlohmann::json& document, const Part& part) {
  const std::string text = part.text(document);
  if (text.empty()) {
    throw UsageError(
        fmt::format("candidate {} has no {}", text_at(document, "candidate_id"), part.what));
  }
  return text.ends_with('\n') ? text : text + "\n";
}

const std::map<std::string, Format>& board_formats() {
  static const std::map<std::string, Format> known{{"table", Format::Table},
                                                   {"json", Format::Json},
                                                   {"csv", Format::Csv},
                                                   {"md", Format::Markdown}};
  return known;
}

/// The value of a map, by a word of a client.
template <typename Value>
const Value& named(const std::map<std::string, Value>& known, const std::string& name,
                   const char* what) {
  const auto found = known.find(name);
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const auto& [one, value] : known) {
      names.push_back(one);
    }
    const std::string shown = shortened(to_valid_utf8(name), 40);
    throw UsageError(fmt::format("there is no {} '{}'{}", what, shown, suggestion(shown, names)));
  }
  return found->second;
}

} // namespace

std::string candidate_report(const store::RunStore& store, const CandidateReport& asked) {
  store::CandidateRecord record = store.candidate_record(store.candidate_named(asked.candidate));
  if (asked.without_hidden) {
    record.final.reset();
    if (record.state.best) {
      record.state.best = without_hidden(*std::move(record.state.best));
    }
  }
  const nlohmann::json document =
      candidate_json(record, {asked.part == "prompt", asked.part == "reply"});
  if (asked.json) {
    return json_document(document);
  }
  return asked.part.empty() ? candidate_text(document)
                            : part_text(document, named(parts(), asked.part, "part"));
}

std::string candidate_target(const CandidateReport& asked) {
  return fmt::format("/v1/reports/candidate?candidate={}&part={}&json={}",
                     url_part(asked.candidate), asked.part, asked.json ? 1 : 0);
}

std::string board_report(const store::RunStore& store, const BoardReport& asked) {
  const Format format = named(board_formats(), asked.format, "format");
  store::LeaderboardQuery query = asked.query;
  query.run = only_run(store, query.run);
  store.require_known(query);
  auto rows = store.leaderboard(query);
  for (store::LeaderboardRow& row : rows) {
    if (asked.without_hidden) {
      row.held_out_speedup = 0;
      row.held_out_note.clear();
      row.held_out.clear();
    }
  }
  const store::BoardFacts facts = store::board_facts(store, query, rows);
  const bool is_empty = rows.empty() && facts.left_out.empty() && format == Format::Table;
  return is_empty ? "" : format_leaderboard(rows, format, facts, asked.columns);
}

std::string board_target(const BoardReport& asked) {
  const store::LeaderboardQuery& query = asked.query;
  return fmt::format("/v1/reports/board?task={}&device={}&run={}&top={}&format={}&columns={}",
                     url_part(query.task), url_part(query.device), url_part(query.run), query.top,
                     asked.format, asked.columns);
}

std::string report_at(const ServerOptions& server, const std::string& target) {
  return JudgeServer(server).get(target).at("text").get<std::string>();
}

namespace {

/// {"text": ...}. nullopt: it is none of these.
std::optional<nlohmann::json> stored_report(const store::RunStore& store, const Target& target) {
  std::string text;
  if (target.is({"v1", "reports", "candidate"})) {
    target.allow_only({"candidate", "part", "json"});
    text = candidate_report(store, {target.value("candidate"), target.value("part"),
                                    target.number("json", 1) == 1, true});
  } else if (target.is({"v1", "reports", "board"})) {
    target.allow_only({"task", "device", "run", "top", "format", "columns"});
    BoardReport asked;
    asked.query = {target.value("task"), target.value("device"), target.value("run"),
                   target.number("top", kMostTop)};
    asked.format = target.value("format");
    asked.without_hidden = true;
    asked.columns = static_cast<std::size_t>(target.number("columns", kMostColumns));
    text = board_report(store, asked);
    if (text.empty()) {
      text = store.why_nobody_is_ranked(asked.query) + "\n";
    }
  } else {
    return std::nullopt;
  }
  return nlohmann::json{{"text", std::move(text)}};
}

} // namespace

std::string ServedReports::without_path(std::string text) const {
  const std::string& path = store_.native();
  for (std::size_t at = 0; (at = text.find(path, at)) != std::string::npos;) {
    text.replace(at, path.size(), "FILE");
  }
  return text;
}

nlohmann::json ServedReports::task_page(const std::string& name) const {
  const auto task = find_task_(name);
  return {{"task", task->name},
          {"versus", tasks::speedup_versus(*task, device_.kind)},
          {"device", device_},
          {"evaluator_version", evaluators::kEvaluatorVersion}};
}

nlohmann::json ServedReports::rules_page(const std::string& name) const {
  return rules_document(name.empty() ? std::nullopt : std::optional(*find_task_(name)), device_,
                        name, "");
}

std::optional<nlohmann::json> ServedReports::page(const Target& target,
                                                  const std::string& sees) const {
  for (const auto& [name, make] : {std::pair("task", &ServedReports::task_page),
                                   std::pair("rules", &ServedReports::rules_page)}) {
    if (target.is({"v1", "reports", name})) {
      target.allow_only({"task"});
      return (this->*make)(target.value("task"));
    }
  }
  store::RunStore own(store_, store::RunStore::Mode::ReadOnly);
  if (!sees.empty()) {
    own.show_only(sees);
  }
  try {
    auto report = stored_report(own, target);
    if (report) {
      (*report)["text"] = without_path((*report)["text"].get<std::string>());
    }
    return report;
  } catch (const UsageError& error) {
    throw UsageError(without_path(error.what()), without_path(error.remedy()));
  }
}

} // namespace winnow::harness
