#include "agents/openai_endpoint.h"

#include "agents/http/url.h"
#include "base/error.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr std::string_view kPath = "/chat/completions";
constexpr std::size_t kShortestKeyToCut = 6; ///< shorter ones ("none", "ollama") are words

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(
      static_cast<std::chrono::milliseconds::rep>(std::clamp(seconds, 0.001, 86400.0) * 1000));
}

struct Target {
  std::string url;
  UrlParts parts;
};

/// The URL that requests go to. Throws UsageError.
Target target_of(const EndpointConfig& config) {
  std::string base = config.base_url;
  const std::string remedy = "set base_url to something like https://api.openai.com/v1 or "
                             "http://localhost:8000/v1";
  const auto parts = parse_url(base);
  if (!parts) {
    throw UsageError(fmt::format("base_url '{}' is no http or https URL", base), remedy);
  }
  if (base.find_first_of("?#") != std::string::npos) {
    throw UsageError(
        fmt::format("base_url '{}' has a query or fragment, where {} is to be appended",
                    parts->shown, kPath),
        remedy);
  }
  if (base.substr(0, base.find('/', base.find("//") + 2)).find('@') != std::string::npos) {
    throw UsageError(fmt::format("base_url of {} carries a user or password", parts->shown),
                     "put the key into an environment variable and name it in api_key_env");
  }
  while (!base.empty() && base.back() == '/') {
    base.pop_back();
  }
  if (!base.ends_with(kPath)) {
    base += kPath;
  }
  return {base, *parse_url(base)};
}

/// The key from the environment; empty when none is needed. Throws UsageError.
std::string key_of(const EndpointConfig& config, const std::string& host) {
  const char* value =
      config.api_key_env.empty() ? nullptr : std::getenv(config.api_key_env.c_str());
  const std::string key(trim(value == nullptr ? "" : value));
  if (key.empty() && !config.api_key_env.empty() && !is_loopback(host)) {
    throw UsageError(
        fmt::format("no key for {}: the environment variable {} is {}", host, config.api_key_env,
                    value == nullptr ? "not set" : "empty"),
        fmt::format("export {}=..., or name another variable in api_key_env", config.api_key_env));
  }
  const bool printable =
      std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!printable) {
    throw UsageError(
        fmt::format("the key in {} holds a space, line break or character that cannot be "
                    "sent in a header",
                    config.api_key_env));
  }
  return key;
}

HttpLimits limits_of(const EndpointConfig& config) {
  HttpLimits limits;
  limits.parallel = static_cast<std::size_t>(std::max(config.parallel, 1));
  limits.connect_timeout = milliseconds(config.connect_timeout_seconds);
  limits.total_timeout = milliseconds(config.timeout_seconds);
  limits.stall_timeout = milliseconds(config.stall_seconds);
  return limits;
}

std::optional<bool> should_retry(const HttpResult& result) {
  const auto header = result.headers.find("x-should-retry");
  if (header == result.headers.end()) {
    return std::nullopt;
  }
  return header->second == "true"    ? std::optional(true)
         : header->second == "false" ? std::optional(false)
                                     : std::nullopt;
}

std::string attempts_text(int attempts) {
  return attempts > 1 ? fmt::format(" (after {} attempts)", attempts) : std::string();
}

} // namespace

OpenAiEndpoint::OpenAiEndpoint(const EndpointConfig& config)
    : config_(config), random_(std::random_device{}()), client_(limits_of(config)) {
  const Target target = target_of(config);
  url_ = target.url;
  shown_url_ = target.parts.shown;
  openai_itself_ = target.parts.host == "api.openai.com";
  key_ = key_of(config, target.parts.host);
  if (config.model.empty()) {
    throw UsageError("no model is named for the endpoint", "set model in [endpoint]");
  }
  policy_.max_attempts = config.max_attempts;
  policy_.base = milliseconds(config.retry_base_seconds);
}

void OpenAiEndpoint::start(ModelRequest request, std::function<void(ModelReply)> done) {
  if (request.model.empty()) {
    request.model = config_.model;
  }
  if (request.temperature < 0) {
    request.temperature = config_.temperature;
  }
  if (request.max_output_tokens <= 0) {
    request.max_output_tokens = config_.max_output_tokens;
  }
  HttpRequest post{url_, {"Content-Type: application/json"}, {}};
  if (!key_.empty()) {
    post.headers.push_back("Authorization: Bearer " + key_);
  }
  post.body = encode_chat_request(request, openai_itself_);
  client_.post(std::move(post),
               [this, model = request.model, done = std::move(done)](
                   HttpResult result) -> std::optional<std::chrono::milliseconds> {
                 Outcome outcome = judge(result, model);
                 if (outcome.retry_after) {
                   return outcome.retry_after;
                 }
                 outcome.reply.attempts = result.attempt;
                 outcome.reply.seconds = result.seconds;
                 redact(outcome.reply.error);
                 redact(outcome.reply.text);
                 done(std::move(outcome.reply));
                 return std::nullopt;
               });
}

void OpenAiEndpoint::cancel_all() {
  client_.cancel_all();
}

OpenAiEndpoint::Outcome OpenAiEndpoint::judge(const HttpResult& result, const std::string& model) {
  FailedAttempt attempt;
  attempt.attempt = result.attempt;
  switch (result.end) {
  case HttpResult::End::Cancelled: {
    Outcome outcome;
    outcome.reply.status = ModelReply::Status::Cancelled;
    outcome.reply.error = "cancelled";
    return outcome;
  }
  case HttpResult::End::TooLarge:
    return failed(attempt, fmt::format("{}: the answer is larger than {} MiB and was not read",
                                       shown_url_, HttpLimits().max_body_bytes >> 20U));
  case HttpResult::End::Transport:
    attempt.transport = true;
    return failed(attempt, fmt::format("{}: no answer: {}", shown_url_, result.error));
  case HttpResult::End::Answered:
    break;
  }
  if (result.status >= 200 && result.status < 300) {
    return judge_answer(result, model);
  }
  return refused(result, decode_chat_error(result.body), model);
}

OpenAiEndpoint::Outcome OpenAiEndpoint::judge_answer(const HttpResult& result,
                                                     const std::string& model) {
  ChatAnswer answer = decode_chat_answer(result.body);
  if (answer.error) {
    return refused(result, *answer.error, model);
  }
  if (!answer.reply) {
    FailedAttempt attempt;
    attempt.attempt = result.attempt;
    return failed(attempt,
                  fmt::format("{}: the endpoint answered HTTP {} with {}; check that base_url "
                              "is a chat completions endpoint",
                              shown_url_, result.status, answer.malformed));
  }
  Outcome outcome{std::move(*answer.reply), std::nullopt};
  outcome.reply.dollars = price(outcome.reply, answer.usage_known);
  if (outcome.reply.model.empty()) {
    outcome.reply.model = model;
  }
  return outcome;
}

OpenAiEndpoint::Outcome OpenAiEndpoint::refused(const HttpResult& result,
                                                const ProviderError& error,
                                                const std::string& model) {
  FailedAttempt attempt;
  attempt.attempt = result.attempt;
  attempt.status = error.status != 0 ? error.status : result.status;
  attempt.out_of_money = error.out_of_money;
  attempt.should_retry = should_retry(result);
  attempt.asked_for = requested_delay(result.headers, std::time(nullptr));
  std::string what = fmt::format("{}: HTTP {}: {}", shown_url_, result.status, error.message);
  if (error.status != 0 && error.status != result.status) {
    what += fmt::format(" (error {} inside it)", error.status);
  }
  if (error.out_of_money) {
    return failed(attempt, what + fmt::format("; the account behind {} has no money or quota left",
                                              config_.api_key_env));
  }
  if (attempt.asked_for && *attempt.asked_for > policy_.longest_wait) {
    what +=
        fmt::format("; it asks to wait {} s, which is too long", attempt.asked_for->count() / 1000);
  }
  return failed(attempt, what + hint(attempt.status, model));
}

OpenAiEndpoint::Outcome OpenAiEndpoint::failed(const FailedAttempt& attempt,
                                               const std::string& what) {
  Outcome outcome;
  const double random = std::uniform_real_distribution<double>(0, 1)(random_);
  outcome.retry_after = retry_delay(policy_, attempt, random);
  outcome.reply.status = ModelReply::Status::Failed;
  outcome.reply.error = what + attempts_text(attempt.attempt);
  return outcome;
}

std::string OpenAiEndpoint::hint(long status, const std::string& model) const {
  if (status == 401 || status == 403) {
    return key_.empty()
               ? fmt::format("; no key was sent: set the environment variable {}",
                             config_.api_key_env.empty() ? "that api_key_env names"
                                                         : config_.api_key_env)
               : fmt::format("; check the key in the environment variable {}", config_.api_key_env);
  }
  if (status == 404) {
    return fmt::format("; check base_url and the model '{}'", model);
  }
  return status >= 300 && status < 400 ? "; redirects are not followed: correct base_url" : "";
}

std::optional<double> OpenAiEndpoint::price(const ModelReply& reply, bool usage_known) const {
  if (reply.dollars) {
    return reply.dollars;
  }
  const auto& input = config_.dollars_per_million_input;
  const auto& output = config_.dollars_per_million_output;
  if (!usage_known || !input || !output) {
    return std::nullopt;
  }
  return (static_cast<double>(reply.usage.prompt_tokens) * *input +
          static_cast<double>(reply.usage.completion_tokens) * *output) /
         1e6;
}

void OpenAiEndpoint::redact(std::string& text) const {
  if (key_.size() < kShortestKeyToCut) {
    return;
  }
  for (std::size_t at = text.find(key_); at != std::string::npos; at = text.find(key_, at)) {
    text.replace(at, key_.size(), "[key]");
  }
}

Availability probe_openai(const EndpointConfig& config) {
  try {
    const Target target = target_of(config);
    const std::string key = key_of(config, target.parts.host);
    return Availability::yes(
        key.empty() ? fmt::format("{}, without a key", target.parts.shown)
                    : fmt::format("{}, key in {}", target.parts.shown, config.api_key_env));
  } catch (const UsageError& failure) {
    return Availability::no(failure.what(), failure.remedy());
  }
}

} // namespace winnow::agents
