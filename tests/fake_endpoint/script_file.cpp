#include "tests/fake_endpoint/script_file.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "tests/fake_endpoint/faults.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::tests {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxScriptBytes = 64U << 20U;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Reads the members of one object of the script. Remembers the known names, to report all other
/// members.
class Members {
public:
  Members(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) {
      fail("", "an object");
    }
  }

  const json* find(const std::string& name) {
    known_.push_back(name);
    const auto member = object_.find(name);
    return member == object_.end() ? nullptr : &*member;
  }
  void read(const std::string& name, std::string& value) {
    if (const json* member = find(name)) {
      value = text(name, *member);
    }
  }
  void read(const std::string& name, bool& value) {
    if (const json* member = find(name)) {
      expect(member->is_boolean(), name, "true or false");
      value = member->get<bool>();
    }
  }
  template <typename Number> void read_count(const std::string& name, Number& value) {
    if (const json* member = find(name)) {
      expect(member->is_number_unsigned(), name, "a number from 0");
      value = static_cast<Number>(member->get<std::uint64_t>());
    }
  }
  void read_ms(const std::string& name, std::chrono::microseconds& value) {
    if (const json* member = find(name)) {
      expect(member->is_number() && member->get<double>() >= 0, name, "milliseconds from 0");
      value = std::chrono::microseconds(static_cast<std::int64_t>(1000 * member->get<double>()));
    }
  }
  std::string text(const std::string& name, const json& value) const {
    expect(value.is_string(), name, "a text");
    return value.get<std::string>();
  }
  void expect(bool good, const std::string& name, const std::string& expected) const {
    if (!good) {
      fail(name, expected);
    }
  }
  [[noreturn]] void fail(const std::string& name, const std::string& expected) const {
    throw Error(
        fmt::format("{}{}{}: expected {}", where_, name.empty() ? "" : ", ", name, expected));
  }
  /// Throws if the object has a member that was never read.
  void done() const {
    for (const auto& [name, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        throw Error(
            fmt::format("{}: unknown member '{}'{}", where_, name, suggestion(name, known_)));
      }
    }
  }
  const std::string& where() const { return where_; }

private:
  const json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

Usage read_usage(const json& value, const std::string& where) {
  Usage usage;
  Members members(value, where);
  members.read_count("prompt", usage.prompt_tokens);
  members.read_count("cached", usage.cached_tokens);
  members.read_count("cache_write", usage.cache_write_tokens);
  members.read_count("completion", usage.completion_tokens);
  members.read_count("reasoning", usage.reasoning_tokens);
  members.done();
  return usage;
}

void read_answer(Members& members, FakeReply& reply) {
  const char* names[] = {"text", "reasoning", "finish", "model", "usage", "dollars"};
  const bool any = std::any_of(std::begin(names), std::end(names),
                               [&](const char* name) { return members.find(name) != nullptr; });
  if (!any) {
    return;
  }
  Answer answer = reply.answer.value_or(Answer{});
  members.read("text", answer.text);
  members.read("reasoning", answer.reasoning);
  members.read("finish", answer.finish);
  members.read("model", answer.model);
  if (const json* usage = members.find("usage")) {
    answer.usage = read_usage(*usage, members.where() + ", usage");
  }
  if (const json* dollars = members.find("dollars")) {
    members.expect(dollars->is_number(), "dollars", "a number");
    answer.dollars = dollars->get<double>();
  }
  reply.answer = answer;
}

void read_error(Members& members, FakeReply& reply) {
  const json* value = members.find("error");
  if (value == nullptr) {
    return;
  }
  Members error(*value, members.where() + ", error");
  FakeError read = reply.error.value_or(FakeError{});
  read.status = reply.status;
  error.read("message", read.message);
  error.read("type", read.type);
  error.read("code", read.code);
  error.read("retry_delay", read.retry_delay);
  error.read("quota_id", read.quota_id);
  error.done();
  reply.error = read;
}

Delivery read_delivery(const json& value, const std::string& where) {
  Delivery delivery;
  Members members(value, where);
  members.read_ms("first_byte_ms", delivery.first_byte);
  members.read_ms("first_token_ms", delivery.first_token);
  members.read_ms("between_ms", delivery.between);
  members.read_count("piece_bytes", delivery.piece_bytes);
  members.read_count("segment_bytes", delivery.segment_bytes);
  members.read("crlf", delivery.crlf);
  members.read("comments", delivery.comments);
  members.read("multi_line", delivery.multi_line);
  members.done();
  return delivery;
}

void read_events(Members& members, FakeReply& reply) {
  const json* list = members.find("events");
  if (list == nullptr) {
    return;
  }
  members.expect(list->is_array() && !list->empty(), "events", "a list that is not empty");
  for (const json& value : *list) {
    RawEvent raw;
    Members event(value, fmt::format("{}, event {}", members.where(), reply.events.size() + 1));
    event.read_ms("wait_ms", raw.wait);
    event.read("bytes", raw.bytes);
    event.done();
    reply.events.push_back(std::move(raw));
  }
}

void read_headers(Members& members, FakeReply& reply) {
  if (const json* headers = members.find("headers")) {
    members.expect(headers->is_object(), "headers", "an object");
    for (const auto& [name, value] : headers->items()) {
      reply.headers.emplace_back(name, members.text("headers, " + name, value));
    }
  }
}

FakeReply read_reply(const json& value, const std::string& where) {
  Members members(value, where);
  FakeReply reply;
  if (const json* fault = members.find("fault")) {
    try {
      reply = faulty_reply(members.text("fault", *fault));
    } catch (const std::runtime_error& failure) {
      throw Error(fmt::format("{}: {}", where, failure.what()));
    }
  }
  members.read_count("status", reply.status);
  read_headers(members, reply);
  read_answer(members, reply);
  read_error(members, reply);
  read_events(members, reply);
  if (const json* body = members.find("body")) {
    reply.body = body->is_string() ? body->get<std::string>() : body->dump();
  }
  members.read("content_type", reply.content_type);
  if (members.find("drop_after_bytes") != nullptr) {
    members.read_count("drop_after_bytes", reply.drop_after_bytes.emplace());
  }
  if (const json* delivery = members.find("delivery")) {
    reply.delivery = read_delivery(*delivery, where + ", delivery");
  }
  members.done();
  return reply;
}

} // namespace

struct RuleReader {
  using Rule = ScriptFile::Rule;

  static void check_pointer(const Members& match, const std::string& pointer) {
    try {
      static_cast<void>(json::json_pointer(pointer));
    } catch (const json::exception&) {
      match.fail("body, " + pointer, "a JSON pointer like /model");
    }
  }

  static void read_match(const json& value, const std::string& where, Rule& rule) {
    Members match(value, where);
    match.read("method", rule.method);
    match.read("path", rule.path);
    match.read("contains", rule.contains);
    if (const json* headers = match.find("header")) {
      match.expect(headers->is_object(), "header", "an object");
      for (const auto& [name, text] : headers->items()) {
        rule.headers.push_back({lower(name), match.text("header, " + name, text)});
      }
    }
    if (const json* body = match.find("body")) {
      match.expect(body->is_object(), "body", "an object");
      for (const auto& [pointer, expected] : body->items()) {
        check_pointer(match, pointer);
        rule.body.push_back({pointer, expected.dump()});
      }
    }
    match.done();
  }

  static Rule read(const json& value, const std::string& where) {
    Rule rule;
    Members members(value, where);
    if (const json* match = members.find("match")) {
      read_match(*match, where + ", match", rule);
    }
    if (members.find("times") != nullptr) {
      members.read_count("times", rule.times.emplace());
    }
    const json* reply = members.find("reply");
    members.expect(reply != nullptr, "reply", "an object");
    rule.reply = read_reply(*reply, where + ", reply");
    members.done();
    return rule;
  }
};

ScriptFile::ScriptFile(const std::filesystem::path& path)
    : ScriptFile(read_file(path, kMaxScriptBytes), path.string()) {}

ScriptFile::ScriptFile(std::string_view text, const std::string& name) {
  json list;
  try {
    list = json::parse(text);
  } catch (const json::exception& failure) {
    throw Error(fmt::format("{}: {}", name, failure.what()));
  }
  if (!list.is_array()) {
    throw Error(name + ": expected a list of rules, [{\"match\": {...}, \"reply\": {...}}]");
  }
  for (const json& rule : list) {
    rules_.push_back(RuleReader::read(rule, fmt::format("{}: rule {}", name, rules_.size() + 1)));
  }
}

bool ScriptFile::holds(const Rule& rule, const SeenRequest& request) {
  if ((!rule.method.empty() && rule.method != request.method) ||
      request.target.find(rule.path) == std::string::npos ||
      request.body.find(rule.contains) == std::string::npos) {
    return false;
  }
  const bool headers =
      std::all_of(rule.headers.begin(), rule.headers.end(), [&](const Expected& header) {
        return request.header(header.place).find(header.value) != std::string::npos &&
               !request.header(header.place).empty();
      });
  if (!headers || rule.body.empty()) {
    return headers;
  }
  const json body = json::parse(request.body, nullptr, false);
  return std::all_of(rule.body.begin(), rule.body.end(), [&](const Expected& member) {
    const json::json_pointer place(member.place);
    return body.is_structured() && body.contains(place) && body[place] == json::parse(member.value);
  });
}

std::optional<FakeReply> ScriptFile::reply_to(const SeenRequest& request) {
  for (Rule& rule : rules_) {
    if ((rule.times && *rule.times == 0) || !holds(rule, request)) {
      continue;
    }
    if (rule.times) {
      --*rule.times;
    }
    return rule.reply;
  }
  return std::nullopt;
}

} // namespace winnow::tests
