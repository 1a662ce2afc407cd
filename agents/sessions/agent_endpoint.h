#pragma once

#include "agents/model/endpoint_config.h"
#include "agents/model/model_endpoint.h"
#include "agents/money/price.h"
#include "agents/sessions/agent_session.h"
#include "agents/sessions/installed_agent.h"
#include "agents/sessions/session_judge.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace winnow::agents {

struct AgentEndpointSetup {
  InstalledAgent agent;
  SessionJudge& judge;
  std::filesystem::path sessions; ///< the folder for transcripts; empty: none are kept
  std::optional<Price> price;     ///< of an agent that counts no dollars itself
  bool fenced = true;
  SessionBounds bounds; ///< of time and dollars those of the configuration count
};

/// Answers each request by a session of a coding agent in a workspace of its own. The reply is the
/// best kernel file that the judge saw, else kernel.cu as the session left it, else the agent's
/// last words. At most `parallel` sessions run at a time, each on a thread.
class AgentEndpoint final : public ModelEndpoint {
public:
  AgentEndpoint(const EndpointConfig& config, AgentEndpointSetup setup);
  ~AgentEndpoint() override;
  AgentEndpoint(const AgentEndpoint&) = delete; // owns threads
  AgentEndpoint& operator=(const AgentEndpoint&) = delete;

  std::string_view kind() const override { return "agent"; }
  void start(ModelRequest request, std::function<void(ModelReply)> done) override;
  void cancel_all() override;

private:
  struct Call {
    ModelRequest request;
    std::function<void(ModelReply)> done;
    std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
  };

  void serve();
  ModelReply answer(const Call& call);
  ModelReply hold_session(const Call& call);
  void keep(const std::string& key, const Workspace& workspace, const SessionOutcome& outcome,
            ModelReply& reply) const;
  void count(const SessionOutcome& outcome, ModelReply& reply) const;
  std::string session_name(const std::string& key);

  EndpointConfig config_;
  AgentEndpointSetup setup_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<Call> waiting_;
  std::vector<std::shared_ptr<std::atomic<bool>>> running_;
  std::map<std::string, int> sessions_of_; ///< by key
  std::vector<std::thread> threads_;       ///< last: they use everything above
};

} // namespace winnow::agents
