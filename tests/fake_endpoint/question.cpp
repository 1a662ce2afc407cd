#include "tests/fake_endpoint/question.h"

#include <nlohmann/json.hpp>

namespace winnow::tests {
namespace {

using nlohmann::json;

constexpr std::string_view kGeminiPath = "/v1beta/models/";

std::optional<Wire> wire_of(std::string_view path) {
  if (path == "/v1/responses") {
    return Wire::Responses;
  }
  if (path == "/v1/messages") {
    return Wire::Anthropic;
  }
  if (path.starts_with(kGeminiPath) &&
      (path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent"))) {
    return Wire::Gemini;
  }
  // The last two: OpenRouter's, Gemini's.
  for (const std::string_view base : {"/v1", "/api/v1", "/v1beta/openai"}) {
    if (path == std::string(base) + "/chat/completions") {
      return Wire::Chat;
    }
  }
  return std::nullopt;
}

std::string text_at(const json& body, const char* pointer) {
  const json::json_pointer place(pointer);
  return body.contains(place) && body[place].is_string() ? body[place].get<std::string>() : "";
}

bool true_at(const json& body, const char* pointer) {
  const json::json_pointer place(pointer);
  return body.contains(place) && body[place] == true;
}

const char* key_place(Wire wire) {
  switch (wire) {
  case Wire::Chat:
    return "/user";
  case Wire::Responses:
    return "/metadata/key";
  case Wire::Anthropic:
    return "/metadata/user_id";
  case Wire::Gemini:
    break;
  }
  return "/no such member";
}

/// Appends the texts of one or several messages in any form: a string, parts with "text", ...
void append_texts(const json& value, std::string& out) {
  if (value.is_string()) {
    out += value.get<std::string>() + "\n";
    return;
  }
  for (const auto& [name, member] : value.items()) {
    if (value.is_array() || name == "text" || name == "content" || name == "parts") {
      append_texts(member, out);
    }
  }
}

} // namespace

std::string_view wire_name(Wire wire) {
  switch (wire) {
  case Wire::Chat:
    return "chat";
  case Wire::Responses:
    return "responses";
  case Wire::Anthropic:
    return "anthropic";
  case Wire::Gemini:
    return "gemini";
  }
  return "";
}

std::optional<Question> understand(const SeenRequest& request) {
  const auto wire = wire_of(request.path);
  if (!wire) {
    return std::nullopt;
  }
  const json body = json::parse(request.body, nullptr, false);
  Question question;
  question.wire = *wire;
  if (!body.is_object()) {
    return question;
  }
  question.stream = true_at(body, "/stream");
  question.wants_usage = *wire != Wire::Chat || true_at(body, "/stream_options/include_usage");
  question.key = text_at(body, key_place(*wire));
  question.model = text_at(body, "/model");
  if (*wire == Wire::Gemini) {
    const std::string name = request.path.substr(kGeminiPath.size());
    question.model = name.substr(0, name.rfind(':'));
    question.stream = name.ends_with(":streamGenerateContent");
  }
  for (const char* name :
       {"system", "systemInstruction", "instructions", "messages", "contents", "input"}) {
    append_texts(body.value(name, json()), question.text);
  }
  return question;
}

std::string complaint(const Question& question, const SeenRequest& request) {
  const json body = json::parse(request.body, nullptr, false);
  if (!body.is_object()) {
    return "the body is no JSON object";
  }
  if (request.method != "POST") {
    return "use POST";
  }
  if (question.model.empty()) {
    return "you must provide a model parameter";
  }
  if (question.wire == Wire::Anthropic && !body.contains("max_tokens")) {
    return "max_tokens: Field required";
  }
  if (question.wire == Wire::Anthropic && request.header("anthropic-version").empty()) {
    return "anthropic-version: header is required";
  }
  const char* messages = question.wire == Wire::Responses ? "input"
                         : question.wire == Wire::Gemini  ? "contents"
                                                          : "messages";
  if (!body.contains(messages) || body[messages].empty()) {
    return std::string(messages) + ": Field required";
  }
  if (question.wire == Wire::Gemini && question.stream &&
      request.target.find("?alt=sse") == std::string::npos) {
    return "without alt=sse the stream would be one JSON array, which is not scripted here";
  }
  return {};
}

} // namespace winnow::tests
