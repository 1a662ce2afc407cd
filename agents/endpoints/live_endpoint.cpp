#include "agents/endpoints/live_endpoint.h"

#include "agents/endpoints/endpoint_setup.h"
#include "agents/http/url.h"
#include "agents/money/price.h"
#include "agents/money/prices.h"
#include "agents/reply/reply.h"
#include "agents/reply/reply_schema.h"
#include "agents/wire/members.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/secrets.h"
#include "base/text.h"

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::agents {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::int64_t kCompletionTokens = 2048; ///< estimate if max_output_tokens is not set

std::optional<bool> should_retry(const HttpResult& result) {
  const auto header = result.headers.find("x-should-retry");
  if (header == result.headers.end()) {
    return std::nullopt;
  }
  return header->second == "true"    ? std::optional(true)
         : header->second == "false" ? std::optional(false)
                                     : std::nullopt;
}

std::string request_id(const HttpResult& result) {
  for (const char* name : {"x-request-id", "request-id", "x-goog-request-id"}) {
    if (const auto header = result.headers.find(name); header != result.headers.end()) {
      return header->second;
    }
  }
  return {};
}

std::int64_t prompt_tokens(const ModelRequest& request) {
  std::size_t bytes = 0;
  for (const Message& message : request.messages) {
    bytes += message.text.size();
  }
  return tokens_in(static_cast<std::int64_t>(bytes));
}

std::int64_t estimated_tokens(const ModelRequest& request) {
  return prompt_tokens(request) +
         (request.max_output_tokens > 0 ? request.max_output_tokens : kCompletionTokens);
}

/// The least that a provider bills for a request of which so much arrived.
Usage billed_at_least(const ModelRequest& request, std::int64_t received_bytes) {
  Usage usage;
  usage.prompt_tokens = prompt_tokens(request);
  usage.completion_tokens = tokens_in(received_bytes);
  return usage;
}

/// An estimate that is not below what the endpoint counted of a part.
Usage at_least(const Usage& counted, Usage estimate) {
  estimate.prompt_tokens =
      counted.prompt_tokens > 0 ? counted.prompt_tokens : estimate.prompt_tokens;
  estimate.completion_tokens = std::max(counted.completion_tokens, estimate.completion_tokens);
  return estimate;
}

/// Whether the model had begun to work, as far as it can be told from outside.
bool had_begun(const HttpResult& result, const WireAnswer& partial) {
  const bool refused = result.status >= 300;
  const bool ended_by_error = partial.error || (!partial.malformed.empty() && !partial.cut_off);
  return result.sent && !refused && (!ended_by_error || partial.received_bytes > 0);
}

/// Whether the reader of replies finds a kernel in the reply, whatever its form.
bool has_kernel(const ReplySchema& schema, const ModelReply& reply) {
  return schema.name == kernel_reply_schema().name &&
         extract_kernel_file(reply.text, reply.finish_reason).text.has_value();
}

/// An endpoint may repeat the key in any text of its answer.
void cut_secrets(ModelReply& reply) {
  for (std::string* text :
       {&reply.text, &reply.error, &reply.finish_reason, &reply.model, &reply.request_id}) {
    winnow::cut_secrets(*text);
  }
  for (std::string& notice : reply.notices) {
    winnow::cut_secrets(notice);
  }
}

Gate::End trouble_of(const FailedAttempt& attempt) {
  if (attempt.status == 429 && !attempt.out_of_money) {
    return Gate::End::Limited;
  }
  const bool in_trouble = attempt.transport || attempt.status == 408 || attempt.status >= 500;
  return in_trouble ? Gate::End::Failed : Gate::End::Answered;
}

} // namespace

/// A request with all its attempts. Lives until `done` has run.
struct LiveEndpoint::Call {
  explicit Call(const std::optional<Price>& price) : bill(price) {}

  ModelRequest request;
  std::function<void(ModelReply)> done;
  Bill bill;
  std::unique_ptr<StreamDecoder> decoder; ///< decodes the attempt in flight, if it is streamed
  int attempts = 0;                       ///< number of attempts sent
  int faults = 0; ///< attempts that failed while the endpoint was well: max_attempts limits these
  std::optional<Clock::time_point> first_failure;
  std::int64_t estimated_tokens = 0;
  WireOptions options; ///< of the attempt in flight
  std::vector<std::string> notices;
  bool repaired = false;
  std::optional<ModelReply> first_reply = {}; ///< what the repair is for
  bool to_repair = false;                     ///< send the request again, corrected
  std::set<std::string> bodies = {};          ///< that the endpoint has refused

  void book_lost(const HttpResult& result, const WireAnswer& partial);
  WireAnswer take_partial(const HttpResult& result);
};

/// What came of an answer that did not end as it should.
WireAnswer LiveEndpoint::Call::take_partial(const HttpResult& result) {
  WireAnswer partial;
  if (decoder) {
    partial = decoder->finish();
    decoder.reset();
  } else {
    partial.received_bytes = static_cast<std::int64_t>(result.body.size());
  }
  return partial;
}

/// Books an attempt without a reply.
void LiveEndpoint::Call::book_lost(const HttpResult& result, const WireAnswer& partial) {
  const Usage& counted = partial.lost_usage;
  const bool counted_all = partial.usage_known && counted.completion_tokens > 0;
  const bool estimates = !counted_all && had_begun(result, partial);
  bill.add_lost(counted, estimates ? billed_at_least(request, partial.received_bytes) : Usage());
}

LiveEndpoint::LiveEndpoint(const EndpointConfig& config, std::shared_ptr<HttpClient> client)
    : config_(config), format_(format_of(config)), random_(std::random_device{}()),
      gate_(gate_limits(config)), client_(std::move(client)) {
  base_url_ = base_url_of(config);
  const UrlParts parts = *parse_url(base_url_);
  if (config.model.empty()) {
    throw UsageError("the endpoint has no model",
                     "name one with --model PROVIDER/MODEL, or set endpoint.model");
  }
  shown_url_ = parse_url(format_.url(base_url_, config.model, config.stream))->shown;
  key_ = key_of(config, parts.host);
  price_ = endpoint_price(config, parts.host, config.model);
  options_.stream = config.stream;
  options_.openai_itself = parts.host == "api.openai.com";
  options_.members = config.members;
  options_.extra_body = config.extra_body;
  policy_.max_attempts = config.max_attempts;
  policy_.base = to_milliseconds(config.retry_base_seconds);
  policy_.longest_wait = std::max(policy_.longest_wait, to_milliseconds(config.outage_seconds));
  lane_ = client_->add_lane(http_options(config), gate_);
}

LiveEndpoint::~LiveEndpoint() {
  client_->cancel_all(lane_);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return open_calls_ == 0; });
}

void LiveEndpoint::start(ModelRequest request, std::function<void(ModelReply)> done) {
  if (request.model.empty()) {
    request.model = config_.model;
  }
  if (request.temperature < 0) {
    request.temperature = config_.temperature;
  }
  if (request.max_output_tokens <= 0) {
    request.max_output_tokens = config_.max_output_tokens;
  }
  if (request.effort.empty()) {
    request.effort = config_.effort;
  }
  auto call = std::make_shared<Call>(price_);
  call->request = std::move(request);
  call->done = std::move(done);
  {
    const std::lock_guard lock(mutex_);
    ++open_calls_;
  }
  post(call);
}

void LiveEndpoint::post(const std::shared_ptr<Call>& call) {
  HttpRequest post;
  post.url = format_.url(base_url_, call->request.model, options_.stream);
  post.headers = format_.headers(key_.value);
  post.headers.insert(post.headers.end(), config_.extra_headers.begin(),
                      config_.extra_headers.end());
  call->options = options();
  post.body = json_line(format_.encode(call->request, call->options));
  call->estimated_tokens = estimated_tokens(call->request);
  post.tokens = call->estimated_tokens;
  if (options_.stream) {
    post.on_bytes = [this, call = call.get()](std::string_view bytes) {
      if (!call->decoder) {
        call->decoder = format_.stream_decoder();
      }
      call->decoder->feed(bytes);
      return call->decoder->has_content();
    };
  }
  client_->post(lane_, std::move(post), [this, call](HttpResult result) -> Delay {
    const Delay delay = handle(*call, std::move(result));
    call->decoder.reset();
    if (std::exchange(call->to_repair, false)) {
      this->post(call);
    }
    return delay;
  });
}

void LiveEndpoint::cancel_all() {
  client_->cancel_all(lane_);
}

EndpointHealth LiveEndpoint::health() const {
  EndpointHealth health = gate_.health(Clock::now());
  winnow::cut_secrets(health.why);
  return health;
}

LiveEndpoint::Delay LiveEndpoint::handle(Call& call, HttpResult result) {
  call.attempts += result.end == HttpResult::End::Cancelled ? 0 : 1;
  if (result.end != HttpResult::End::Answered) {
    WireAnswer partial = call.take_partial(result);
    return handle_end(call, std::move(result), std::move(partial));
  }
  return result.status >= 200 && result.status < 300
             ? handle_answer(call, result)
             : refused(call, result, decode_error_body(result.body));
}

/// The transfer ended before the answer did, as far as HTTP knows.
LiveEndpoint::Delay LiveEndpoint::handle_end(Call& call, HttpResult result, WireAnswer partial) {
  if (partial.reply && result.end == HttpResult::End::Transport) {
    return handle_reply(call, result, std::move(partial)); // it was whole before the failure
  }
  if (partial.reply) {
    partial.lost_usage = partial.reply->usage;
  }
  call.book_lost(result, partial);
  FailedAttempt attempt;
  switch (result.end) {
  case HttpResult::End::Cancelled: {
    ModelReply reply;
    reply.status = ModelReply::Status::Cancelled;
    reply.error = "cancelled";
    finish(call, std::move(reply));
    return std::nullopt;
  }
  case HttpResult::End::TooLarge:
    return failed(call, attempt,
                  fmt::format("{}: the answer is larger than {} MiB and was not read", shown_url_,
                              config_.max_answer_bytes >> 20U));
  case HttpResult::End::Transport:
  case HttpResult::End::Answered:
    break;
  }
  attempt.transport = result.trusted;
  return failed(
      call, attempt,
      fmt::format(
          "{}: no answer: {}{}", shown_url_, result.error,
          result.trusted ? "" : "; set endpoint.ca_file to a file with the certificates to trust"));
}

LiveEndpoint::Delay LiveEndpoint::handle_answer(Call& call, const HttpResult& result) {
  WireAnswer answer = call.decoder ? call.decoder->finish() : format_.decode(result.body);
  if (answer.reply) {
    return handle_reply(call, result, std::move(answer));
  }
  call.book_lost(result, answer);
  if (answer.error) {
    ProviderError error = *answer.error;
    if (error.status == 0 && call.decoder) {
      error.status = 500; // the answer had begun with HTTP 200, so treat the error as temporary
    }
    return refused(call, result, error);
  }
  FailedAttempt attempt;
  attempt.transport = answer.cut_off;
  return failed(call, attempt,
                fmt::format("{}: the endpoint answered HTTP {} with {}{}", shown_url_,
                            result.status, answer.malformed,
                            answer.cut_off ? ""
                                           : fmt::format("; check that base_url is an endpoint of "
                                                         "the kind '{}'",
                                                         format_.name())));
}

LiveEndpoint::Delay LiveEndpoint::handle_reply(Call& call, const HttpResult& result,
                                               WireAnswer answer) {
  ModelReply reply = std::move(*answer.reply);
  gate_.ended(Clock::now(), Gate::End::Answered, {}, {});
  if (answer.usage_known) {
    gate_.used(call.estimated_tokens, reply.usage.tokens());
  }
  if (answer.usage_known || reply.dollars) {
    call.bill.add(reply.usage, answer.usage_known, reply.dollars);
  } else {
    call.bill.add_uncounted(
        at_least(reply.usage, billed_at_least(call.request, answer.received_bytes)));
  }
  reply.seconds = result.seconds;
  reply.first_token_seconds = result.first_token_seconds;
  if (std::string id = request_id(result); !id.empty()) {
    reply.request_id = std::move(id);
  }
  if (repair(call, reply)) {
    return std::nullopt;
  }
  finish(call, std::move(reply));
  return std::nullopt;
}

/// Asks once more if the reply violates the requested schema, and holds no kernel all the same. A
/// reply that the token limit has cut off would be cut off again.
bool LiveEndpoint::repair(Call& call, const ModelReply& reply) {
  if (!call.request.schema || call.repaired || reply.finish_reason == "length") {
    return false;
  }
  const std::string violation = schema_violation(*call.request.schema, reply.text);
  if (violation.empty() || has_kernel(*call.request.schema, reply)) {
    return false;
  }
  call.request.messages.push_back({"assistant", reply.text});
  call.request.messages.push_back(
      {"user", fmt::format("Your reply does not have the form that was asked for ({}). Send it "
                           "again as JSON that matches the schema, and nothing else.",
                           violation)});
  call.first_reply = reply;
  call.repaired = call.to_repair = true;
  return true;
}

WireOptions LiveEndpoint::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

/// Asks once more, without the member that the endpoint does not take. All later requests go
/// without it, too.
bool LiveEndpoint::leave_out(Call& call, const ProviderError& error) {
  const nlohmann::json sent = format_.encode(call.request, call.options);
  const auto change = change_for(error, sent, config_.extra_body);
  if (!change) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  auto learned = nlohmann::json::parse(options_.learned, nullptr, false);
  learned = learned.is_object() ? std::move(learned) : nlohmann::json::object();
  const nlohmann::json before = learned;
  learned.merge_patch(*change);
  WireOptions corrected = options_;
  corrected.learned = learned.dump();
  // What was sent before would be refused again, and two names could take turns for ever.
  if (!call.bodies.insert(json_line(sent)).second ||
      call.bodies.contains(json_line(format_.encode(call.request, corrected)))) {
    return false;
  }
  if (learned != before) { // another call may have learned it
    options_.learned = corrected.learned;
    call.notices.push_back(fmt::format("{}: {}, because the endpoint refuses it: {}", shown_url_,
                                       in_words(*change), error.message));
  }
  call.to_repair = true;
  return true;
}

LiveEndpoint::Delay LiveEndpoint::refused(Call& call, const HttpResult& result,
                                          const ProviderError& error) {
  FailedAttempt attempt;
  attempt.status = error.status != 0 ? error.status : result.status;
  attempt.out_of_money = error.out_of_money || error.daily_limit || attempt.status == 402;
  const bool is_refused = attempt.status == 400 || attempt.status == 422;
  if (is_refused && !attempt.out_of_money && leave_out(call, error)) {
    gate_.ended(Clock::now(), Gate::End::Answered, {}, {});
    return std::nullopt;
  }
  attempt.should_retry = should_retry(result);
  attempt.asked_for = requested_delay(result.headers, std::time(nullptr));
  if (!attempt.asked_for) {
    attempt.asked_for = error.retry_after;
  }
  std::string what = fmt::format("{}: HTTP {}: {}", shown_url_, result.status, error.message);
  if (error.status != 0 && error.status != result.status) {
    what += fmt::format(" (the answer itself says error {})", error.status);
  }
  if (attempt.out_of_money) {
    what += fmt::format("; the account behind {} has no money or quota left",
                        key_.source.empty() ? "it" : key_.source);
  } else if (attempt.asked_for && *attempt.asked_for > policy_.longest_wait) {
    what += fmt::format("; the endpoint asks to wait {} s, which is too long",
                        attempt.asked_for->count() / 1000);
  } else {
    what += hint(attempt.status, call.request.model);
  }
  return failed(call, attempt, std::move(what));
}

LiveEndpoint::Delay LiveEndpoint::failed(Call& call, FailedAttempt attempt, std::string what) {
  const auto now = Clock::now();
  const Gate::End end = trouble_of(attempt);
  const milliseconds pause =
      attempt.asked_for.value_or(end == Gate::End::Limited ? policy_.base : milliseconds(0));
  gate_.ended(now, end, std::min(pause, policy_.longest_wait), what);
  call.first_failure = call.first_failure.value_or(now);
  const bool patient = now - *call.first_failure < to_milliseconds(config_.outage_seconds);
  attempt.waits = patient && (end == Gate::End::Limited || (gate_.down() && !gate_.given_up(now)));
  call.faults += attempt.waits ? 0 : 1;
  attempt.attempt = attempt.waits ? call.attempts : call.faults;
  const double random = std::uniform_real_distribution<double>(0, 1)(random_);
  if (const Delay delay = retry_delay(policy_, attempt, random)) {
    return delay;
  }
  if (call.first_reply) { // it is paid, and its reader may find something in it
    call.notices.push_back("the reply of another form is kept, because the request for the right "
                           "form failed: " +
                           what);
    finish(call, *std::exchange(call.first_reply, std::nullopt));
    return std::nullopt;
  }
  ModelReply reply;
  reply.status = ModelReply::Status::Failed;
  reply.error = std::move(what);
  reply.error += call.attempts > 1 ? fmt::format(" (after {} attempts)", call.attempts) : "";
  finish(call, std::move(reply));
  return std::nullopt;
}

void LiveEndpoint::finish(Call& call, ModelReply reply) {
  reply.attempts = std::max(call.attempts, 1);
  reply.repaired = call.repaired;
  reply.notices = std::move(call.notices);
  reply.usage = call.bill.usage();
  reply.dollars = call.bill.dollars();
  reply.estimated = call.bill.estimated();
  if (call.bill.used_price()) {
    reply.price = price_;
  }
  if (reply.model.empty()) {
    reply.model = call.request.model;
  }
  cut_secrets(reply);
  call.done(std::move(reply));
  // Held during the wake-up, because the destructor waits for this lock.
  const std::lock_guard lock(mutex_);
  --open_calls_;
  ended_.notify_all();
}

std::string LiveEndpoint::hint(long status, const std::string& model) const {
  if (status == 401 || status == 403) {
    return key_.value.empty() ? fmt::format("; no key was sent: set api_key_env to the name of the "
                                            "environment variable that holds the key")
                              : fmt::format("; check the key in {}", key_.source);
  }
  if (status == 404) {
    return fmt::format("; check base_url and the model '{}'", model);
  }
  if (status == 400 || status == 422) {
    return "; if it refuses a member of the request, endpoint.members leaves it out or renames it";
  }
  return status >= 300 && status < 400 ? "; redirects are not followed: correct base_url" : "";
}

} // namespace winnow::agents
