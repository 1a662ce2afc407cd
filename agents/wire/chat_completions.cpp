#include "agents/wire/chat_completions.h"

#include "agents/json_text.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessageBytes = 300;

/// Types and codes of a 429 that no waiting cures.
constexpr std::array<std::string_view, 6> kMoneyCodes{"insufficient_quota",
                                                      "credit_balance_exhausted",
                                                      "organization_usage_limit_exceeded",
                                                      "organization_spend_limit_exceeded",
                                                      "project_spend_limit_exceeded",
                                                      "billing_hard_limit_reached"};

std::string one_line(std::string_view text) {
  std::string line = to_valid_utf8(trim(text.substr(0, 4 * kMaxMessageBytes)));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return truncate_text(line, kMaxMessageBytes);
}

bool is_money_code(const std::string& code) {
  return std::find(kMoneyCodes.begin(), kMoneyCodes.end(), code) != kMoneyCodes.end();
}

/// {"message", "type", "code"}, where code may be a number, or just a text.
ProviderError error_from(const json& error) {
  ProviderError decoded;
  if (error.is_string()) {
    decoded.message = one_line(error.get<std::string>());
    return decoded;
  }
  if (!error.is_object()) {
    decoded.message = one_line(error.dump(-1, ' ', false, json::error_handler_t::replace));
    return decoded;
  }
  const std::string type = text_member(error, "type");
  const std::string code = text_member(error, "code");
  decoded.message = one_line(text_member(error, "message"));
  if (decoded.message.empty()) {
    decoded.message = one_line(error.dump(-1, ' ', false, json::error_handler_t::replace));
  }
  decoded.out_of_money = is_money_code(type) || is_money_code(code);
  const double status = number_member(error, "code", 0);
  decoded.status = status >= 400 && status <= 599 ? static_cast<long>(status) : 0;
  return decoded;
}

/// A message's content: text, null, or parts of which the text ones count.
std::string content_text(const json& message) {
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) {
    return text_member(message, "refusal");
  }
  if (content->is_string()) {
    return content->get<std::string>();
  }
  std::string text;
  if (content->is_array()) {
    for (const json& part : *content) {
      if (part.is_object() && text_member(part, "type", "text") == "text") {
        text += text_member(part, "text");
      }
    }
  }
  return text;
}

const json& object_member(const json& object, const char* name) {
  static const json none = json::object();
  const auto member = object.find(name);
  return member != object.end() && member->is_object() ? *member : none;
}

/// prompt_tokens includes cached ones, completion_tokens includes reasoning, as in our Usage.
Usage decode_usage(const json& usage) {
  return {count_member(usage, "prompt_tokens"),
          count_member(object_member(usage, "prompt_tokens_details"), "cached_tokens"),
          count_member(usage, "completion_tokens"),
          count_member(object_member(usage, "completion_tokens_details"), "reasoning_tokens")};
}

std::string quoted_start(std::string_view body) {
  return trim(body).empty() ? std::string("an empty body") : fmt::format("\"{}\"", one_line(body));
}

ChatAnswer malformed(std::string what) {
  ChatAnswer answer;
  answer.malformed = std::move(what);
  return answer;
}

ChatAnswer decode_choice(const json& body, const json& choice) {
  if (!choice.is_object() || !choice.contains("message") || !choice["message"].is_object()) {
    return malformed("its first choice has no message");
  }
  ModelReply reply;
  reply.status = ModelReply::Status::Ok;
  reply.text = content_text(object_member(choice, "message"));
  reply.finish_reason = text_member(choice, "finish_reason");
  reply.model = text_member(body, "model");
  ChatAnswer answer;
  const json& usage = object_member(body, "usage");
  answer.usage_known = usage.contains("prompt_tokens") && usage.contains("completion_tokens");
  reply.usage = decode_usage(usage);
  if (const double cost = number_member(usage, "cost", -1); cost >= 0) {
    reply.dollars = cost; // OpenRouter says what it charges
  }
  answer.reply = std::move(reply);
  return answer;
}

} // namespace

std::string encode_chat_request(const ModelRequest& request, bool openai_itself) {
  json messages = json::array();
  for (const Message& message : request.messages) {
    messages.push_back({{"role", message.role}, {"content", message.text}});
  }
  json body{{"model", request.model}, {"messages", std::move(messages)}};
  if (!request.key.empty()) {
    body["user"] = request.key;
  }
  if (request.temperature >= 0) {
    body["temperature"] = request.temperature;
  }
  if (request.max_output_tokens > 0) {
    // OpenAI's reasoning models refuse the old name; many compatible servers know only that.
    body[openai_itself ? "max_completion_tokens" : "max_tokens"] = request.max_output_tokens;
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

ProviderError decode_chat_error(std::string_view body) {
  ProviderError plain;
  plain.message = quoted_start(body);
  try {
    json parsed = parse_untrusted_json(body);
    if (parsed.is_array() && !parsed.empty()) { // Gemini's compatibility path wraps it
      parsed = json(parsed.front());
    }
    if (!parsed.is_object()) {
      return plain;
    }
    for (const char* name : {"error", "message", "detail"}) {
      if (const auto member = parsed.find(name); member != parsed.end() && !member->is_null()) {
        return error_from(*member);
      }
    }
    return plain;
  } catch (const Error&) {
    return plain;
  }
}

ChatAnswer decode_chat_answer(std::string_view body) {
  json parsed;
  try {
    parsed = parse_untrusted_json(body);
  } catch (const Error& failure) {
    return malformed(fmt::format("something that is not a JSON answer: {} ({})", quoted_start(body),
                                 failure.what()));
  }
  if (!parsed.is_object()) {
    return malformed(fmt::format("JSON that is no object: {}", quoted_start(body)));
  }
  if (const auto error = parsed.find("error"); error != parsed.end() && !error->is_null()) {
    ChatAnswer answer;
    answer.error = error_from(*error);
    return answer;
  }
  const auto choices = parsed.find("choices");
  if (choices == parsed.end() || !choices->is_array()) {
    return malformed(fmt::format("JSON without \"choices\": {}", quoted_start(body)));
  }
  if (choices->empty()) {
    return malformed("an empty list of \"choices\"");
  }
  ChatAnswer answer = decode_choice(parsed, choices->front());
  if (!answer.malformed.empty()) {
    answer.malformed = fmt::format("an answer that cannot be read: {}", answer.malformed);
  }
  return answer;
}

} // namespace winnow::agents
