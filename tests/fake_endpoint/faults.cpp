#include "tests/fake_endpoint/faults.h"

#include "tests/fake_endpoint/wire_render.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

namespace winnow::tests {
namespace {

// Sizes for a client that accepts at most 4 MiB.
constexpr std::size_t kHugeAnswerBytes = 3U << 20U;
constexpr std::size_t kHugeBodyBytes = 5U << 20U;
constexpr std::size_t kHugePieceBytes = 64U << 10U;
constexpr std::size_t kDeepLevels = 100'000;

using Maker = std::function<FakeReply()>;
using Named = std::pair<std::string, Maker>;

Maker refused(int status, const std::string& message, const std::string& type) {
  return [=] { return error_reply(status, message, type); };
}

Maker limited(const std::string& header, const std::string& value) {
  return [=] {
    return with_header(error_reply(429, "rate limit reached", "rate_limit_error"), header, value);
  };
}

Maker quota(const std::string& id, const std::string& delay) {
  return [=] {
    FakeReply reply = error_reply(429, "you exceeded your current quota", "rate_limit_error");
    reply.error->quota_id = id;
    reply.error->retry_delay = delay;
    return reply;
  };
}

Maker broken(Fault fault) {
  return
      [=] { return with_fault(chat_reply("a text that is cut somewhere in the middle"), fault); };
}

Maker says(const std::string& text, const std::string& finish, const std::string& reasoning = "") {
  return [=] {
    FakeReply reply = chat_reply(text, finish);
    reply.answer->reasoning = reasoning;
    return reply;
  };
}

Maker raw(int status, const std::string& body, const std::string& type) {
  return [=] { return raw_reply(status, body, type); };
}

FakeReply no_money() {
  FakeReply reply = error_reply(429, "you exceeded your current quota", "insufficient_quota");
  reply.error->code = "insufficient_quota";
  return reply;
}

FakeReply error_in_200() {
  FakeReply reply = error_reply(502, "the upstream provider failed", "api_error");
  reply.status = 200;
  reply.error->code = "502";
  return reply;
}

FakeReply huge_answer() {
  FakeReply reply = chat_reply(std::string(kHugeAnswerBytes, 'a'));
  reply.delivery.piece_bytes = kHugePieceBytes;
  return reply;
}

FakeReply invalid_utf8() {
  FakeReply reply = chat_reply("before " + std::string(kInvalidUtf8Mark) + " after");
  reply.delivery.piece_bytes = reply.answer->text.size();
  return reply;
}

const std::string kProxyPage = "<html><head><title>502 Bad Gateway</title></head>"
                               "<body><h1>502 Bad Gateway</h1>nginx</body></html>";

std::vector<Named> refusals() {
  return {{"400", refused(400, "unsupported parameter", "invalid_request_error")},
          {"401", refused(401, "invalid key", "authentication_error")},
          {"402", refused(402, "your credit balance is too low", "billing_error")},
          {"403", refused(403, "not allowed", "permission_error")},
          {"404", refused(404, "no such model", "not_found_error")},
          {"408", refused(408, "request timeout", "timeout_error")},
          {"409", refused(409, "conflict", "conflict_error")},
          {"413", refused(413, "request too large", "request_too_large")},
          {"429", refused(429, "rate limit reached", "rate_limit_error")},
          {"429-seconds", limited("retry-after", "0.001")},
          {"429-date", limited("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")},
          {"429-ms", limited("retry-after-ms", "1")},
          {"429-hours", limited("retry-after", "7200")},
          {"429-retry-info", quota("GenerateRequestsPerMinutePerProject", "0.001s")},
          {"429-per-day", quota("GenerateRequestsPerDayPerProject", "0.001s")},
          {"429-no-quota", no_money},
          {"500", refused(500, "internal error", "api_error")},
          {"500-do-not-retry",
           [] { return with_header(error_reply(500, "final"), "x-should-retry", "false"); }},
          {"503", refused(503, "unavailable", "api_error")},
          {"504", refused(504, "deadline exceeded", "timeout_error")},
          {"529", refused(529, "overloaded", "overloaded_error")}};
}

std::vector<Named> broken_transports() {
  return {{"never-answer", broken(Fault::NeverAnswer)},
          {"close-at-once", broken(Fault::CloseAtOnce)},
          {"silent-after-head", broken(Fault::SilentAfterHead)},
          {"close-mid-body", broken(Fault::CloseMidBody)},
          {"stall-mid-body", broken(Fault::StallMidBody)},
          {"end-early", broken(Fault::EndEarly)},
          {"error-mid-stream", broken(Fault::ErrorMidStream)},
          {"endless-text", broken(Fault::EndlessText)},
          {"endless-pings", broken(Fault::EndlessPings)},
          {"short-length", broken(Fault::ShortLength)}};
}

std::vector<Named> odd_bodies() {
  return {{"html-502", raw(502, kProxyPage, "text/html")},
          {"html-200", raw(200, "<html>Please log in to the network</html>", "text/html")},
          {"redirect",
           [] { return with_header(raw_reply(301, ""), "location", "https://elsewhere.example"); }},
          {"empty-body", raw(200, "", "application/json")},
          {"error-in-200", error_in_200},
          {"deep-json", raw(200, std::string(kDeepLevels, '['), "application/json")},
          {"huge-body", [] { return raw_reply(200, std::string(kHugeBodyBytes, ' ')); }},
          {"huge-answer", huge_answer},
          {"invalid-utf8", invalid_utf8},
          {"empty-answer", says("", "stop")},
          {"only-reasoning", says("", "stop", "thinking without a result")},
          {"refusal", says("I cannot help with that", "refusal")},
          {"filtered", says("", "content_filter")},
          {"length", says("an answer that ends in the mid", "length")},
          {"several-blocks",
           says("First:\n```cuda\nint a;\n```\nthen:\n```cuda\nint b;\n```\n", "stop")}};
}

const std::vector<Named>& all() {
  static const std::vector<Named> list = [] {
    std::vector<Named> out = refusals();
    for (const auto& more : {broken_transports(), odd_bodies()}) {
      out.insert(out.end(), more.begin(), more.end());
    }
    return out;
  }();
  return list;
}

} // namespace

const std::vector<std::string>& fault_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const auto& [name, make] : all()) {
      out.push_back(name);
    }
    return out;
  }();
  return names;
}

FakeReply faulty_reply(const std::string& name) {
  const auto found = std::find_if(all().begin(), all().end(),
                                  [&](const Named& fault) { return fault.first == name; });
  if (found != all().end()) {
    return found->second();
  }
  std::string known;
  for (const std::string& one : fault_names()) {
    known += (known.empty() ? "" : ", ") + one;
  }
  throw std::runtime_error("unknown fault '" + name + "'; known: " + known);
}

} // namespace winnow::tests
