#include "harness/client/judge_server.h"

#include "base/files.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "evaluators/evaluation/blank_evaluation.h"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kAtOnce{10};
constexpr std::uint64_t kMostTokenBytes = 4096;
constexpr int kStatusTooMany = 429, kFirstRefusal = 300, kFirstServerFault = 500;
constexpr int kLongestPause = 10; // seconds

std::string token_of(const ServerOptions& options) {
  std::string text;
  if (!options.token_file.empty()) {
    text = read_file(options.token_file, kMostTokenBytes);
  } else if (const char* variable = std::getenv("WINNOW_TOKEN")) {
    text = variable;
  }
  const std::size_t end = text.find_first_of("\r\n");
  return text.substr(0, end);
}

json parsed(const std::string& body, const std::string& target) {
  json document = has_too_many_levels(body) ? json() : json::parse(body, nullptr, false);
  if (!document.is_object()) {
    throw Error("the server's answer to " + target + " is no JSON object",
                "is it a `winnow serve --judge` of this version?");
  }
  return document;
}

/// Waits, because the server is full.
void pause(int seconds, const std::stop_token& stop) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::seconds(std::clamp(seconds, 1, kLongestPause));
  while (!stop.stop_requested() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

} // namespace

JudgeServer::JudgeServer(const ServerOptions& options)
    : connection_(connection_to(options.server, token_of(options))) {}

ServerAnswer JudgeServer::checked(const std::string& method, const std::string& target,
                                  const std::string& body, std::chrono::seconds wait,
                                  const std::stop_token& stop) {
  for (;;) {
    // What is posted has an effect, and is answered at once: a request to stop does not cut it off.
    ServerAnswer answer =
        connection_->ask(method, target, body, wait, method == "POST" ? std::stop_token() : stop);
    if (answer.status == kStatusTooMany) {
      pause(answer.retry_after_s, stop);
      if (stop.stop_requested()) {
        throw Error("interrupted");
      }
      continue;
    }
    if (answer.status < kFirstRefusal) {
      return answer;
    }
    const json document = json::parse(answer.body, nullptr, false);
    const auto said = [&](const char* name) {
      const bool is_text =
          document.is_object() && document.contains(name) && document.at(name).is_string();
      return is_text ? visible(document.at(name).get<std::string>()) : std::string();
    };
    const std::string what = said("error").empty()
                                 ? fmt::format("the server answers with status {}", answer.status)
                                 : "the server says: " + said("error");
    if (answer.status >= kFirstServerFault) {
      throw Error(what, said("remedy"));
    }
    throw UsageError(what, said("remedy"));
  }
}

json JudgeServer::get(const std::string& target) {
  return get(target, kAtOnce, {});
}

json JudgeServer::get(const std::string& target, std::chrono::seconds wait,
                      const std::stop_token& stop) {
  return parsed(checked("GET", target, "", wait, stop).body, target);
}

json JudgeServer::post(const std::string& target, const json& body, std::chrono::seconds wait,
                       const std::stop_token& stop) {
  return parsed(checked("POST", target, json_line(body), wait, stop).body, target);
}

std::string JudgeServer::text(const std::string& target) {
  return checked("GET", target, "", kAtOnce, {}).body;
}

void JudgeServer::remove(const std::string& target) {
  connection_->ask("DELETE", target, "", kAtOnce, {});
}

std::string url_part(const std::string& text) {
  std::string part;
  for (const char c : text) {
    const bool is_plain = is_word_character(c) || c == '-' || c == '.';
    part += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return part;
}

ServedTask served_task(JudgeServer& server, const std::string& task) {
  const json facts = server.get("/v1/reports/task?task=" + url_part(task));
  try {
    if (const int version = facts.at("evaluator_version").get<int>();
        version != evaluators::kEvaluatorVersion) {
      throw Error(fmt::format("the server judges by version {} of the rules, and this Winnow by {}",
                              version, evaluators::kEvaluatorVersion),
                  "use the same Winnow on both sides");
    }
    return {facts.at("task").get<std::string>(), facts.at("versus").get<std::string>(),
            facts.at("device").get<evaluators::DeviceReport>()};
  } catch (const json::exception&) {
    throw Error("the server's description of the task is malformed",
                "use the same Winnow on both sides");
  }
}

} // namespace winnow::harness
