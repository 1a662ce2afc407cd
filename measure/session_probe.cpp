// What a session of an agent can read and write, with the fence and without it:
//
//   ninja -C build/ci session_probe && build/ci/measure/session_probe
//
// With the name of an agent it holds one session of that agent, whose task is to write one word,
// and prints what the run would see. That costs a few cents.
#include "agents/sessions/testing/session_probe.h"

#include "agents/endpoints/endpoint_factory.h"
#include "agents/sessions/testing/session_judge_fake.h"
#include "base/error.h"
#include "process/session_fence.h"

#include <future>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using winnow::agents::ModelReply;
using winnow::agents::test::probe_session;
using winnow::agents::test::SessionAttempt;

void print_table() {
  const winnow::Availability& fence = winnow::process::probe_session_fence();
  const std::vector<SessionAttempt> without = probe_session(false);
  const std::vector<SessionAttempt> with =
      fence.ok ? probe_session(true) : std::vector<SessionAttempt>(without.size());
  fmt::print("{:<36}{:<12}{}\n", "a session can", "bubblewrap", "without");
  for (std::size_t i = 0; i < without.size(); ++i) {
    fmt::print("{:<36}{:<12}{}\n", without[i].name,
               fence.ok ? (with[i].worked ? "yes" : "no") : "-", without[i].worked ? "yes" : "no");
  }
  if (!fence.ok) {
    fmt::print("no fence: {}\n", fence.why);
  }
}

void hold_session(const std::string& agent, const std::string& model) {
  winnow::agents::EndpointConfig config;
  config.kind = "agent";
  config.agent = agent;
  config.dollars_per_session = 1;
  config.session_time = std::chrono::minutes(2);
  winnow::agents::test::SessionJudgeFake judge;
  const auto endpoint = winnow::agents::make_endpoint(config, {&judge, {}});
  winnow::agents::ModelRequest request;
  request.key = "probe/0/0";
  request.task = "probe";
  request.model = model;
  request.kernel = "first\n";
  request.messages = {{"user", "Write the single word 'second' into kernel.cu. Judge nothing.\n"}};
  std::promise<ModelReply> promise;
  endpoint->start(std::move(request),
                  [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  const ModelReply reply = promise.get_future().get();
  fmt::print("status {}, {:.1f} s, {} tokens, ${:.4f}\n{}{}\n", static_cast<int>(reply.status),
             reply.seconds, reply.usage.tokens(), reply.dollars.value_or(0), reply.text,
             reply.error);
  for (const std::string& notice : reply.notices) {
    fmt::print("{}\n", notice);
  }
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (!words.empty() && words.front() == "_exec") {
      return winnow::process::exec_worker_main({words.begin() + 1, words.end()});
    }
    if (words.empty()) {
      print_table();
    } else {
      hold_session(words.front(), words.size() > 1 ? words[1] : "");
    }
  } catch (const winnow::Error& error) {
    fmt::print(stderr, "{}\n", with_remedy(error));
    return 1;
  }
  return 0;
}
