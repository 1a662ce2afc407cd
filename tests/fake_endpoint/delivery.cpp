#include "tests/fake_endpoint/delivery.h"

#include "tests/fake_endpoint/wire_render.h"

#include <algorithm>
#include <ctime>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::tests {
namespace {

using Then = Response::Then;
using Part = StreamEvent::Part;

constexpr std::chrono::microseconds kSegmentGap{500};
constexpr std::chrono::milliseconds kPingInterval{5};
constexpr std::size_t kEndlessPiece = 64U << 10U;

const FakeError kMidStreamError{
    500, "the server had an error in the middle", "api_error", "server_error", "", ""};

std::string head(const FakeReply& reply, const std::string& content_type,
                 std::optional<std::size_t> length) {
  std::string out =
      fmt::format("HTTP/1.1 {} Scripted\r\nContent-Type: {}\r\n", reply.status, content_type);
  for (const auto& [name, value] : reply.headers) {
    out += fmt::format("{}: {}\r\n", name, value);
  }
  return out + (length ? fmt::format("Content-Length: {}\r\n\r\n", *length)
                       : "Transfer-Encoding: chunked\r\n\r\n");
}

std::string chunk(const std::string& bytes) {
  return bytes.empty() ? "" : fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

void stamp(std::string& bytes) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string text = fmt::format("{:011}{:09}", now.tv_sec, now.tv_nsec);
  for (std::size_t at = 0; (at = bytes.find(kClockMark, at)) != std::string::npos;) {
    bytes.replace(at, kClockMark.size(), text);
  }
}

/// Returns a function that calls both. Either may be empty.
std::function<void(std::string&)> both(std::function<void(std::string&)> first,
                                       std::function<void(std::string&)> second) {
  return [first = std::move(first), second = std::move(second)](std::string& bytes) {
    for (const auto& call : {first, second}) {
      if (call) {
        call(bytes);
      }
    }
  };
}

std::vector<Step> in_segments(std::vector<Step> steps, std::size_t segment_bytes) {
  if (segment_bytes == 0) {
    return steps;
  }
  std::vector<Step> out;
  for (Step& step : steps) {
    for (std::size_t at = 0; at < step.bytes.size(); at += segment_bytes) {
      out.push_back({at == 0 ? step.wait : kSegmentGap, step.bytes.substr(at, segment_bytes), {}});
    }
  }
  return out;
}

/// A response that ends. `on_end` gets the receipt when the last step is written.
Response ending(std::vector<Step> steps, Then then, const FakeReply& reply, const Receipt& receipt,
                const std::function<void(const Receipt&)>& on_end) {
  steps = in_segments(std::move(steps), reply.delivery.segment_bytes);
  if (reply.answer && on_end) {
    steps.back().before_write =
        both(steps.back().before_write, [receipt, on_end](std::string&) { on_end(receipt); });
  }
  return in_order(std::move(steps), then);
}

Response and_then_forever(std::vector<Step> steps, const Step& again) {
  Response first = in_order(std::move(steps));
  return {[next = first.next, again] {
            auto step = next();
            return step ? step : std::optional(again);
          },
          Then::SaySilence};
}

// --- unstreamed -----------------------------------------------------------------------------

std::string body_of(const FakeReply& reply, const Question& question) {
  if (reply.error) {
    return error_body(question.wire, *reply.error);
  }
  if (!reply.answer) {
    return reply.body;
  }
  return reply.fault == Fault::ErrorMidStream ? error_body(question.wire, kMidStreamError)
                                              : answer_body(question, *reply.answer);
}

Response endless_body(const FakeReply& reply, const std::string& body) {
  const bool pings = reply.fault == Fault::EndlessPings;
  const std::string opening = pings ? " " : body.substr(0, body.size() / 2);
  Step again;
  again.bytes = chunk(pings ? " " : std::string(kEndlessPiece, 'a'));
  again.wait = pings ? kPingInterval : std::chrono::milliseconds(0);
  Step first{reply.delivery.first_byte, head(reply, reply.content_type, {}) + chunk(opening), {}};
  return and_then_forever({first}, again);
}

/// The bytes of a body that are sent, the length in the head, and what the server does afterwards.
struct Cut {
  std::string bytes;
  std::size_t length = 0;
  Then then = Then::KeepAlive;
};

Cut cut_body(const FakeReply& reply, const std::string& body) {
  const std::size_t size = body.size();
  switch (reply.fault) {
  case Fault::CloseMidBody:
    return {body, size + 1, Then::Close};
  case Fault::StallMidBody:
    return {body, size + 1, Then::SaySilence};
  case Fault::SilentAfterHead:
    return {"", size, Then::SaySilence};
  case Fault::EndEarly:
    return {body.substr(0, size / 2), size / 2, Then::KeepAlive};
  case Fault::ShortLength:
    return {body, size / 2, Then::Close};
  default:
    return {body, size, Then::KeepAlive};
  }
}

Response deliver_body(const FakeReply& reply, const Question& question,
                      const std::function<void(const Receipt&)>& on_end) {
  const std::string body = body_of(reply, question);
  if (reply.fault == Fault::EndlessText || reply.fault == Fault::EndlessPings) {
    return endless_body(reply, body);
  }
  const Cut cut = cut_body(reply, body);
  Step step{reply.delivery.first_byte, head(reply, reply.content_type, cut.length) + cut.bytes, {}};
  if (reply.delivery.stamp) {
    step.before_write = stamp;
  }
  Receipt receipt;
  receipt.whole = reply.fault == Fault::None;
  if (receipt.whole && reply.answer) {
    receipt.usage = reply.answer->usage;
  }
  return ending({step}, cut.then, reply, receipt, on_end);
}

// --- streamed -------------------------------------------------------------------------------

/// One event in the form of server-sent events.
std::string frame(const StreamEvent& event, const Delivery& delivery) {
  const std::string end = delivery.crlf ? "\r\n" : "\n";
  std::string out;
  if (delivery.comments) {
    out += fmt::format(": keep-alive{0}{0}id: 1{0}", end);
  }
  if (!event.name.empty()) {
    out += fmt::format("event: {}{}", event.name, end);
  }
  std::string data = event.data;
  if (delivery.multi_line) {
    if (const auto json = nlohmann::json::parse(data, nullptr, false); !json.is_discarded()) {
      data = json.dump(1);
    }
  }
  std::istringstream lines(data);
  for (std::string line; std::getline(lines, line);) {
    out += fmt::format("data: {}{}", line, end);
  }
  return out + end;
}

std::string ping(Wire wire, const Delivery& delivery) {
  if (wire == Wire::Anthropic) {
    return frame({Part::Opening, "ping", R"({"type":"ping"})", std::nullopt}, delivery);
  }
  return delivery.crlf ? ": ping\r\n\r\n" : ": ping\n\n";
}

std::size_t tokens_kept(Fault fault, std::size_t tokens) {
  switch (fault) {
  case Fault::CloseMidBody:
  case Fault::StallMidBody:
  case Fault::EndEarly:
  case Fault::ErrorMidStream:
    return (tokens + 1) / 2;
  case Fault::SilentAfterHead:
  case Fault::EndlessPings:
  case Fault::EndlessText:
    return 0;
  default:
    return std::string::npos;
  }
}

/// The events before the fault. Without a fault: all events.
std::vector<StreamEvent> events_before(Fault fault, std::vector<StreamEvent> events) {
  const auto tokens = std::count_if(events.begin(), events.end(), [](const StreamEvent& event) {
    return event.part == Part::Token;
  });
  const std::size_t keep = tokens_kept(fault, static_cast<std::size_t>(tokens));
  if (keep == std::string::npos) {
    return events;
  }
  std::size_t seen = 0;
  const auto end = std::find_if(events.begin(), events.end(), [&](const StreamEvent& event) {
    return event.part == Part::Closing || (event.part == Part::Token && ++seen > keep);
  });
  events.erase(end, events.end());
  return events;
}

Usage last_stated(const std::vector<StreamEvent>& events) {
  Usage usage;
  for (const StreamEvent& event : events) {
    usage = event.states.value_or(usage);
  }
  return usage;
}

/// One step for each event. The steps are not yet in chunked encoding.
std::vector<Step> event_steps(const FakeReply& reply, const Question& question,
                              const std::vector<StreamEvent>& events) {
  const Delivery& delivery = reply.delivery;
  std::vector<Step> steps;
  bool token_seen = false;
  for (const StreamEvent& event : events) {
    Step step{{}, frame(event, delivery), {}};
    if (event.part == Part::Token) {
      step.wait = token_seen ? delivery.between : delivery.first_token;
      step.bytes =
          (!token_seen && delivery.comments ? ping(question.wire, delivery) : "") + step.bytes;
      token_seen = true;
    }
    steps.push_back(std::move(step));
  }
  if (delivery.stamp) { // everything after the last token is sent together with it
    const auto marked = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
      return step.bytes.find(kClockMark) != std::string::npos;
    });
    for (auto step = marked; step != steps.end(); ++step) {
      marked->bytes += step == marked ? "" : step->bytes;
    }
    if (marked != steps.end()) {
      steps.erase(marked + 1, steps.end());
    }
  }
  return steps;
}

/// A stream with a content-length that is shorter than the body.
Response short_stream(const FakeReply& reply, const std::vector<Step>& steps,
                      const std::function<void(const Receipt&)>& on_end) {
  std::string body;
  for (const Step& step : steps) {
    body += step.bytes;
  }
  Step step{
      reply.delivery.first_byte, head(reply, "text/event-stream", body.size() / 2) + body, {}};
  return ending({step}, Then::Close, reply, {}, on_end);
}

Then after_stream(const FakeReply& reply) {
  if (reply.fault == Fault::CloseMidBody) {
    return Then::Close;
  }
  const bool silent = reply.fault == Fault::StallMidBody || reply.fault == Fault::SilentAfterHead;
  return silent ? Then::SaySilence : Then::KeepAlive;
}

Response ending_stream(std::vector<Step> steps, const FakeReply& reply, const Receipt& receipt,
                       const std::function<void(const Receipt&)>& on_end) {
  const Then then = after_stream(reply);
  if (then == Then::KeepAlive) {
    steps.back().bytes += "0\r\n\r\n";
  }
  return ending(std::move(steps), then, reply, receipt, on_end);
}

Response endless_stream(const FakeReply& reply, const Question& question, std::vector<Step> steps) {
  if (reply.fault == Fault::EndlessPings) {
    return and_then_forever(std::move(steps),
                            {kPingInterval, chunk(ping(question.wire, reply.delivery)), {}});
  }
  Answer endless;
  endless.text = std::string(kEndlessPiece, 'a');
  const auto events = answer_stream(question, endless, kEndlessPiece);
  const auto token = std::find_if(events.begin(), events.end(), [](const StreamEvent& event) {
    return event.part == Part::Token;
  });
  return and_then_forever(std::move(steps), {{}, chunk(frame(*token, reply.delivery)), {}});
}

/// The head and one chunk for each step.
std::vector<Step> chunked(const FakeReply& reply, std::vector<Step> steps) {
  for (Step& step : steps) {
    step.bytes = chunk(step.bytes);
    if (reply.delivery.stamp) {
      step.before_write = stamp;
    }
  }
  steps.insert(steps.begin(),
               Step{reply.delivery.first_byte, head(reply, "text/event-stream", {}), {}});
  return steps;
}

Response deliver_stream(const FakeReply& reply, const Question& question,
                        const std::function<void(const Receipt&)>& on_end) {
  auto events = events_before(reply.fault,
                              answer_stream(question, *reply.answer, reply.delivery.piece_bytes));
  Receipt receipt;
  if (reply.fault != Fault::ShortLength) {
    receipt = {reply.fault == Fault::None, last_stated(events)};
  }
  if (reply.fault == Fault::ErrorMidStream) {
    events.push_back(error_event(question.wire, kMidStreamError));
  }
  std::vector<Step> steps = event_steps(reply, question, events);
  if (reply.fault == Fault::ShortLength) {
    return short_stream(reply, steps, on_end);
  }
  steps = chunked(reply, std::move(steps));
  if (reply.fault == Fault::EndlessPings || reply.fault == Fault::EndlessText) {
    return endless_stream(reply, question, std::move(steps));
  }
  return ending_stream(std::move(steps), reply, receipt, on_end);
}

} // namespace

Response deliver(const FakeReply& reply, const Question& question,
                 std::function<void(const Receipt&)> on_end) {
  if (reply.fault == Fault::NeverAnswer) {
    return in_order({}, Then::SaySilence);
  }
  if (reply.fault == Fault::CloseAtOnce) {
    return in_order({}, Then::Close);
  }
  const bool streamed = reply.answer && question.stream && reply.status == 200;
  return streamed ? deliver_stream(reply, question, on_end) : deliver_body(reply, question, on_end);
}

} // namespace winnow::tests
