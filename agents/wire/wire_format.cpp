#include "agents/wire/wire_format.h"

#include "agents/json/json_text.h"
#include "agents/wire/format_base.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace winnow::agents {

using nlohmann::json;

namespace {

const std::array<const WireFormat*, 4>& all_formats() {
  static const std::array<const WireFormat*, 4> formats{&chat_format(), &responses_format(),
                                                        &anthropic_format(), &gemini_format()};
  return formats;
}

} // namespace

const std::vector<std::string>& wire_format_names() {
  static const auto names = each<std::string>(all_formats(), &WireFormat::name);
  return names;
}

const WireFormat* find_wire_format(std::string_view name) {
  for (const WireFormat* format : all_formats()) {
    if (format->name() == name) {
      return format;
    }
  }
  return nullptr;
}

WireAnswer WireFormat::decode(std::string_view body) const {
  json parsed;
  try {
    parsed = parse_untrusted_json(body);
  } catch (const Error& failure) {
    WireAnswer answer = malformed_answer(fmt::format("something that is not a JSON answer: {} ({})",
                                                     quoted_start(body), failure.what()));
    const std::string_view text = trim(body);
    answer.cut_off = text.starts_with('{') && !text.ends_with('}');
    answer.received_bytes = answer.cut_off ? static_cast<std::int64_t>(body.size()) : 0;
    return answer;
  }
  WireAnswer answer = decode_json(parsed);
  answer.received_bytes = answer.reply ? static_cast<std::int64_t>(body.size()) : 0;
  if (!answer.malformed.empty()) {
    answer.malformed += ": " + quoted_start(body);
  }
  return answer;
}

WireAnswer WireFormat::decode_json(const json& body) const {
  const bool list = body.is_array() && !body.empty();
  const json& first = list ? body.front() : body;
  if (const json* error = first.is_object() ? find_error(first) : nullptr) {
    WireAnswer answer = failed_answer(error_within_success(*error));
    answer.lost_usage = counts_of(first).usage;
    return answer;
  }
  if (list) {
    return decode_array(body);
  }
  if (!body.is_object()) {
    return malformed_answer("JSON that is not an object");
  }
  WireAnswer answer = decode_object(body);
  const json* error = answer.malformed.empty() ? nullptr : error_in(body);
  if (error != nullptr) {
    answer = failed_answer(error_within_success(*error));
  }
  if (!answer.reply) {
    answer.lost_usage = counts_of(body).usage;
  } else {
    distrust_zero(answer, static_cast<std::int64_t>(answer.reply->text.size()));
  }
  return answer;
}

WireAnswer WireFormat::decode_array(const json&) const {
  return malformed_answer("JSON that is not an object");
}

Usage consistent(Usage usage) {
  usage.cached_tokens = std::min(usage.cached_tokens, usage.prompt_tokens);
  usage.cache_write_tokens =
      std::min(usage.cache_write_tokens, usage.prompt_tokens - usage.cached_tokens);
  usage.reasoning_tokens = std::min(usage.reasoning_tokens, usage.completion_tokens);
  return usage;
}

std::optional<std::int64_t> find_count(const json& usage, const char* name) {
  const double count = number_member(usage, name, -1);
  return count < 0 ? std::nullopt : std::optional(count_member(usage, name));
}

Counts put_together(Usage details, std::optional<std::int64_t> prompt,
                    std::optional<std::int64_t> completion, std::optional<std::int64_t> total) {
  if (prompt == 0) {
    prompt.reset(); // no prompt is empty: this endpoint does not count
  }
  if (prompt && total && *total > *prompt) {
    completion = std::max(completion.value_or(0), *total - *prompt);
  } else if (!prompt && completion && total && *total > *completion) {
    prompt = *total - *completion;
  }
  details.prompt_tokens = prompt.value_or(0);
  details.completion_tokens = completion.value_or(0);
  return {consistent(details), prompt && completion};
}

void distrust_zero(WireAnswer& answer, std::int64_t received) {
  // The text of a block may be the provider's and not the model's.
  if (answer.reply && received > 0 && answer.reply->usage.completion_tokens == 0 &&
      answer.reply->finish_reason != "content_filter") {
    answer.usage_known = false;
  }
}

WireAnswer malformed_answer(std::string what) {
  WireAnswer answer;
  answer.malformed = std::move(what);
  return answer;
}

WireAnswer failed_answer(ProviderError error) {
  WireAnswer answer;
  answer.error = std::move(error);
  return answer;
}

WireAnswer broken_off(const std::string& text) {
  WireAnswer answer =
      malformed_answer(fmt::format("a stream that broke off after {} bytes of text", text.size()));
  answer.cut_off = true;
  return answer;
}

std::string WireFormat::batch_line(const std::string& custom_id, const ModelRequest& request,
                                   const std::string& extra_body,
                                   const std::string& members) const {
  WireOptions options;
  options.stream = false;
  options.openai_itself = true; // or a provider that takes the same files
  options.extra_body = extra_body;
  options.members = members;
  return json_line(batch_item(custom_id, encode(request, options)));
}

} // namespace winnow::agents
