// A server for tests of the whole program, and for people who want to see Winnow talk to one. It
// answers chat completions, responses, Anthropic messages and generateContent on 127.0.0.1.
#include "agents/record/recording.h"
#include "base/error.h"
#include "tests/fake_endpoint/fake_endpoint.h"
#include "tests/fake_endpoint/plausible_reply.h"
#include "tests/fake_endpoint/script_file.h"

#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <CLI/CLI.hpp>

namespace {

using winnow::tests::AnsweredCall;
using winnow::tests::FakeEndpoint;
using winnow::tests::FakeEndpointOptions;
using winnow::tests::FakeReply;
using winnow::tests::Question;
using winnow::tests::SeenRequest;

struct Arguments {
  std::string recording, answered, script;
  std::vector<std::string> https;
  int port = 0;
};

/// Recorded replies by key. generateContent requests have no key: they get the recorded calls in
/// order, and equal requests get the same call.
class Recording {
public:
  explicit Recording(const std::string& file) : calls_(winnow::agents::read_recording(file)) {
    for (const auto& call : calls_) {
      by_key_[call.key] = &call.reply;
    }
  }

  FakeReply reply_to(const Question& question) {
    const std::string key =
        question.wire == winnow::tests::Wire::Gemini ? key_in_order(question.text) : question.key;
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) {
      return winnow::tests::error_reply(404, "no recorded reply for the key '" + key + "'");
    }
    const winnow::agents::ModelReply& call = *found->second;
    FakeReply reply = winnow::tests::chat_reply(call.text, call.finish_reason);
    reply.key = key;
    reply.answer->model = call.model;
    reply.answer->usage = call.usage; // so that a live run costs the same as the replayed run
    return reply;
  }

private:
  std::string key_in_order(const std::string& text) {
    const auto [place, fresh] = order_.emplace(text, order_.size());
    return place->second < calls_.size() ? calls_[place->second].key : "";
  }

  std::vector<winnow::agents::RecordedCall> calls_;
  std::map<std::string, const winnow::agents::ModelReply*> by_key_;
  std::map<std::string, std::size_t> order_;
};

Arguments parse(CLI::App& app, int argc, char** argv) {
  Arguments arguments;
  app.add_option("recording", arguments.recording,
                 "answer from these recorded calls (JSON lines), until stdin ends");
  app.add_option("--answered", arguments.answered,
                 "append the key of every answer to this file, a line each, as it is sent");
  app.add_option("--script", arguments.script,
                 "answer by this list of rules (JSON; tests/fake_endpoint/script_file.h)")
      ->excludes("recording");
  app.add_option("--port", arguments.port,
                 "port to listen on; 0 (default): any, printed on stdout");
  app.add_option("--https", arguments.https, "speak TLS: PEM files of a certificate and its key")
      ->expected(2);
  app.parse(argc, argv);
  return arguments;
}

/// Appends keys to the file of --answered.
class AnsweredFile {
public:
  explicit AnsweredFile(const std::string& path) {
    if (!path.empty()) {
      file_.open(path, std::ios::app);
      if (!file_) {
        throw winnow::Error(path + ": cannot be written");
      }
    }
  }
  void add(const std::string& key) {
    if (file_.is_open()) {
      // flushed, because the reader may be killed or may kill this process
      file_ << key << std::endl;
    }
  }

private:
  std::ofstream file_;
};

FakeEndpointOptions options_of(const Arguments& arguments, AnsweredFile& answered) {
  FakeEndpointOptions options;
  options.server.port = arguments.port;
  if (!arguments.https.empty()) {
    options.server.certificate_file = arguments.https.at(0);
    options.server.key_file = arguments.https.at(1);
  }
  options.on_answer = [&](const AnsweredCall& call) { answered.add(call.key); };
  return options;
}

void serve_recording(const Arguments& arguments) {
  Recording recording(arguments.recording);
  AnsweredFile answered(arguments.answered);
  const FakeEndpoint endpoint(
      [&](const SeenRequest& request, std::size_t) {
        return recording.reply_to(*winnow::tests::understand(request));
      },
      options_of(arguments, answered));
  std::cout << endpoint.base_url() << std::endl;
  while (std::cin.get() != std::char_traits<char>::eof()) {
  }
}

/// Serves until SIGINT or SIGTERM and prints each request to stderr. Headers are not printed,
/// because they contain keys.
void serve_people(const Arguments& arguments) {
  auto script = arguments.script.empty() ? winnow::tests::ScriptFile("[]", "")
                                         : winnow::tests::ScriptFile(arguments.script);
  AnsweredFile answered(arguments.answered);
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr); // before the server's thread starts
  const FakeEndpoint endpoint(
      [&](const SeenRequest& request, std::size_t number) {
        const Question question = *winnow::tests::understand(request);
        const auto scripted = script.reply_to(request);
        std::cerr << number + 1 << ": " << request.path << (question.stream ? ", streamed" : "")
                  << ", model " << question.model << (scripted ? ", scripted" : "") << std::endl;
        return scripted ? *scripted : winnow::tests::plausible_reply(question);
      },
      options_of(arguments, answered));
  std::cout << endpoint.base_url() << std::endl;
  int signal = 0;
  sigwait(&ending, &signal);
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Answer model requests on 127.0.0.1: from recorded calls, by a script, or with the "
               "kernel that the prompt holds.");
  try {
    const Arguments arguments = parse(app, argc, argv);
    arguments.recording.empty() ? serve_people(arguments) : serve_recording(arguments);
    return 0;
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure);
  } catch (const std::exception& failure) {
    std::cerr << "fake_endpoint: " << failure.what() << "\n";
    return 1;
  }
}
