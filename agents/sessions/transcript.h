#pragma once

#include "agents/sessions/agent_adapter.h"
#include "agents/sessions/workspace.h"

#include <filesystem>
#include <string>

namespace winnow::agents {

/// Remembers the secrets in the login files that the adapter names, so that cut_secrets() finds
/// them. Call it before a session and after it: an agent renews its login.
void keep_login_secrets(const AgentAdapter& adapter);

/// `text` without the secrets that Winnow knows and without lines that look like one.
std::string without_keys(std::string text);

/// Copies what tells about the session into `target`: what the agent printed, and its transcripts.
/// No links, at most 64 MiB, nothing with a key in it. Only the user can read the copy. Writes what
/// cannot be copied into `target`/left_out.txt.
void keep_transcript(const Workspace& workspace, const AgentAdapter& adapter,
                     const std::string& out, const std::string& err,
                     const std::filesystem::path& target);

} // namespace winnow::agents
