#include "harness/serve/mailbox/mailbox_server.h"

#include "base/error.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

namespace winnow::harness {
namespace {

constexpr int kMostOpenLetters = 64; // of one mailbox; the others wait in the folder
constexpr std::size_t kMostLines = std::size_t{32} << 20U; // of one answer
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::seconds kTouch{1};

class LetterExchange : public Exchange {
public:
  LetterExchange(std::shared_ptr<const Mailbox> mailbox, std::shared_ptr<std::atomic<int>> open,
                 std::string name, HttpRequest request)
      : mailbox_(std::move(mailbox)), open_(std::move(open)), name_(std::move(name)),
        request_(std::move(request)) {
    ++*open_;
  }
  ~LetterExchange() override {
    if (is_open_) {
      LetterExchange::reply(error_reply(503, "the server stops", "send the request again", 1));
    }
    --*open_;
  }
  LetterExchange(const LetterExchange&) = delete; // answers once
  LetterExchange& operator=(const LetterExchange&) = delete;

  const HttpRequest& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  bool is_open() const override { return is_open_; }
  void reply(HttpReply reply) override {
    if (!std::exchange(is_open_, false)) {
      return;
    }
    try {
      if (reply.page) {
        reply.body = *reply.page;
      }
      mailbox_->answer(name_, {reply.status, std::move(reply.body), reply.retry_after_s});
    } catch (const Error& error) {
      spdlog::error("serve: {}", error.what());
    }
  }
  void begin_lines() override {}
  void add_line(std::string line) override {
    lines_ += std::move(line) + "\n";
    if (lines_.size() > kMostLines) {
      reply(error_reply(503, "the answer is too long for a mailbox", "ask for a page of results"));
    }
  }
  void end_lines() override { reply({200, std::move(lines_), "application/x-ndjson"}); }

private:
  std::shared_ptr<const Mailbox> mailbox_;
  std::shared_ptr<std::atomic<int>> open_;
  std::string name_;
  HttpRequest request_;
  std::string lines_;
  bool is_open_ = true;
};

} // namespace

MailboxServer::MailboxServer(const std::filesystem::path& folder,
                             std::optional<std::string> authorization, HttpApplication& application,
                             InTurn post)
    : mailbox_(std::make_shared<Mailbox>(folder)), authorization_(std::move(authorization)),
      application_(application), post_(std::move(post)) {
  mailbox_->touch();
  thread_ = std::thread([this] { serve(); });
}

MailboxServer::~MailboxServer() {
  ending_ = true;
  thread_.join();
}

void MailboxServer::serve() {
  auto touched = std::chrono::steady_clock::now();
  bool is_broken = false;
  while (!ending_) {
    try {
      const int room = kMostOpenLetters - *open_;
      for (const std::string& name :
           mailbox_->waiting(static_cast<std::size_t>(std::max(room, 0)))) {
        hand_over(name);
      }
      if (const auto now = std::chrono::steady_clock::now(); now - touched > kTouch) {
        touched = now;
        mailbox_->touch();
        is_broken = false;
      }
    } catch (const Error& error) { // the folder is full, or has gone
      if (!std::exchange(is_broken, true)) {
        spdlog::error("serve: {}", error.what());
      }
    }
    mailbox_->wait(kLook);
  }
}

void MailboxServer::hand_over(const std::string& name) {
  HttpRequest request;
  try {
    std::optional<Mailbox::Letter> letter = mailbox_->take(name);
    if (!letter) {
      return;
    }
    request = {letter->method,
               letter->target,
               authorization_.value_or(std::move(letter->authorization)),
               "localhost",
               "",
               std::move(letter->body)};
  } catch (const UsageError& error) {
    const HttpReply refusal = error_reply(400, error.what(), error.remedy());
    mailbox_->answer(name, {refusal.status, refusal.body, 0});
    return;
  }
  HttpRequest head = request;
  head.body.clear();
  const Admission admission = application_.admit(head);
  auto exchange = std::make_shared<LetterExchange>(mailbox_, open_, name, std::move(request));
  if (admission.reply) {
    exchange->reply(*admission.reply);
    return;
  }
  post_(
      admission.owner, [&application = application_, exchange] { application.handle(exchange); },
      Turn::Last);
}

} // namespace winnow::harness
