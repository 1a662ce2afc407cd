// Tests every fault of the fake endpoint in every wire format, streamed and not. The server first
// sends the fault and, if the client asks again, a good answer. With WINNOW_FAULT_TABLE=FILE the
// results are also written to FILE, as a table in Markdown.
#include "agents/endpoints/endpoint_factory.h"
#include "agents/endpoints/live_endpoint_fixture.h"
#include "agents/model/model_endpoint.h"
#include "tests/fake_endpoint/faults.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace winnow::agents {
namespace {

using ::testing::HasSubstr;
using tests::chat_reply;
using tests::FakeEndpoint;

constexpr std::size_t kHugeAnswerBytes = 3U << 20U;
const std::string kGood = "the good answer";

/// One of the eight combinations of a wire format with or without streaming.
struct Way {
  std::string format;
  bool stream = false;
  std::string name() const { return format + (stream ? ", streamed" : ""); }
};

enum class Ending {
  AsksAgain, ///< the client asks again and takes the good answer
  GivesUp,   ///< the client gives up after one request; its error contains `text`
  Takes,     ///< the client takes the faulty answer, with `text` as its text
};

struct Expected {
  Ending ending = Ending::AsksAgain;
  std::string text;
  std::string finish = "stop"; ///< finish reason of an answer that is taken
};

Expected gives_up(const std::string& why) {
  return {Ending::GivesUp, why, ""};
}
Expected takes(const std::string& text, const std::string& finish = "stop") {
  return {Ending::Takes, text, finish};
}

struct Case {
  std::string fault;
  std::function<Expected(const Way&)> expected;
  bool waits = false; ///< the client waits until a timeout
};

Case same_for_all(const std::string& fault, const Expected& expected, bool waits = false) {
  return {fault, [=](const Way&) { return expected; }, waits};
}

Case only_if(const std::string& fault, const std::function<bool(const Way&)>& holds,
             const Expected& then, const Expected& otherwise) {
  return {fault, [=](const Way& way) { return holds(way) ? then : otherwise; }, false};
}

bool is_gemini(const Way& way) {
  return way.format == "gemini";
}
/// In the "responses" format, a stream ends with the whole answer, several times.
bool repeats_itself(const Way& way) {
  return way.format == "responses" && way.stream;
}
const Expected& too_large() {
  static const Expected expected = gives_up("the answer is larger than 4 MiB");
  return expected;
}

std::vector<Case> statuses() {
  const Expected again;
  const std::string no_money = "has no money or quota left";
  return {
      same_for_all("400", gives_up("HTTP 400: unsupported parameter")),
      same_for_all("401", gives_up("check the key in the environment variable WINNOW_TEST_KEY")),
      same_for_all("402", gives_up(no_money)),
      same_for_all("403", gives_up("check the key in the environment variable")),
      same_for_all("404", gives_up("check base_url and the model 'some-model'")),
      same_for_all("408", again),
      same_for_all("409", again),
      same_for_all("413", gives_up("HTTP 413: request too large")),
      same_for_all("429", again),
      same_for_all("429-seconds", again),
      same_for_all("429-date", again),
      same_for_all("429-ms", again),
      same_for_all("429-hours", gives_up("the endpoint asks to wait 7200 s, which is too long")),
      same_for_all("429-retry-info", again),
      only_if("429-per-day", is_gemini, gives_up(no_money), again), // only Gemini says so
      only_if("429-no-quota", is_gemini, again, gives_up(no_money)),
      same_for_all("500", again),
      same_for_all("500-do-not-retry", gives_up("HTTP 500: final")),
      same_for_all("503", again),
      same_for_all("504", again),
      same_for_all("529", again)};
}

std::vector<Case> transports() {
  const Expected again;
  return {same_for_all("never-answer", again, true),      same_for_all("close-at-once", again),
          same_for_all("silent-after-head", again, true), same_for_all("close-mid-body", again),
          same_for_all("stall-mid-body", again, true),    same_for_all("end-early", again),
          same_for_all("error-mid-stream", again),        same_for_all("endless-text", too_large()),
          same_for_all("endless-pings", again, true),     same_for_all("short-length", again)};
}

std::vector<Case> odd_answers() {
  const Expected again;
  const std::string no_answer = "check that base_url is an endpoint of the kind";
  return {same_for_all("html-502", again),
          same_for_all("html-200", gives_up(no_answer)),
          same_for_all("redirect", gives_up("redirects are not followed: correct base_url")),
          same_for_all("empty-body", gives_up("an empty body")),
          same_for_all("error-in-200", again),
          same_for_all("deep-json", gives_up("nested more than 100 levels deep")),
          same_for_all("huge-body", too_large()),
          only_if("huge-answer", repeats_itself, too_large(),
                  takes(std::string(kHugeAnswerBytes, 'a'))),
          same_for_all("invalid-utf8", takes("before \xEF\xBF\xBD(\xEF\xBF\xBD after")),
          same_for_all("empty-answer", takes("")),
          same_for_all("only-reasoning", takes("")),
          only_if("refusal", is_gemini,
                  takes("The prompt was blocked: PROHIBITED_CONTENT", "content_filter"),
                  takes("I cannot help with that", "content_filter")),
          same_for_all("filtered", takes("", "content_filter")),
          same_for_all("length", takes("an answer that ends in the mid", "length")),
          same_for_all("several-blocks",
                       takes("First:\n```cuda\nint a;\n```\nthen:\n```cuda\nint b;\n```\n"))};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> list = statuses();
    for (const auto& more : {transports(), odd_answers()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

// --- the table --------------------------------------------------------------------------------

struct Outcome {
  std::size_t requests = 0;
  ModelReply reply;
};

std::string shown(const Outcome& outcome) {
  const std::string requests =
      fmt::format("{} request{}", outcome.requests, outcome.requests == 1 ? "" : "s");
  if (outcome.reply.status != ModelReply::Status::Ok) {
    return requests + ", fails";
  }
  const bool good = outcome.reply.text == kGood;
  return fmt::format("{}, {}", requests,
                     good ? "answered"
                          : fmt::format("taken as \"{}\"", outcome.reply.finish_reason));
}

/// Example: "chat; gemini, streamed". A format without "streamed" stands for both of its ways.
std::string joined(const std::vector<Way>& ways) {
  std::vector<std::string> names;
  for (const Way& way : ways) {
    const auto alike = std::count_if(ways.begin(), ways.end(),
                                     [&](const Way& other) { return other.format == way.format; });
    if (alike == 1 || !way.stream) {
      names.push_back(alike == 1 ? way.name() : way.format);
    }
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

/// The outcomes of one fault. Ways with the same outcome share a text.
std::string row(const std::string& fault, const std::vector<std::pair<Way, Outcome>>& outcomes) {
  std::map<std::string, std::vector<Way>> ways;
  std::string error;
  for (const auto& [way, outcome] : outcomes) {
    ways[shown(outcome)].push_back(way);
    error = error.empty() ? outcome.reply.error : error;
  }
  std::string text;
  for (const auto& [what, alike] : ways) {
    text += (text.empty() ? "" : "; ") + what;
    if (ways.size() > 1) {
      text += " (" + joined(alike) + ")";
    }
  }
  std::replace(error.begin(), error.end(), '|', '/');
  error.erase(0, error.empty() ? 0 : error.find(": ") + 2); // removes host, port and path
  return fmt::format("| {} | {} | {} |\n", fault, text, error);
}

class FaultTable : public ::testing::Environment {
public:
  void add(const std::string& line) { lines_ += line; }
  void TearDown() override {
    if (const char* path = std::getenv("WINNOW_FAULT_TABLE"); path != nullptr && !lines_.empty()) {
      std::ofstream(path) << "| fault | what follows | what the user reads |\n|---|---|---|\n"
                          << lines_;
    }
  }

private:
  std::string lines_;
};
FaultTable& fault_table() { // GoogleTest owns it
  static auto* table =
      static_cast<FaultTable*>(::testing::AddGlobalTestEnvironment(new FaultTable));
  return *table;
}
[[maybe_unused]] const FaultTable& registered_before_the_tests = fault_table();

// --- the suite --------------------------------------------------------------------------------

/// A server that first fails and then answers, and a call to it.
class FaultAttempt {
public:
  FaultAttempt(const Case& fault, const Way& way)
      : server_({tests::faulty_reply(fault.fault), chat_reply(kGood)}) {
    EndpointConfig config = config_for(server_, way.format);
    config.stream = way.stream;
    if (fault.waits) {
      config.first_token_seconds = config.stall_seconds = 0.5;
      config.timeout_seconds = 1.5;
    } else {
      config.timeout_seconds = 300; // answers of several megabytes take long on a busy machine
    }
    endpoint_ = make_endpoint(config);
    reply_ = start(*endpoint_, "axpy/0/0");
  }
  Outcome outcome() {
    ModelReply reply = reply_.get();
    return {server_.requests().size(), std::move(reply)};
  }

private:
  FakeEndpoint server_;
  std::unique_ptr<ModelEndpoint> endpoint_;
  std::future<ModelReply> reply_;
};

void check(const Expected& expected, const Outcome& outcome) {
  const ModelReply& reply = outcome.reply;
  EXPECT_EQ(outcome.requests, expected.ending == Ending::AsksAgain ? 2U : 1U) << reply.error;
  EXPECT_EQ(reply.attempts, outcome.requests);
  if (expected.ending == Ending::GivesUp) {
    EXPECT_EQ(reply.status, ModelReply::Status::Failed);
    EXPECT_THAT(reply.error, HasSubstr(expected.text));
    EXPECT_EQ(reply.error.find(kTestKey), std::string::npos);
    return;
  }
  ASSERT_EQ(reply.status, ModelReply::Status::Ok) << reply.error;
  const bool again = expected.ending == Ending::AsksAgain;
  EXPECT_TRUE(reply.text == (again ? kGood : expected.text)) << reply.text.substr(0, 200);
  EXPECT_EQ(reply.finish_reason, again ? "stop" : expected.finish);
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const std::string& format : kFormats) {
    ways.push_back({format, false});
    ways.push_back({format, true});
  }
  return ways;
}

class Faults : public ::testing::TestWithParam<std::string> {};

TEST_P(Faults, EndAsTheyShould) {
  const auto found = std::find_if(cases().begin(), cases().end(),
                                  [](const Case& one) { return one.fault == GetParam(); });
  ASSERT_NE(found, cases().end()) << "a fault that nothing is expected of";
  std::vector<std::unique_ptr<FaultAttempt>> waiting;
  std::vector<std::pair<Way, Outcome>> outcomes;
  for (const Way& way : all_ways()) { // those that wait for timeouts do it together
    waiting.push_back(std::make_unique<FaultAttempt>(*found, way));
    outcomes.push_back({way, found->waits ? Outcome{} : waiting.back()->outcome()});
    waiting.back() = found->waits ? std::move(waiting.back()) : nullptr;
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    auto& [way, outcome] = outcomes[i];
    SCOPED_TRACE(way.name());
    outcome = found->waits ? waiting[i]->outcome() : std::move(outcome);
    check(found->expected(way), outcome);
  }
  fault_table().add(row(GetParam(), outcomes));
}

INSTANTIATE_TEST_SUITE_P(LiveEndpoint, Faults, ::testing::ValuesIn(tests::fault_names()),
                         [](const auto& fault) {
                           std::string name = fault.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
} // namespace winnow::agents
