#include "agents/json/json_text.h"
#include "agents/wire/format_base.h"
#include "agents/wire/openai_parts.h"
#include "agents/wire/request_parts.h"

namespace winnow::agents {
namespace {

using nlohmann::json;

/// The content of a message, or of a piece of a message in a stream.
struct Content {
  std::string text;
  bool refused = false;
};

/// The content is a text, null, or a list of parts, of which only the text parts count.
Content content_of(const json& message) {
  Content content{text_member(message, "content"), false};
  for (const json& part : array_member(message, "content")) {
    if (part.is_object() && text_member(part, "type", "text") == "text") {
      content.text += text_member(part, "text");
    }
  }
  if (const std::string refusal = text_member(message, "refusal"); !refusal.empty()) {
    content.refused = true;
    content.text += refusal;
  }
  return content;
}

/// Empty: the answer goes on. Some servers write their null as a word.
std::string written_reason(const json& choice) {
  const std::string reason = text_member(choice, "finish_reason");
  return reason == "null" || reason == "None" ? std::string() : reason;
}

std::string finish_reason_of(const json& choice, bool refused) {
  const std::string reason = written_reason(choice);
  return refused && reason != "length" ? "content_filter"
         : reason == "function_call"   ? "tool_calls"
                                       : reason;
}

/// The error in a choice; null if there is none.
json failure_of(const json& choice) {
  if (const json* error = find_error(choice)) {
    return *error;
  }
  const std::string reason = written_reason(choice);
  // Used by OpenRouter and by DeepSeek.
  if (reason == "error" || reason == "insufficient_system_resource") {
    return {{"message", "the answer ended for the reason \"" + reason + "\""}, {"code", 503}};
  }
  return nullptr;
}

/// As in agents::Usage, prompt tokens include cached tokens and completion tokens include
/// reasoning. xAI and Gemini count reasoning only in the total.
Counts decode_usage(const json& usage) {
  const json& prompt = object_member(usage, "prompt_tokens_details");
  Usage details;
  details.cached_tokens = prompt.contains("cached_tokens")
                              ? count_member(prompt, "cached_tokens")
                              : count_member(usage, "prompt_cache_hit_tokens"); // used by DeepSeek
  details.cache_write_tokens = count_member(prompt, "cache_write_tokens");
  details.reasoning_tokens =
      count_member(object_member(usage, "completion_tokens_details"), "reasoning_tokens");
  return put_together(details, find_count(usage, "prompt_tokens"),
                      find_count(usage, "completion_tokens"), find_count(usage, "total_tokens"));
}

/// OpenRouter reports its charge. If the user's own key at the provider is used ("BYOK"), it also
/// reports the provider's charge, which is added.
std::optional<double> decode_cost(const json& usage) {
  const double cost = number_member(usage, "cost", -1);
  if (cost < 0) {
    return std::nullopt;
  }
  const auto own_key = usage.find("is_byok");
  const double upstream =
      number_member(object_member(usage, "cost_details"), "upstream_inference_cost", 0);
  return own_key != usage.end() && *own_key == true && upstream > 0 ? cost + upstream : cost;
}

/// The usage of a body or chunk. Streams of Groq have it in "x_groq", those of Moonshot in the
/// choice.
const json& usage_in(const json& body) {
  const json& own = object_member(body, "usage");
  if (!own.empty()) {
    return own;
  }
  const json& groq = object_member(object_member(body, "x_groq"), "usage");
  const json& choices = array_member(body, "choices");
  return !groq.empty() || choices.empty() ? groq : object_member(choices.front(), "usage");
}

/// Reads the usage of a body or chunk. Returns whether it counts everything.
bool take_usage(const json& body, ModelReply& reply) {
  const json& usage = usage_in(body);
  const Counts counts = decode_usage(usage);
  if (counts.known) {
    reply.usage = counts.usage;
    reply.dollars = decode_cost(usage);
  } else if (reply.usage.tokens() == 0) {
    reply.usage = counts.usage; // more than nothing
  }
  return counts.known;
}

class ChatStream final : public EventStreamDecoder {
public:
  using EventStreamDecoder::EventStreamDecoder;

private:
  void take(const std::string&, const json& chunk) final {
    reply_.model = text_member(chunk, "model", reply_.model);
    reply_.request_id = text_member(chunk, "id", reply_.request_id);
    const std::int64_t before = received_bytes();
    for (const json& choice : array_member(chunk, "choices")) {
      if (choice.is_object() && count_member(choice, "index") == 0) {
        take_choice(choice);
      }
    }
    // Servers send the usage in the last chunk or in each chunk. It does not count later text.
    const bool counted = take_usage(chunk, reply_);
    usage_known_ = counted || (usage_known_ && received_bytes() == before);
  }

  void take_choice(const json& choice) {
    if (const json failure = failure_of(choice); !failure.is_null()) {
      fail(failure);
      return;
    }
    const json& delta = object_member(choice, "delta");
    const Content content = content_of(delta);
    add_text(content.text);
    refused_ = refused_ || content.refused;
    for (const char* reasoning : {"reasoning_content", "reasoning"}) {
      add_hidden(text_member(delta, reasoning));
    }
    has_content_ = has_content_ || !array_member(delta, "content").empty() ||
                   !array_member(delta, "tool_calls").empty();
    if (!written_reason(choice).empty()) {
      reply_.finish_reason = finish_reason_of(choice, refused_);
      complete_ = true;
    }
  }

  bool refused_ = false;
};

/// Sends the call's key as "user", so that the server's log can be compared with Winnow's. OpenAI
/// gets a cache key instead: a different user for each call would make its cache useless.
void add_key(json& body, const ModelRequest& request, const WireOptions& options) {
  if (options.openai_itself) {
    add_prompt_cache_key(body, request);
  } else if (!request.key.empty()) {
    body["user"] = request.key;
  }
}

void add_sampling(json& body, const ModelRequest& request, const WireOptions& options) {
  if (sends_temperature(request, options)) {
    body["temperature"] = request.temperature;
  }
  if (!request.effort.empty()) {
    body["reasoning_effort"] = request.effort;
  }
  if (request.max_output_tokens > 0) {
    // OpenAI's reasoning models refuse the old name. Many compatible servers know only the old
    // name.
    body[options.openai_itself ? "max_completion_tokens" : "max_tokens"] =
        request.max_output_tokens;
  }
}

class ChatFormat final : public OpenAiFormat {
public:
  ChatFormat() : OpenAiFormat("chat", "/chat/completions") {}

  json encode(const ModelRequest& request, const WireOptions& options) const final {
    json body{{"model", request.model}, {"messages", openai_messages(turns_of(request))}};
    add_key(body, request, options);
    add_sampling(body, request, options);
    if (request.schema) {
      body["response_format"] = {{"type", "json_schema"},
                                 {"json_schema",
                                  {{"name", request.schema->name},
                                   {"strict", true},
                                   {"schema", schema_of(*request.schema)}}}};
    }
    if (options.stream) {
      body["stream"] = true;
      body["stream_options"] = {{"include_usage", true}};
    }
    apply_options(body, options);
    return body;
  }
  std::unique_ptr<StreamDecoder> stream_decoder() const final {
    return std::make_unique<ChatStream>(*this);
  }
  Counts counts_of(const json& answer) const final { return decode_usage(usage_in(answer)); }

private:
  WireAnswer decode_object(const json& body) const final {
    if (!body.contains("choices") || !body["choices"].is_array()) {
      return malformed_answer("JSON without \"choices\"");
    }
    const json& choices = body["choices"];
    if (choices.empty()) {
      return malformed_answer("an empty list of \"choices\"");
    }
    const json& choice = choices.front();
    if (const json failure = failure_of(choice); !failure.is_null()) {
      return failed_answer(error_within_success(failure));
    }
    const auto message = choice.find("message");
    if (message == choice.end() || !message->is_object()) {
      return malformed_answer("an answer whose first choice has no message");
    }
    Content content = content_of(*message);
    ModelReply reply;
    reply.status = ModelReply::Status::Ok;
    reply.finish_reason = finish_reason_of(choice, content.refused);
    reply.text = std::move(content.text);
    reply.model = text_member(body, "model");
    reply.request_id = text_member(body, "id");
    WireAnswer answer;
    answer.usage_known = take_usage(body, reply);
    answer.reply = std::move(reply);
    return answer;
  }
};

} // namespace

const WireFormat& chat_format() {
  static const ChatFormat format;
  return format;
}

} // namespace winnow::agents
