#include "agents/sessions/testing/scripted_agent.h"

#include "tests/support/worker_main.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <utility>

namespace winnow::test {

const std::vector<HiddenSubcommand>& hidden_subcommands() {
  static const std::vector<HiddenSubcommand> none;
  return none;
}

} // namespace winnow::test

namespace winnow::agents::test {

ModelRequest kernel_request() {
  ModelRequest request;
  request.key = "axpy/0/3";
  request.task = "axpy";
  request.kernel = "first\n";
  request.messages = {{"system", "You write kernels."}, {"user", "Make axpy fast."}};
  return request;
}

ScriptedAgentTest::ScriptedAgentTest()
    : path_(std::getenv("PATH")),
      old_home_(std::getenv("HOME") == nullptr ? "/" : std::getenv("HOME")) {
  std::filesystem::create_directory(folder_.path() / "bin");
  std::filesystem::create_directory(home());
  setenv("PATH", ((folder_.path() / "bin").string() + ":/usr/bin:/bin").c_str(), 1);
  setenv("HOME", home().c_str(), 1);
  setenv("XDG_CONFIG_HOME", (home() / ".config").c_str(), 1);
  config_.session_time = std::chrono::seconds(20);
  bounds_.between_looks = std::chrono::milliseconds(20);
}

ScriptedAgentTest::~ScriptedAgentTest() {
  setenv("PATH", path_.c_str(), 1);
  setenv("HOME", old_home_.c_str(), 1);
  unsetenv("XDG_CONFIG_HOME");
}

void ScriptedAgentTest::script(const std::string& agent, const std::string& body) {
  const std::filesystem::path file = folder_.path() / "bin" / agent;
  write_file_atomic(file, "#!/bin/bash\n" + body);
  std::filesystem::permissions(file, std::filesystem::perms(0755));
}

ModelReply ScriptedAgentTest::session(const std::string& agent, bool fenced) {
  AgentEndpoint endpoint(config_, {.agent = find_installed(find_agent(agent)),
                                   .judge = judge_,
                                   .sessions = transcripts(),
                                   .price = std::nullopt,
                                   .fenced = fenced,
                                   .bounds = bounds_});
  std::promise<ModelReply> promise;
  endpoint.start(kernel_request(), [&](ModelReply reply) { promise.set_value(std::move(reply)); });
  return promise.get_future().get();
}

std::string ScriptedAgentTest::kept(const std::string& file) const {
  return read_file(transcripts() / "axpy-0-3" / file, std::uint64_t{1} << 20U);
}

} // namespace winnow::agents::test
