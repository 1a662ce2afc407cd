#include "base/error.h"
#include "base/files.h"
#include "harness/commands/commands.h"
#include "harness/exit/interrupt.h"
#include "harness/machine/machine.h"
#include "harness/mcp/child_commands.h"
#include "harness/mcp/session.h"
#include "harness/mcp/stdio_server.h"

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace winnow::harness {
namespace {

struct McpCommand {
  std::string server;
  std::string token_file;
};

/// The options of each command that a tool runs.
std::vector<std::string> judged_where(const McpCommand& command) {
  std::vector<std::string> options;
  if (!command.server.empty()) {
    options.push_back("--server=" + command.server);
  }
  if (!command.token_file.empty()) {
    options.push_back("--token-file=" + command.token_file);
  }
  return options;
}

ExitCode mcp(const McpCommand& command) {
  Interrupt interrupt; // before any other thread starts
  std::signal(SIGPIPE, SIG_IGN);
  if (isatty(STDIN_FILENO) != 0) {
    std::cerr
        << "winnow mcp waits for an agent's messages on stdin; add it to an agent: claude mcp "
           "add winnow -- winnow mcp\n";
  }
  StdioServer server(STDIN_FILENO, STDOUT_FILENO);
  const OnInterrupt stop(interrupt, [&] { server.stop(); });
  ChildCommands commands(executable_path(), {"--parent=" + std::to_string(getpid())});
  StdioServer::End end;
  {
    McpSession session({commands, [&](const nlohmann::json& message) { server.send(message); },
                        winnow_version(), judged_where(command)});
    end = server.serve(kMostMessageBytes,
                       [&](std::string_view line, bool too_long) { session.take(line, too_long); });
  }
  if (end == StdioServer::End::Broken) {
    throw Error("the agent has closed the pipe from which it reads answers");
  }
  return end == StdioServer::End::Stopped ? ExitCode::Interrupted : ExitCode::Done;
}

} // namespace

void add_mcp(CLI::App& app, Action& chosen) {
  const auto [sub, command] = add_command(
      app, chosen, "mcp",
      "Give a coding agent the judge as tools: a server of the Model Context Protocol on "
      "stdin and stdout",
      mcp);
  sub.add_option(
      "--server", command.server,
      "where kernels are judged: http://host:port, the path of a Unix socket, or a folder "
      "that is a mailbox (default: $WINNOW_SERVER, else this machine)");
  sub.add_option("--token-file", command.token_file,
                 "file with the token for --server (default: $WINNOW_TOKEN is the token)");
  sub.footer("Each call of a tool runs a command of Winnow as a child, so a crash costs one call, "
             "and a call that is cancelled ends it. To add the server to an agent:\n"
             "  claude mcp add winnow -- winnow mcp\n"
             "  codex mcp add winnow -- winnow mcp\n" +
             sub.get_footer());
}

} // namespace winnow::harness
