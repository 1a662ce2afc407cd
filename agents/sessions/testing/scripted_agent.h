#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/sessions/agent_endpoint.h"
#include "agents/sessions/testing/session_judge_fake.h"
#include "base/files.h"
#include "process/session_fence.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace winnow::agents::test {

/// Agents that are shell scripts, in a PATH and a home of the test.
class ScriptedAgentTest : public testing::Test {
protected:
  ScriptedAgentTest();
  ~ScriptedAgentTest() override;

  /// This machine's.
  static bool has_fence() { return process::probe_session_fence().ok; }
  /// Puts a script in the place of the agent's program.
  void script(const std::string& agent, const std::string& body);
  /// Holds a session of that agent, as configs/agents.toml describes it.
  ModelReply session(const std::string& agent, bool fenced = has_fence());
  /// The reply of a session of claude whose script is `body`.
  ModelReply claude(const std::string& body, bool fenced = has_fence()) {
    script("claude", body);
    return session("claude", fenced);
  }
  std::filesystem::path home() const { return folder_.path() / "home"; }
  std::filesystem::path transcripts() const { return folder_.path() / "run.db.sessions"; }
  std::string kept(const std::string& file) const; ///< of the first session

  TemporaryDirectory folder_{"scripted-agent"};
  SessionJudgeFake judge_;
  EndpointConfig config_;
  SessionBounds bounds_;

private:
  std::string path_, old_home_;
};

/// A request for a kernel of axpy that begins with "first\n".
ModelRequest kernel_request();

} // namespace winnow::agents::test
