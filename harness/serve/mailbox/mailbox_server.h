#pragma once

#include "harness/mailbox/mailbox.h"
#include "harness/serve/exchange.h"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace winnow::harness {

/// Serves an application through a folder (harness/mailbox/mailbox.h), beside an HTTP server or
/// without one.
class MailboxServer {
public:
  /// `authorization`: of all requests, whatever they say; nullopt: each says its own. `post` lets
  /// the application's thread do the work of an owner. Both outlive this object. Throws UsageError
  /// if there is no such folder.
  MailboxServer(const std::filesystem::path& folder, std::optional<std::string> authorization,
                HttpApplication& application, InTurn post);
  ~MailboxServer();                             ///< answers nothing any more
  MailboxServer(const MailboxServer&) = delete; // owns a thread
  MailboxServer& operator=(const MailboxServer&) = delete;

private:
  void serve();
  void hand_over(const std::string& name);

  std::shared_ptr<Mailbox> mailbox_;
  std::optional<std::string> authorization_;
  HttpApplication& application_;
  InTurn post_;
  std::shared_ptr<std::atomic<int>> open_ = std::make_shared<std::atomic<int>>(0);
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

} // namespace winnow::harness
