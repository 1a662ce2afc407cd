#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace winnow::harness {

/// A request as a client sent it.
struct HttpRequest {
  std::string method;        ///< "GET"
  std::string target;        ///< "/v1/jobs/9c1e?wait_s=60"
  std::string authorization; ///< the field of this name; may be empty
  std::string host, origin;  ///< the fields of these names; may be empty
  std::string body;
};

/// No member but `body` may hold a text from a client: a line break in a header would begin another
/// header.
struct HttpReply {
  int status = 200;
  std::string body;
  const char* type = "application/json";
  int retry_after_s = 0;          ///< 0: the reply does not say when to come again
  bool asks_for_password = false; ///< makes a browser ask its user for the token
  /// Instead of `body`: a large text that many connections may send at the same time.
  std::shared_ptr<const std::string> page = nullptr;
};

/// What a server makes of a request before it reads the body.
struct Admission {
  /// The whole answer: a refusal, or what needs neither a body nor a token. Then the rest of the
  /// request is not read.
  std::optional<HttpReply> reply;
  std::string owner = {}; ///< whose request it is; for bounds
};

/// One request that waits for its answer. Used on the application's thread only. An exchange that
/// is dropped without an answer closes its connection.
class Exchange {
public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0; ///< without the body after take_body()
  /// The body. A request that waits for long should not keep it.
  virtual std::string take_body() = 0;
  virtual bool is_open() const = 0; ///< false: the client has gone, or the answer has been given
  /// Does nothing if the exchange is not open. After begin_lines() it closes the connection,
  /// because an answer within an answer would be read as the next one.
  virtual void reply(HttpReply reply) = 0;
  // An answer in lines (status 200, application/x-ndjson), instead of reply().
  virtual void begin_lines() = 0;
  /// Adds one line. Closes the connection if the client reads more slowly than lines are added.
  virtual void add_line(std::string line) = 0;
  virtual void end_lines() = 0;
};

/// What a server serves. All functions but admit() run on the application's thread, so one that
/// takes long keeps no connection from being accepted, bounded or closed.
class HttpApplication {
public:
  virtual ~HttpApplication() = default;
  /// Called before the body is read, so `head.body` is empty. Runs on the network's thread, beside
  /// the other functions, and must be short.
  virtual Admission admit(const HttpRequest& head) = 0;
  virtual void handle(std::shared_ptr<Exchange> exchange) = 0;
  virtual void tick() = 0; ///< comes about four times a second
  virtual void end() = 0;  ///< answers all exchanges that wait, because the server stops
};

/// Where a piece of work goes among the requests and pieces of its owner that wait.
enum class Turn : std::uint8_t { Next, Last };
/// Lets the application's thread do a piece of an owner's work when the owner has its turn.
using InTurn = std::function<void(const std::string& owner, std::function<void()> work, Turn turn)>;

/// {"error": "...", "remedy": "..."}; without the remedy if it is empty.
HttpReply error_reply(int status, const std::string& error, const std::string& remedy = {},
                      int retry_after_s = 0);

/// The status line and the header, with the empty line at its end. `length`: the field that tells
/// where the body ends.
std::string head_of(const HttpReply& reply, const std::string& length, bool keep_alive);

} // namespace winnow::harness
