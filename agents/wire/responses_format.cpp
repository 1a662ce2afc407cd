#include "agents/json/json_text.h"
#include "agents/wire/format_base.h"
#include "agents/wire/openai_parts.h"
#include "agents/wire/request_parts.h"

#include <fmt/format.h>

namespace winnow::agents {
namespace {

using nlohmann::json;

/// As in agents::Usage, input tokens include cached tokens and output tokens include reasoning.
Counts decode_usage(const json& usage) {
  const json& input = object_member(usage, "input_tokens_details");
  Usage details;
  details.cached_tokens = count_member(input, "cached_tokens");
  details.cache_write_tokens = count_member(input, "cache_write_tokens");
  details.reasoning_tokens =
      count_member(object_member(usage, "output_tokens_details"), "reasoning_tokens");
  return put_together(details, find_count(usage, "input_tokens"),
                      find_count(usage, "output_tokens"), find_count(usage, "total_tokens"));
}

/// The content of a list of output items. A list with only reasoning gives an empty answer.
struct Output {
  std::string text;
  bool refused = false;
  bool called = false; ///< a tool was called
};

Output output_of(const json& response) {
  Output output;
  for (const json& item : array_member(response, "output")) {
    if (!item.is_object()) {
      continue;
    }
    output.called = output.called || text_member(item, "type").ends_with("_call");
    for (const json& part : array_member(item, "content")) {
      if (!part.is_object() || text_member(item, "type", "message") != "message") {
        continue;
      }
      if (text_member(part, "type") == "output_text") {
        output.text += text_member(part, "text");
      } else if (text_member(part, "type") == "refusal") {
        output.text += text_member(part, "refusal");
        output.refused = true;
      }
    }
  }
  return output;
}

std::string finish_reason_of(const json& response, const Output& output) {
  if (text_member(response, "status") == "incomplete") {
    const std::string reason = text_member(object_member(response, "incomplete_details"), "reason");
    return reason == "max_output_tokens" ? "length" : reason;
  }
  return output.refused                         ? "content_filter"
         : output.called && output.text.empty() ? "tool_calls"
                                                : "stop";
}

ModelReply reply_of(const json& response) {
  Output output = output_of(response);
  ModelReply reply;
  reply.status = ModelReply::Status::Ok;
  reply.finish_reason = finish_reason_of(response, output);
  reply.text = std::move(output.text);
  reply.model = text_member(response, "model");
  reply.request_id = text_member(response, "id");
  reply.usage = decode_usage(object_member(response, "usage")).usage;
  return reply;
}

bool knows_usage(const json& response) {
  return decode_usage(object_member(response, "usage")).known;
}

class ResponsesStream final : public EventStreamDecoder {
public:
  using EventStreamDecoder::EventStreamDecoder;

private:
  void take(const std::string& event, const json& data) final {
    const std::string type = text_member(data, "type", event);
    if (type == "response.output_text.delta") {
      add_text(text_member(data, "delta"));
    } else if (type == "response.refusal.delta") {
      add_text(text_member(data, "delta"));
      refused_ = true;
    } else if (type == "response.completed" || type == "response.incomplete") {
      take_whole(object_member(data, "response"));
    } else if (type == "response.failed" || type == "response.cancelled") {
      take_failure(object_member(data, "response"), type);
    } else if (type.ends_with(".delta")) { // a piece of reasoning or of a tool call's arguments
      add_hidden(text_member(data, "delta"));
      has_content_ = true;
    }
  }

  /// Takes the last event, which repeats the whole answer. Some servers leave its output out.
  void take_whole(const json& response) {
    ModelReply whole = reply_of(response);
    if (whole.text.empty()) {
      whole.text = std::move(reply_.text);
      whole.finish_reason = refused_ ? "content_filter" : whole.finish_reason;
    }
    reply_ = std::move(whole);
    usage_known_ = knows_usage(response);
    has_content_ = complete_ = true;
  }

  void take_failure(const json& response, const std::string& type) {
    reply_.usage = decode_usage(object_member(response, "usage")).usage;
    usage_known_ = knows_usage(response);
    const json* error = find_error(response);
    fail(error != nullptr ? *error : json(fmt::format("the answer ended with {}", type)));
  }

  bool refused_ = false;
};

/// An assistant's turn repeats an output item, so it has the form of one.
json input_item(const Turn& turn) {
  if (turn.role != "assistant") {
    return {{"type", "message"}, {"role", turn.role}, {"content", turn.text()}};
  }
  return {{"type", "message"},
          {"role", turn.role},
          {"status", "completed"},
          {"content", json::array({{{"type", "output_text"},
                                    {"text", turn.text()},
                                    {"annotations", json::array()}}})}};
}

void add_input(json& body, std::vector<Turn> turns) {
  if (!turns.empty() && turns.front().role == "system") {
    body["instructions"] = turns.front().text();
    turns.erase(turns.begin());
  }
  body["input"] = json::array();
  for (const Turn& turn : turns) {
    body["input"].push_back(input_item(turn));
  }
}

class ResponsesFormat final : public OpenAiFormat {
public:
  ResponsesFormat() : OpenAiFormat("responses", "/responses") {}

  json encode(const ModelRequest& request, const WireOptions& options) const final {
    json body{{"model", request.model}, {"store", false}};
    add_input(body, turns_of(request));
    if (options.openai_itself) {
      add_prompt_cache_key(body, request);
    } else if (!request.key.empty()) {
      body["metadata"] = {{"key", request.key}};
    }
    if (sends_temperature(request, options)) {
      body["temperature"] = request.temperature;
    }
    if (!request.effort.empty()) {
      body["reasoning"] = {{"effort", request.effort}};
    }
    if (request.max_output_tokens > 0) {
      body["max_output_tokens"] = request.max_output_tokens;
    }
    if (request.schema) {
      body["text"]["format"] = {{"type", "json_schema"},
                                {"name", request.schema->name},
                                {"strict", true},
                                {"schema", schema_of(*request.schema)}};
    }
    if (options.stream) {
      body["stream"] = true;
    }
    apply_options(body, options);
    return body;
  }
  std::unique_ptr<StreamDecoder> stream_decoder() const final {
    return std::make_unique<ResponsesStream>(*this);
  }
  Counts counts_of(const json& answer) const final {
    return decode_usage(object_member(answer, "usage"));
  }

private:
  WireAnswer decode_object(const json& body) const final {
    if (!body.contains("output") || !body["output"].is_array()) {
      return malformed_answer("JSON without \"output\"");
    }
    const std::string status = text_member(body, "status", "completed");
    if (status != "completed" && status != "incomplete") {
      return malformed_answer(fmt::format("a response that is \"{}\"", status));
    }
    WireAnswer answer;
    answer.reply = reply_of(body);
    answer.usage_known = knows_usage(body);
    return answer;
  }
};

} // namespace

const WireFormat& responses_format() {
  static const ResponsesFormat format;
  return format;
}

} // namespace winnow::agents
