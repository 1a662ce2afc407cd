#pragma once

#include "agents/model/model_request.h"
#include "agents/sessions/agent_adapter.h"
#include "agents/sessions/session_judge.h"
#include "base/files.h"
#include "base/unique_fd.h"
#include "process/session_fence.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace winnow::agents {

/// The folders of one session: its workspace, in which the agent works, and its home, which holds
/// the agent's own files. Both are removed with it.
class Workspace {
public:
  Workspace();

  const std::filesystem::path& root() const { return root_.path(); } ///< of both
  std::filesystem::path folder() const { return root() / "workspace"; }
  std::filesystem::path home() const { return root() / "home"; }

  /// Writes TASK.md, the agent's instructions and, for a kernel, kernel.cu and attempts/.
  void fill(const ModelRequest& request, const AgentAdapter& adapter);
  /// Writes `judge`, which judges kernel files of the task, and what it needs.
  void let_in(const SessionPass& pass, const std::string& task);
  /// What the fence shows of the user's home: the files that the adapter names, if they exist.
  std::vector<process::ShownPath> logins(const AgentAdapter& adapter) const;
  /// Without a fence: the same by links.
  void link_logins(const AgentAdapter& adapter) const;

  /// The text of kernel.cu, if the session has changed it. Empty also for a link, for what is no
  /// file, and for more than a kernel file may have; `why` says which. Call it when the session is
  /// over.
  std::string changed_kernel(std::string& why) const;

private:
  void write(const std::string& name, std::string_view text) const;

  TemporaryDirectory root_{"session"};
  UniqueFd folder_fd_; ///< the session may put something else at the folder's path
  std::string first_kernel_;
};

/// What a session may not exceed.
struct FolderLimits {
  std::uint64_t bytes = std::uint64_t{2} << 30U;
  std::uint64_t files = 200'000;
  int depth = 64; ///< of folders in folders
};
/// What of the folder exceeds the limits, in words; empty: nothing. Follows no links.
std::string excess_of(const std::filesystem::path& folder, const FolderLimits& limits);

/// The prompt of a session: what to do in the workspace.
std::string session_prompt(const ModelRequest& request, int evaluations);

} // namespace winnow::agents
