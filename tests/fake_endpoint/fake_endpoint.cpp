#include "tests/fake_endpoint/fake_endpoint.h"

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <httplib.h>
#include <nlohmann/json.hpp>

namespace winnow::tests {
namespace {

constexpr std::size_t kServerThreads = 32;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

SeenRequest seen(const httplib::Request& request) {
  SeenRequest copy{request.path, {}, request.body};
  for (const auto& [name, value] : request.headers) {
    copy.headers.emplace_back(lower(name), value);
  }
  return copy;
}

} // namespace

std::string SeenRequest::header(const std::string& name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& header) { return header.first == name; });
  return found == headers.end() ? std::string() : found->second;
}

FakeReply chat_reply(const std::string& text, const std::string& finish_reason) {
  const nlohmann::json body{{"id", "chatcmpl-1"},
                            {"object", "chat.completion"},
                            {"model", "fake-model"},
                            {"choices",
                             {{{"index", 0},
                               {"message", {{"role", "assistant"}, {"content", text}}},
                               {"finish_reason", finish_reason}}}},
                            {"usage",
                             {{"prompt_tokens", 10},
                              {"completion_tokens", 5},
                              {"total_tokens", 15},
                              {"prompt_tokens_details", {{"cached_tokens", 4}}},
                              {"completion_tokens_details", {{"reasoning_tokens", 2}}}}}};
  FakeReply reply;
  reply.body = body.dump();
  return reply;
}

FakeReply error_reply(int status, const std::string& message, const std::string& type) {
  FakeReply reply;
  reply.status = status;
  reply.body =
      nlohmann::json{{"error", {{"message", message}, {"type", type}, {"code", nullptr}}}}.dump();
  return reply;
}

struct FakeEndpoint::State {
  explicit State(Script chosen) : script(std::move(chosen)) {}

  void answer(const httplib::Request& request, httplib::Response& response);
  void wait_for_the_end() {
    std::unique_lock lock(mutex);
    ended.wait(lock, [this] { return ending; });
  }

  Script script;
  httplib::Server server;
  int port = 0;
  mutable std::mutex mutex; ///< guards the next two
  std::vector<SeenRequest> requests;
  bool ending = false;
  std::condition_variable ended;
  std::thread thread;
};

void FakeEndpoint::State::answer(const httplib::Request& request, httplib::Response& response) {
  const SeenRequest copy = seen(request);
  std::size_t number = 0;
  {
    const std::lock_guard lock(mutex);
    number = requests.size();
    requests.push_back(copy);
  }
  const FakeReply reply = script(copy, number);
  if (reply.fault == FakeReply::Fault::NeverAnswer) {
    wait_for_the_end();
    return;
  }
  response.status = reply.status;
  for (const auto& [name, value] : reply.headers) {
    response.set_header(name, value);
  }
  if (reply.fault == FakeReply::Fault::None) {
    response.set_content(reply.body, reply.content_type);
    return;
  }
  const bool stall = reply.fault == FakeReply::Fault::StallMidBody;
  response.set_content_provider(
      reply.body.size() + 1, reply.content_type,
      [this, stall, body = reply.body](std::size_t offset, std::size_t, httplib::DataSink& sink) {
        if (offset == 0) {
          return sink.write(body.data(), body.size());
        }
        if (stall) {
          wait_for_the_end();
        }
        return false; // closes the connection
      });
}

FakeEndpoint::FakeEndpoint(Script script, int port) : state_(new State(std::move(script))) {
  httplib::Server& server = state_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kServerThreads); };
  server.set_payload_max_length(std::size_t{256} << 20U);
  server.Post(".*", [this](const httplib::Request& request, httplib::Response& response) {
    state_->answer(request, response);
  });
  state_->port = port;
  if (port == 0) {
    state_->port = server.bind_to_any_port("127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    state_->port = -1;
  }
  if (state_->port <= 0) {
    throw std::runtime_error("the fake endpoint cannot listen on 127.0.0.1");
  }
  state_->thread = std::thread([this] { state_->server.listen_after_bind(); });
  while (!server.is_running()) { // stop() has no effect before
    std::this_thread::yield();
  }
}

FakeEndpoint::FakeEndpoint(std::vector<FakeReply> replies)
    : FakeEndpoint([replies = std::move(replies)](const SeenRequest&, std::size_t number) {
        return replies.at(std::min(number, replies.size() - 1));
      }) {}

FakeEndpoint::~FakeEndpoint() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->ended.notify_all();
  state_->server.stop();
  state_->thread.join();
}

std::string FakeEndpoint::base_url() const {
  return "http://127.0.0.1:" + std::to_string(state_->port) + "/v1";
}

int FakeEndpoint::port() const {
  return state_->port;
}

std::vector<SeenRequest> FakeEndpoint::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

} // namespace winnow::tests
