#include "agents/wire/provider_error.h"

#include "agents/json/json_text.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/secrets.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessageBytes = 300;
constexpr double kLongestDelaySeconds = 7 * 86400.0;

/// Types and codes for errors that no wait can solve. Most of them come with HTTP 429.
constexpr std::array<std::string_view, 8> kMoneyWords{"insufficient_quota",
                                                      "billing_error",
                                                      "credit_balance_exhausted",
                                                      "organization_usage_limit_exceeded",
                                                      "organization_spend_limit_exceeded",
                                                      "project_spend_limit_exceeded",
                                                      "billing_hard_limit_reached",
                                                      "billing_not_active"};

/// Phrases for errors whose type and code are also used for other errors: Anthropic (HTTP 400),
/// Gemini (HTTP 429).
constexpr std::array<std::string_view, 2> kMoneyPhrases{"credit balance is too low",
                                                        "credits are depleted"};

struct StatusWord {
  std::string_view word;
  long status;
};
constexpr std::array<StatusWord, 19> kStatusWords{{{"invalid_api_key", 401},
                                                   {"model_not_found", 404},
                                                   {"rate_limit_exceeded", 429},
                                                   {"insufficient_quota", 429},
                                                   {"context_length_exceeded", 400},
                                                   {"server_error", 500},
                                                   {"overloaded_error", 529},
                                                   {"api_error", 500},
                                                   {"rate_limit_error", 429},
                                                   {"timeout_error", 504},
                                                   {"invalid_request_error", 400},
                                                   {"authentication_error", 401},
                                                   {"billing_error", 402},
                                                   {"permission_error", 403},
                                                   {"not_found_error", 404},
                                                   {"request_too_large", 413},
                                                   {"RESOURCE_EXHAUSTED", 429},
                                                   {"UNAVAILABLE", 503},
                                                   {"INTERNAL", 500}}};

std::string one_line(std::string_view text) {
  // First of all, because a cut through a secret would leave its half.
  std::string line = without_secrets(std::string(trim(text)));
  line.resize(std::min(line.size(), 4 * kMaxMessageBytes));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return shortened(to_valid_utf8(line), kMaxMessageBytes);
}

/// OpenRouter writes "Provider returned error" and puts the provider's own message into "metadata".
std::string message_of(const json& error) {
  const std::string message = text_member(error, "message");
  const std::string raw = text_member(object_member(error, "metadata"), "raw");
  if (message.empty()) {
    return one_line(json_line(error));
  }
  return one_line(raw.empty() ? message : message + ": " + raw);
}

long status_of(const json& error) {
  for (const char* name : {"code", "status"}) {
    double status = number_member(error, name, 0);
    if (const std::string text = text_member(error, name); !text.empty()) {
      std::from_chars(text.data(), text.data() + text.size(), status);
    }
    if (status >= 400 && status <= 599) {
      return static_cast<long>(status);
    }
  }
  return 0;
}

/// Parses Google's Duration: "22s", "1.5s".
std::optional<std::chrono::milliseconds> parse_delay(const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, seconds);
  if (failure != std::errc() ||
      std::string_view(rest, static_cast<std::size_t>(end - rest)) != "s" || !(seconds >= 0)) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(
      static_cast<std::chrono::milliseconds::rep>(std::min(seconds, kLongestDelaySeconds) * 1000));
}

/// The member that an error blames: OpenAI's "param", or the end of FastAPI's "loc".
std::string blamed_member(const json& error) {
  const json& one = error.is_array() && !error.empty() ? error.front() : error;
  const json& place = one.is_object() ? array_member(one, "loc") : one;
  if (one.is_object() && place.size() > 1 && place.back().is_string()) {
    std::string path;
    for (const json& name : place) {
      const std::string part = name.is_string() ? name.get<std::string>() : "";
      path += part == "body" || part.empty() ? "" : (path.empty() ? "" : ".") + part;
    }
    return path;
  }
  return one.is_object() ? text_member(one, "param") : std::string();
}

/// Reads Google's google.rpc.QuotaFailure and google.rpc.RetryInfo.
void read_details(const json& error, ProviderError& decoded) {
  for (const json& detail : array_member(error, "details")) {
    if (!detail.is_object()) {
      continue;
    }
    if (const auto delay = parse_delay(text_member(detail, "retryDelay"))) {
      decoded.retry_after = delay;
    }
    for (const json& violation : array_member(detail, "violations")) {
      if (violation.is_object() &&
          text_member(violation, "quotaId").find("PerDay") != std::string::npos) {
        decoded.daily_limit = true;
      }
    }
  }
}

bool means_no_money(const json& error, const std::string& message) {
  const auto is_word = [&](std::string_view word) {
    return text_member(error, "type") == word || text_member(error, "code") == word;
  };
  const auto is_said = [&](std::string_view phrase) {
    return message.find(phrase) != std::string::npos;
  };
  return std::any_of(kMoneyWords.begin(), kMoneyWords.end(), is_word) ||
         std::any_of(kMoneyPhrases.begin(), kMoneyPhrases.end(), is_said);
}

/// Anthropic puts its error into an event or batch result of the form {"type": "error", "error":
/// {...}}.
const json& innermost(const json& error) {
  const json* inner = error.is_object() ? find_error(error) : nullptr;
  return inner != nullptr && inner->is_object() ? *inner : error;
}

} // namespace

ProviderError error_from(const json& whole) {
  const json& error = innermost(whole);
  ProviderError decoded;
  decoded.param = blamed_member(error);
  if (!error.is_object()) {
    decoded.message = one_line(error.is_string() ? error.get<std::string>() : json_line(error));
    return decoded;
  }
  decoded.message = message_of(error);
  decoded.status = status_of(error);
  decoded.out_of_money = means_no_money(error, decoded.message);
  decoded.daily_limit =
      // The daily limit of OpenRouter's free models.
      decoded.message.find("per-day") != std::string::npos;
  read_details(error, decoded);
  return decoded;
}

ProviderError error_within_success(const json& whole) {
  ProviderError decoded = error_from(whole);
  const json& error = innermost(whole);
  if (decoded.status != 0 || !error.is_object()) {
    return decoded;
  }
  for (const char* name : {"code", "type", "status"}) { // the most specific member first
    const std::string text = text_member(error, name);
    const auto known = std::find_if(kStatusWords.begin(), kStatusWords.end(),
                                    [&](const StatusWord& word) { return word.word == text; });
    if (known != kStatusWords.end()) {
      decoded.status = known->status;
      break;
    }
  }
  return decoded;
}

const json* find_error(const json& answer) {
  const auto error = answer.find("error");
  const bool says_nothing = error == answer.end() || error->is_null() || error->empty() ||
                            *error == false || *error == "";
  return says_nothing ? nullptr : &*error;
}

const json* error_in(const json& body) {
  if (!body.is_object()) {
    return nullptr;
  }
  if (const json* error = find_error(body)) {
    return error;
  }
  if (!text_member(body, "message").empty()) {
    return &body;
  }
  const json& inner = object_member(body, "message");
  const json& holder = inner.contains("detail") ? inner : body;
  const auto detail = holder.find("detail");
  return detail != holder.end() && !detail->is_null() ? &*detail : nullptr;
}

ProviderError decode_error_body(std::string_view body) {
  try {
    const json parsed = parse_untrusted_json(body);
    // Gemini sometimes wraps an error in an array
    const bool wrapped = parsed.is_array() && !parsed.empty();
    if (const json* error = error_in(wrapped ? parsed.front() : parsed)) {
      return error_from(*error);
    }
  } catch (const Error&) { // not JSON: an HTML page from a proxy, or an empty body
  }
  ProviderError plain;
  plain.message = quoted_start(body);
  return plain;
}

std::string quoted_start(std::string_view body) {
  return trim(body).empty() ? std::string("an empty body") : fmt::format("\"{}\"", one_line(body));
}

} // namespace winnow::agents
