// Serves a recording over the OpenAI protocol, for tests of the whole program: each request's
// "user" is the key of the recorded call that answers it. Every answer appends its key to a file,
// so that a test can tell whether a call was paid twice. Runs until its stdin ends.

#include "agents/record/recording.h"
#include "base/error.h"
#include "tests/fake_endpoint/fake_endpoint.h"

#include <fstream>
#include <iostream>
#include <map>
#include <mutex>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace {

using winnow::tests::FakeReply;
using winnow::tests::SeenRequest;

class RecordingServer {
public:
  RecordingServer(const std::string& recording, const std::string& answered)
      : answered_(answered, std::ios::app) {
    for (const auto& call : winnow::agents::read_recording(recording)) {
      replies_[call.key] = call.reply;
    }
    if (!answered_) {
      throw winnow::Error(answered + ": cannot be written");
    }
  }

  FakeReply answer(const SeenRequest& request) {
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    const std::string key = body.is_object() ? body.value("user", "") : "";
    const auto found = replies_.find(key);
    if (found == replies_.end()) {
      return winnow::tests::error_reply(404, "no recorded reply for the key '" + key + "'");
    }
    {
      const std::lock_guard lock(mutex_);
      answered_ << key << std::endl; // flushed: the reader may be killed or may kill us
    }
    return recorded(found->second);
  }

private:
  // With the recorded usage, so that a live run costs what the replayed one does.
  static FakeReply recorded(const winnow::agents::ModelReply& call) {
    FakeReply reply = winnow::tests::chat_reply(call.text, call.finish_reason);
    auto body = nlohmann::json::parse(reply.body);
    body["model"] = call.model;
    body["usage"] = {
        {"prompt_tokens", call.usage.prompt_tokens},
        {"completion_tokens", call.usage.completion_tokens},
        {"prompt_tokens_details", {{"cached_tokens", call.usage.cached_tokens}}},
        {"completion_tokens_details", {{"reasoning_tokens", call.usage.reasoning_tokens}}}};
    reply.body = body.dump();
    return reply;
  }

  std::map<std::string, winnow::agents::ModelReply> replies_;
  std::mutex mutex_;
  std::ofstream answered_;
};

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Serve recorded replies over the OpenAI chat completions protocol on 127.0.0.1.");
  std::string recording, answered;
  int port = 0;
  app.add_option("recording", recording, "recorded calls (JSON lines)")->required();
  app.add_option("--answered", answered, "file that gets the key of every answer, a line each")
      ->required();
  app.add_option("--port", port, "port to listen on; 0 (default): any, printed on stdout");
  CLI11_PARSE(app, argc, argv);
  try {
    RecordingServer server(recording, answered);
    const winnow::tests::FakeEndpoint endpoint(
        [&](const SeenRequest& request, std::size_t) { return server.answer(request); }, port);
    std::cout << endpoint.base_url() << std::endl;
    while (std::cin.get() != std::char_traits<char>::eof()) {
    }
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "fake_endpoint: " << failure.what() << "\n";
    return 1;
  }
}
