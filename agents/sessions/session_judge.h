#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace winnow::agents {

struct SessionLimits {
  int evaluations = 0; ///< that one session may ask for
  std::chrono::seconds time{0};
};

/// What lets a session ask the judge.
struct SessionPass {
  std::string server; ///< for --server: a URL, a socket, or a folder in the workspace
  std::string token;
};

/// What the judge saw of a session.
struct SessionRecord {
  std::string best_kernel; ///< the text of the fastest correct kernel file; empty: there is none
  int evaluations = 0;
};

/// The judge of sessions. Any thread may call it.
class SessionJudge {
public:
  virtual ~SessionJudge() = default;
  /// Lets the session `session` ask about the task. Throws Error if it cannot.
  virtual SessionPass open(const std::string& session, const std::string& task,
                           const std::filesystem::path& workspace, const SessionLimits& limits) = 0;
  /// The session is over: its pass opens nothing more.
  virtual SessionRecord close(const std::string& session) = 0;
};

} // namespace winnow::agents
