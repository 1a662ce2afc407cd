#include "tests/fake_endpoint/wire_render.h"

#include "tests/fake_endpoint/wire_json.h"

#include <map>

namespace winnow::tests {

using nlohmann::json;

namespace {

json openai_usage(const Answer& answer, const Usage& usage, const char* prompt,
                  const char* completion) {
  json out{
      {std::string(prompt) + "_tokens", usage.prompt_tokens},
      {std::string(completion) + "_tokens", usage.completion_tokens},
      {"total_tokens", usage.tokens()},
      {std::string(prompt) + "_tokens_details",
       {{"cached_tokens", usage.cached_tokens}, {"cache_write_tokens", usage.cache_write_tokens}}},
      {std::string(completion) + "_tokens_details",
       {{"reasoning_tokens", usage.reasoning_tokens}}}};
  if (answer.dollars) {
    out["cost"] = *answer.dollars;
  }
  return out;
}

json chat_body(const Answer& answer) {
  json message{{"role", "assistant"}, {"content", answer.text}, {"refusal", nullptr}};
  if (answer.finish == "refusal") {
    message["content"] = nullptr;
    message["refusal"] = answer.text;
  }
  if (!answer.reasoning.empty()) {
    message["reasoning_content"] = answer.reasoning;
  }
  return {{"id", "chatcmpl-1"},
          {"object", "chat.completion"},
          {"created", 1},
          {"model", answer.model},
          {"choices",
           {{{"index", 0},
             {"message", message},
             {"logprobs", nullptr},
             {"finish_reason", finish_word(Wire::Chat, answer.finish)}}}},
          {"usage", usage_json(Wire::Chat, answer, answer.usage)}};
}

json gemini_body(const Answer& answer) {
  if (answer.finish == "refusal") {
    json out = gemini_chunk(answer, json::array(), answer.usage);
    out.erase("candidates");
    out["promptFeedback"] = {{"blockReason", "PROHIBITED_CONTENT"}};
    return out;
  }
  json parts = json::array();
  if (!answer.reasoning.empty()) {
    parts.push_back({{"text", answer.reasoning}, {"thought", true}});
  }
  if (!answer.text.empty()) {
    parts.push_back({{"text", answer.text}, {"thoughtSignature", "c2ln"}});
  }
  json out = gemini_chunk(answer, parts, answer.usage);
  out["candidates"][0]["finishReason"] = finish_word(Wire::Gemini, answer.finish);
  return out;
}

std::string gemini_status(int status) {
  static const std::map<int, std::string> names{
      {400, "INVALID_ARGUMENT"}, {401, "UNAUTHENTICATED"},    {403, "PERMISSION_DENIED"},
      {404, "NOT_FOUND"},        {429, "RESOURCE_EXHAUSTED"}, {500, "INTERNAL"},
      {503, "UNAVAILABLE"},      {504, "DEADLINE_EXCEEDED"}};
  const auto found = names.find(status);
  return found == names.end() ? "UNKNOWN" : found->second;
}

json gemini_error(const FakeError& error) {
  json details = json::array();
  if (!error.quota_id.empty()) {
    details.push_back({{"@type", "type.googleapis.com/google.rpc.QuotaFailure"},
                       {"violations", {{{"quotaId", error.quota_id}}}}});
  }
  if (!error.retry_delay.empty()) {
    details.push_back(
        {{"@type", "type.googleapis.com/google.rpc.RetryInfo"}, {"retryDelay", error.retry_delay}});
  }
  return {{"error",
           {{"code", error.status},
            {"message", error.message},
            {"status", gemini_status(error.status)},
            {"details", details}}}};
}

json openai_code(const std::string& code) {
  if (code.empty()) {
    return nullptr;
  }
  const json number = json::parse(code, nullptr, false); // gateways send HTTP statuses as numbers
  return number.is_number() ? number : json(code);
}

json error_json(Wire wire, const FakeError& error) {
  switch (wire) {
  case Wire::Anthropic:
    return {{"type", "error"},
            {"error", {{"type", error.type}, {"message", error.message}}},
            {"request_id", "req_1"}};
  case Wire::Gemini:
    return gemini_error(error);
  case Wire::Chat:
  case Wire::Responses:
    break;
  }
  return {{"error",
           {{"message", error.message},
            {"type", error.type},
            {"param", nullptr},
            {"code", openai_code(error.code)}}}};
}

} // namespace

json usage_json(Wire wire, const Answer& answer, const Usage& usage) {
  switch (wire) {
  case Wire::Chat:
    return openai_usage(answer, usage, "prompt", "completion");
  case Wire::Responses:
    return openai_usage(answer, usage, "input", "output");
  case Wire::Anthropic:
    return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens},
            {"cache_creation_input_tokens", usage.cache_write_tokens},
            {"cache_read_input_tokens", usage.cached_tokens},
            {"output_tokens", usage.completion_tokens},
            {"output_tokens_details", {{"thinking_tokens", usage.reasoning_tokens}}}};
  case Wire::Gemini:
    break;
  }
  return {{"promptTokenCount", usage.prompt_tokens},
          {"candidatesTokenCount", usage.completion_tokens - usage.reasoning_tokens},
          {"thoughtsTokenCount", usage.reasoning_tokens},
          {"cachedContentTokenCount", usage.cached_tokens},
          {"totalTokenCount", usage.tokens()}};
}

std::string finish_word(Wire wire, const std::string& finish) {
  static const std::map<std::string, std::string> anthropic{{"stop", "end_turn"},
                                                            {"length", "max_tokens"},
                                                            {"content_filter", "refusal"},
                                                            {"tool_calls", "tool_use"}};
  static const std::map<std::string, std::string> gemini{
      {"stop", "STOP"}, {"length", "MAX_TOKENS"}, {"content_filter", "SAFETY"}};
  if (wire == Wire::Chat) {
    return finish == "refusal" ? "stop" : finish;
  }
  const auto& words = wire == Wire::Anthropic ? anthropic : gemini;
  const auto found = words.find(finish);
  return found == words.end() ? finish : found->second;
}

std::string response_status(const std::string& finish) {
  return finish == "length" || finish == "content_filter" ? "incomplete" : "completed";
}

json response_object(const Answer& answer, const std::string& status) {
  json out{{"id", "resp_1"},        {"object", "response"},   {"created_at", 1},
           {"status", status},      {"error", nullptr},       {"incomplete_details", nullptr},
           {"model", answer.model}, {"output", json::array()}};
  if (status == "in_progress") {
    return out;
  }
  if (status == "incomplete") {
    out["incomplete_details"] = {
        {"reason", answer.finish == "length" ? "max_output_tokens" : "content_filter"}};
  }
  if (!answer.reasoning.empty()) {
    out["output"].push_back(
        {{"type", "reasoning"},
         {"id", "rs_1"},
         {"summary", {{{"type", "summary_text"}, {"text", answer.reasoning}}}}});
  }
  if (!answer.text.empty()) { // an answer without text has no message
    const json part =
        answer.finish == "refusal"
            ? json{{"type", "refusal"}, {"refusal", answer.text}}
            : json{{"type", "output_text"}, {"text", answer.text}, {"annotations", json::array()}};
    out["output"].push_back({{"type", "message"},
                             {"id", "msg_1"},
                             {"status", status},
                             {"role", "assistant"},
                             {"content", json::array({part})}});
  }
  out["usage"] = usage_json(Wire::Responses, answer, answer.usage);
  return out;
}

json anthropic_message(const Answer& answer, const Usage& usage) {
  return {{"id", "msg_1"},
          {"type", "message"},
          {"role", "assistant"},
          {"model", answer.model},
          {"content", json::array()},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr},
          {"usage", usage_json(Wire::Anthropic, answer, usage)}};
}

json gemini_chunk(const Answer& answer, json parts, const Usage& usage) {
  return {{"candidates",
           {{{"content", {{"role", "model"}, {"parts", std::move(parts)}}}, {"index", 0}}}},
          {"usageMetadata", usage_json(Wire::Gemini, answer, usage)},
          {"modelVersion", answer.model},
          {"responseId", "r1"}};
}

std::string write_json(const json& value) {
  std::string text = value.dump();
  for (std::size_t at = 0; (at = text.find(kInvalidUtf8Mark, at)) != std::string::npos;) {
    text.replace(at, kInvalidUtf8Mark.size(), "\xC3\x28\xFF");
  }
  return text;
}

std::string answer_body(const Question& question, const Answer& answer) {
  switch (question.wire) {
  case Wire::Chat:
    return write_json(chat_body(answer));
  case Wire::Responses:
    return write_json(response_object(answer, response_status(answer.finish)));
  case Wire::Gemini:
    return write_json(gemini_body(answer));
  case Wire::Anthropic:
    break;
  }
  json message = anthropic_message(answer, answer.usage);
  if (!answer.reasoning.empty()) {
    message["content"].push_back(
        {{"type", "thinking"}, {"thinking", answer.reasoning}, {"signature", "c2ln"}});
  }
  if (!answer.text.empty()) {
    message["content"].push_back({{"type", "text"}, {"text", answer.text}});
  }
  message["stop_reason"] = finish_word(Wire::Anthropic, answer.finish);
  return write_json(message);
}

std::string error_body(Wire wire, const FakeError& error) {
  return write_json(error_json(wire, error));
}

StreamEvent error_event(Wire wire, const FakeError& error) {
  StreamEvent event{StreamEvent::Part::Closing, {}, error_body(wire, error), std::nullopt};
  if (wire == Wire::Anthropic) {
    event.name = "error";
  }
  if (wire == Wire::Responses) {
    event.name = "error";
    event.data = write_json({{"type", "error"},
                             {"code", error.code.empty() ? error.type : error.code},
                             {"message", error.message},
                             {"param", nullptr}});
  }
  return event;
}

} // namespace winnow::tests
