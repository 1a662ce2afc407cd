#include "harness/client/server_connection.h"

#include "agents/http/libcurl.h"
#include "base/error.h"
#include "harness/mailbox/mailbox.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <sys/un.h>

namespace winnow::harness {
namespace {

namespace fs = std::filesystem;
using agents::libcurl;

constexpr const char* kNobody = "start it with: winnow serve --judge --store FILE; in a sandbox "
                                "that forbids connections only a "
                                "folder works: --mailbox FOLDER there, --server FOLDER here";
constexpr long kConnectSeconds = 10;
constexpr std::size_t kMostOfAnswer = std::size_t{256} << 20U;
constexpr std::chrono::seconds kServerMayBeLate{30};

struct SlistFree {
  void operator()(curl_slist* list) const { libcurl().slist_free_all(list); }
};
struct EasyCleanup {
  void operator()(CURL* easy) const { libcurl().easy_cleanup(easy); }
};

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
  std::string& body = *static_cast<std::string*>(to);
  if (body.size() + size * count > kMostOfAnswer) {
    return 0;
  }
  body.append(data, size * count);
  return size * count;
}

int stops(void* stop, curl_off_t /*all*/, curl_off_t /*got*/, curl_off_t /*all_up*/,
          curl_off_t /*sent*/) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

/// HTTP, over TCP or a Unix socket. The connection stays open between requests.
class HttpConnection : public ServerConnection {
public:
  HttpConnection(std::string url, std::string socket, const std::string& token)
      : url_(std::move(url)), socket_(std::move(socket)), easy_(libcurl().easy_init()) {
    curl_slist* list = libcurl().slist_append(nullptr, "Content-Type: application/json");
    list = libcurl().slist_append(list, "Expect:"); // a round trip less
    if (!token.empty()) {
      list = libcurl().slist_append(list, ("Authorization: Bearer " + token).c_str());
    }
    headers_.reset(list);
  }

  ServerAnswer ask(const std::string& method, const std::string& target, const std::string& body,
                   std::chrono::seconds most, const std::stop_token& stop) override {
    ServerAnswer answer;
    const std::string url = url_ + target;
    const auto set = [this](CURLoption option, auto value) {
      libcurl().easy_setopt(easy_.get(), option, value);
    };
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_CUSTOMREQUEST, method.c_str());
    set(CURLOPT_POSTFIELDS, method == "POST" ? body.c_str() : nullptr);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    if (method != "POST") {
      set(CURLOPT_HTTPGET, 1L);
    }
    if (!socket_.empty()) {
      set(CURLOPT_UNIX_SOCKET_PATH, socket_.c_str());
    }
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_PROXY, "");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(CURLOPT_TIMEOUT, static_cast<long>((most + kServerMayBeLate).count()));
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &stops);
    set(CURLOPT_XFERINFODATA, &stop);
    set(CURLOPT_WRITEFUNCTION, &take_body);
    set(CURLOPT_WRITEDATA, &answer.body);
    const CURLcode code = libcurl().easy_perform(easy_.get());
    if (stop.stop_requested()) {
      throw Error("interrupted");
    }
    if (code != CURLE_OK) {
      throw Error(fmt::format("no judge answers at {}: {}", socket_.empty() ? url_ : socket_,
                              libcurl().easy_strerror(code)),
                  kNobody);
    }
    long status = 0;
    libcurl().easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_off_t retry_after = 0;
    libcurl().easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    answer.status = static_cast<int>(status);
    answer.retry_after_s = static_cast<int>(retry_after);
    return answer;
  }

private:
  std::string url_, socket_;
  std::unique_ptr<CURL, EasyCleanup> easy_;
  std::unique_ptr<curl_slist, SlistFree> headers_;
};

class MailboxConnection : public ServerConnection {
public:
  MailboxConnection(std::string folder, const std::string& token)
      : folder_(std::move(folder)), mailbox_(folder_),
        authorization_(token.empty() ? "" : "Bearer " + token) {}

  ServerAnswer ask(const std::string& method, const std::string& target, const std::string& body,
                   std::chrono::seconds most, const std::stop_token& stop) override {
    constexpr std::chrono::milliseconds kLook{50};
    require_server();
    const std::string name = mailbox_.send({method, target, authorization_, body});
    const auto until = std::chrono::steady_clock::now() + most + kServerMayBeLate;
    while (!stop.stop_requested()) {
      if (std::optional<Mailbox::Answer> answer = mailbox_.take_answer(name)) {
        return {answer->status, std::move(answer->body), answer->retry_after_s};
      }
      require_server();
      if (std::chrono::steady_clock::now() > until) {
        throw Error(folder_ + ": the judge does not answer", "send the command again");
      }
      mailbox_.wait(kLook);
    }
    throw Error("interrupted");
  }

private:
  void require_server() const {
    if (!mailbox_.has_server()) {
      throw Error("no judge looks into the folder " + folder_,
                  "start it with: winnow serve --judge --store FILE --mailbox FOLDER");
    }
  }

  std::string folder_;
  Mailbox mailbox_;
  std::string authorization_;
};

} // namespace

std::unique_ptr<ServerConnection> connection_to(const std::string& server,
                                                const std::string& token) {
  if (server.starts_with("http://") || server.starts_with("https://")) {
    return std::make_unique<HttpConnection>(server.substr(0, server.find_last_not_of('/') + 1), "",
                                            token);
  }
  std::error_code problem;
  const fs::file_type type = fs::status(server, problem).type();
  if (type == fs::file_type::directory) {
    return std::make_unique<MailboxConnection>(server, token);
  }
  if (type == fs::file_type::socket) {
    if (server.size() >= sizeof(sockaddr_un::sun_path)) {
      throw UsageError(fmt::format("--server {}: the path has {} bytes; the path of a socket may "
                                   "have {}",
                                   server, server.size(), sizeof(sockaddr_un::sun_path) - 1),
                       "name it by a shorter path, for instance from its own folder");
    }
    return std::make_unique<HttpConnection>("http://localhost", server, token);
  }
  throw UsageError("--server " + server +
                       ": this is neither http://HOST:PORT, nor the path of a "
                       "socket, nor a folder",
                   kNobody);
}

} // namespace winnow::harness
