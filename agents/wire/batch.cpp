#include "agents/json/json_text.h"
#include "agents/wire/format_base.h"
#include "base/error.h"

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using nlohmann::json;

/// Form: {"id", "custom_id", "response": {"status_code", "body"}, "error"}.
WireAnswer decode_openai(const json& line) {
  if (const json* error = find_error(line)) {
    return failed_answer(error_within_success(*error));
  }
  const json& response = object_member(line, "response");
  const json& body = object_member(response, "body");
  const bool responses = body.contains("output") || text_member(body, "object") == "response";
  WireAnswer answer = (responses ? responses_format() : chat_format()).decode_json(body);
  if (answer.error && answer.error->status == 0) {
    answer.error->status = static_cast<long>(number_member(response, "status_code", 0));
  }
  return answer;
}

/// Form: {"custom_id", "result": {"type": "succeeded", "message"}}, or a result of another type.
WireAnswer decode_anthropic(const json& result) {
  if (text_member(result, "type") == "succeeded") {
    return anthropic_format().decode_json(object_member(result, "message"));
  }
  if (const json* error = find_error(result)) {
    return failed_answer(error_within_success(*error));
  }
  return failed_answer(error_from(fmt::format(
      "the provider ended the batch request with the type \"{}\"", text_member(result, "type"))));
}

/// Form: {"key", "response"}, {"key", "error"} or {"key", "status"}.
WireAnswer decode_gemini(const json& line) {
  if (line.contains("response")) {
    return gemini_format().decode_json(line["response"]);
  }
  return failed_answer(
      error_within_success(line.contains("error") ? line["error"] : line["status"]));
}

WireAnswer written_by_hand(const json& line) {
  WireAnswer answer;
  answer.reply.emplace();
  answer.reply->status = ModelReply::Status::Ok;
  answer.reply->text = text_member(line, "reply");
  answer.reply->finish_reason = "stop";
  answer.reply->model = text_member(line, "model");
  return answer;
}

bool has_object(const json& line, const char* name) {
  const auto member = line.find(name);
  return member != line.end() && member->is_object();
}

} // namespace

BatchAnswer decode_batch_line(std::string_view text) {
  const json line = parse_untrusted_json(text);
  BatchAnswer decoded{text_member(line, "custom_id"), {}};
  const bool gemini = decoded.custom_id.empty();
  if (gemini) {
    decoded.custom_id = text_member(line, "key");
  }
  const bool failed = line.is_object() && find_error(line) != nullptr;
  if (decoded.custom_id.empty()) {
    throw Error(fmt::format("the line has no \"custom_id\" (or \"key\"): {}", quoted_start(text)));
  }
  if (gemini && (has_object(line, "response") || failed || has_object(line, "status"))) {
    decoded.answer = decode_gemini(line);
  } else if (!gemini && has_object(line, "result")) {
    decoded.answer = decode_anthropic(line["result"]);
  } else if (!gemini && (has_object(line, "response") || failed)) {
    decoded.answer = decode_openai(line);
  } else if (line.contains("reply") && line["reply"].is_string()) {
    decoded.answer = written_by_hand(line);
  } else {
    throw Error(
        fmt::format("the line has no \"reply\", and is not batch output of OpenAI (\"response\"), "
                    "Anthropic (\"result\") or Gemini (\"key\" and \"response\"): {}",
                    quoted_start(text)));
  }
  return decoded;
}

} // namespace winnow::agents
