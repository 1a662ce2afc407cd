#pragma once

#include "base/unique_fd.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace winnow::harness {

/// A folder in which clients leave requests and a server leaves answers. Sandboxes of agents forbid
/// sockets, but let files of a workspace be written. The two sides do not trust each other: a name
/// that is no plain name is not looked at, no link is followed, only regular files of a bounded
/// size are read, and each file appears in one step.
///
/// NAME.request and NAME.answer hold JSON objects with the members of Letter and Answer. The server
/// touches the file `server` every second.
class Mailbox {
public:
  struct Letter {
    std::string method = "GET", target, authorization, body;
  };
  struct Answer {
    int status = 0;
    std::string body;
    int retry_after_s = 0; ///< 0: not said
  };

  /// Opens the folder. Throws UsageError if there is none.
  explicit Mailbox(const std::filesystem::path& folder);

  // The client's side.
  /// The name under which the answer will come. Throws Error if the folder cannot be written to.
  std::string send(const Letter& letter) const;
  /// Takes the answer out of the folder. nullopt: it has not come. Throws Error if it is malformed.
  std::optional<Answer> take_answer(const std::string& name) const;
  /// Whether a server has been here in the last ten seconds.
  bool has_server() const;

  // The server's side.
  /// Names of requests, at most `most`.
  std::vector<std::string> waiting(std::size_t most) const;
  /// Takes a request out of the folder. nullopt: it has gone. Throws UsageError if it is malformed.
  std::optional<Letter> take(const std::string& name) const;
  /// Throws Error if it cannot be written.
  void answer(const std::string& name, const Answer& answer) const;
  void touch() const; ///< the file `server`

  /// Returns when a file has come, or when this time is over.
  void wait(std::chrono::milliseconds most) const;

private:
  std::optional<std::string> take_file(const std::string& file, std::size_t most) const;
  void write_file(const std::string& file, const std::string& text) const;

  std::filesystem::path path_;
  UniqueFd folder_, news_; ///< the second is an inotify, or none
};

} // namespace winnow::harness
