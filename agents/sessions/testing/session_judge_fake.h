#pragma once

#include "agents/sessions/session_judge.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace winnow::agents::test {

/// A judge that judges nothing: each session gets a pass, and its record is the one given.
class SessionJudgeFake : public SessionJudge {
public:
  SessionPass open(const std::string& session, const std::string& task,
                   const std::filesystem::path& workspace, const SessionLimits& limits) override {
    const std::lock_guard lock(mutex_);
    opened.push_back(session);
    tasks.push_back(task);
    last_limits = limits;
    return {(workspace / "mailbox").string(), "token-of-" + session};
  }
  SessionRecord close(const std::string& session) override {
    const std::lock_guard lock(mutex_);
    closed.push_back(session);
    return record;
  }

  SessionRecord record;
  std::vector<std::string> opened, closed, tasks;
  SessionLimits last_limits;

private:
  std::mutex mutex_;
};

} // namespace winnow::agents::test
