#include "tests/fake_endpoint/fake_endpoint.h"

#include "tests/fake_endpoint/delivery.h"
#include "tests/fake_endpoint/question.h"

#include <algorithm>
#include <mutex>

namespace winnow::tests {

FakeReply chat_reply(const std::string& text, const std::string& finish_reason) {
  FakeReply reply;
  reply.answer.emplace();
  reply.answer->text = text;
  reply.answer->finish = finish_reason;
  return reply;
}

FakeReply error_reply(int status, const std::string& message, const std::string& type) {
  FakeReply reply;
  reply.status = status;
  reply.error.emplace();
  reply.error->status = status;
  reply.error->message = message;
  reply.error->type = type;
  return reply;
}

FakeReply raw_reply(int status, const std::string& body, const std::string& content_type) {
  FakeReply reply;
  reply.status = status;
  reply.body = body;
  reply.content_type = content_type;
  return reply;
}

FakeReply with_header(FakeReply reply, const std::string& name, const std::string& value) {
  reply.headers.emplace_back(name, value);
  return reply;
}

FakeReply with_fault(FakeReply reply, Fault fault) {
  reply.fault = fault;
  return reply;
}

double FakePrice::dollars(const Usage& usage) const {
  const auto fresh = static_cast<double>(usage.prompt_tokens - usage.cached_tokens);
  return (input * fresh + cached_input * static_cast<double>(usage.cached_tokens) +
          output * static_cast<double>(usage.completion_tokens)) /
         1e6;
}

struct FakeEndpoint::State {
  State(Script chosen, Options given)
      : script(std::move(chosen)), options(std::move(given)),
        server([this](const SeenRequest& request) { return answer(request); }, options.server) {}

  Response answer(const SeenRequest& request);
  void book(AnsweredCall call, const Receipt& receipt, const std::optional<double>& dollars);

  Script script;
  Options options;
  mutable std::mutex mutex; ///< guards the next three members
  std::size_t count = 0;
  std::vector<SeenRequest> requests;
  std::vector<AnsweredCall> answered;
  HttpServer server; // last, because its thread uses the other members
};

Response FakeEndpoint::State::answer(const SeenRequest& request) {
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex);
    number = count++;
    if (options.keep_requests) {
      requests.push_back(request);
    }
  }
  const auto question = understand(request);
  if (!question) {
    return deliver(error_reply(404, "no such path: " + request.path), {}, {});
  }
  if (const std::string why = complaint(*question, request); !why.empty()) {
    return deliver(error_reply(400, why, "invalid_request_error"), *question, {});
  }
  const FakeReply reply = script(request, number);
  const auto dollars = reply.answer ? reply.answer->dollars : std::nullopt;
  const AnsweredCall call{question->key, question->model, {}, {}, {}};
  return deliver(reply, *question,
                 [this, dollars, call](const Receipt& receipt) { book(call, receipt, dollars); });
}

void FakeEndpoint::State::book(AnsweredCall call, const Receipt& receipt,
                               const std::optional<double>& dollars) {
  call.whole = receipt.whole;
  call.usage = receipt.usage;
  call.dollars = receipt.whole && dollars ? *dollars : options.price.dollars(receipt.usage);
  {
    const std::lock_guard lock(mutex);
    answered.push_back(call);
  }
  if (options.on_answer) {
    options.on_answer(call);
  }
}

FakeEndpoint::FakeEndpoint(Script script, Options options)
    : state_(new State(std::move(script), std::move(options))) {}

FakeEndpoint::FakeEndpoint(std::vector<FakeReply> replies)
    : FakeEndpoint([replies = std::move(replies)](const SeenRequest&, std::size_t number) {
        return replies.at(std::min(number, replies.size() - 1));
      }) {}

FakeEndpoint::~FakeEndpoint() = default;

std::string FakeEndpoint::origin() const {
  const bool tls = !state_->options.server.certificate_file.empty();
  return (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port());
}

std::string FakeEndpoint::base_url() const {
  return origin() + "/v1";
}

int FakeEndpoint::port() const {
  return state_->server.port();
}

std::vector<SeenRequest> FakeEndpoint::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

std::vector<AnsweredCall> FakeEndpoint::answered() const {
  const std::lock_guard lock(state_->mutex);
  return state_->answered;
}

std::size_t FakeEndpoint::connections() const {
  return state_->server.accepted();
}

} // namespace winnow::tests
