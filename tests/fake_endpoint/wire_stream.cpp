#include "tests/fake_endpoint/wire_json.h"
#include "tests/fake_endpoint/wire_render.h"

#include <algorithm>

namespace winnow::tests {

using nlohmann::json;

namespace {

using Part = StreamEvent::Part;

/// The events of a stream so far. Formats with named events repeat the name as the data's "type".
class Events {
public:
  void add(Part part, const json& data, std::optional<Usage> states = std::nullopt) {
    list_.push_back({part, {}, write_json(data), states});
  }
  void add(Part part, const std::string& name, json data,
           std::optional<Usage> states = std::nullopt) {
    data["type"] = name;
    list_.push_back({part, name, write_json(data), states});
  }
  void add_text(Part part, const std::string& line) { list_.push_back({part, {}, line, {}}); }
  std::vector<StreamEvent> take() { return std::move(list_); }
  std::size_t size() const { return list_.size(); }

private:
  std::vector<StreamEvent> list_;
};

json chat_chunk(const Answer& answer, const json& delta, const json& finish_reason) {
  return {{"id", "chatcmpl-1"},
          {"object", "chat.completion.chunk"},
          {"created", 1},
          {"model", answer.model},
          {"choices", {{{"index", 0}, {"delta", delta}, {"finish_reason", finish_reason}}}}};
}

void chat_stream(const Question& question, const Answer& answer, std::size_t piece_bytes,
                 Events& events) {
  events.add(Part::Opening, chat_chunk(answer, {{"role", "assistant"}, {"content", ""}}, nullptr));
  for (const std::string& piece : pieces_of(answer.reasoning, piece_bytes)) {
    events.add(Part::Token, chat_chunk(answer, {{"reasoning_content", piece}}, nullptr));
  }
  const char* member = answer.finish == "refusal" ? "refusal" : "content";
  for (const std::string& piece : pieces_of(answer.text, piece_bytes)) {
    events.add(Part::Token, chat_chunk(answer, {{member, piece}}, nullptr));
  }
  events.add(Part::Closing,
             chat_chunk(answer, json::object(), finish_word(Wire::Chat, answer.finish)));
  if (question.wants_usage) {
    json last = chat_chunk(answer, json::object(), nullptr);
    last["choices"] = json::array();
    last["usage"] = usage_json(Wire::Chat, answer, answer.usage);
    events.add(Part::Closing, last, answer.usage);
  }
  events.add_text(Part::Closing, "[DONE]");
}

void responses_message(const Answer& answer, std::size_t piece_bytes, int output_index,
                       Events& events) {
  const bool refused = answer.finish == "refusal";
  const std::string kind = refused ? "refusal" : "output_text";
  const json place{{"item_id", "msg_1"}, {"output_index", output_index}, {"content_index", 0}};
  const auto placed = [&](const json& more) {
    json out = place;
    out.update(more);
    return out;
  };
  events.add(Part::Opening, "response.output_item.added",
             {{"output_index", output_index},
              {"item", {{"type", "message"}, {"id", "msg_1"}, {"content", json::array()}}}});
  events.add(Part::Opening, "response.content_part.added",
             placed({{"part", {{"type", kind}, {refused ? "refusal" : "text", ""}}}}));
  for (const std::string& piece : pieces_of(answer.text, piece_bytes)) {
    events.add(Part::Token, "response." + kind + ".delta", placed({{"delta", piece}}));
  }
  const char* member = refused ? "refusal" : "text";
  events.add(Part::Closing, "response." + kind + ".done", placed({{member, answer.text}}));
  events.add(Part::Closing, "response.content_part.done",
             placed({{"part", {{"type", kind}, {member, answer.text}}}}));
  events.add(Part::Closing, "response.output_item.done",
             {{"output_index", output_index},
              {"item", response_object(answer, "completed")["output"].back()}});
}

void responses_stream(const Answer& answer, std::size_t piece_bytes, Events& events) {
  const json open{{"response", response_object(answer, "in_progress")}};
  events.add(Part::Opening, "response.created", open);
  events.add(Part::Opening, "response.in_progress", open);
  if (!answer.reasoning.empty()) {
    events.add(Part::Opening, "response.output_item.added",
               {{"output_index", 0}, {"item", {{"type", "reasoning"}, {"id", "rs_1"}}}});
    for (const std::string& piece : pieces_of(answer.reasoning, piece_bytes)) {
      events.add(Part::Token, "response.reasoning_summary_text.delta",
                 {{"item_id", "rs_1"}, {"summary_index", 0}, {"delta", piece}});
    }
  }
  if (!answer.text.empty()) {
    responses_message(answer, piece_bytes, answer.reasoning.empty() ? 0 : 1, events);
  }
  const std::string status = response_status(answer.finish);
  events.add(Part::Closing, "response." + status, {{"response", response_object(answer, status)}},
             answer.usage);
}

void anthropic_block(const json& block, const char* delta_type, const char* member, int index,
                     const std::vector<std::string>& pieces, Events& events) {
  events.add(Part::Opening, "content_block_start", {{"index", index}, {"content_block", block}});
  for (const std::string& piece : pieces) {
    events.add(Part::Token, "content_block_delta",
               {{"index", index}, {"delta", {{"type", delta_type}, {member, piece}}}});
  }
  events.add(Part::Closing, "content_block_stop", {{"index", index}});
}

void anthropic_stream(const Answer& answer, std::size_t piece_bytes, Events& events) {
  Usage first = answer.usage;
  first.completion_tokens = 1;
  first.reasoning_tokens = 0;
  events.add(Part::Opening, "message_start", {{"message", anthropic_message(answer, first)}},
             first);
  int index = 0;
  if (!answer.reasoning.empty()) {
    anthropic_block({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, "thinking_delta",
                    "thinking", index++, pieces_of(answer.reasoning, piece_bytes), events);
  }
  if (!answer.text.empty()) {
    anthropic_block({{"type", "text"}, {"text", ""}}, "text_delta", "text", index,
                    pieces_of(answer.text, piece_bytes), events);
  }
  events.add(
      Part::Closing, "message_delta",
      {{"delta",
        {{"stop_reason", finish_word(Wire::Anthropic, answer.finish)}, {"stop_sequence", nullptr}}},
       {"usage", usage_json(Wire::Anthropic, answer, answer.usage)}},
      answer.usage);
  events.add(Part::Closing, "message_stop", json::object());
}

// Each chunk contains the usage so far. The tokens are distributed evenly.
void gemini_stream(const Question& question, const Answer& answer, std::size_t piece_bytes,
                   Events& events) {
  std::vector<json> parts;
  for (const std::string& piece : pieces_of(answer.reasoning, piece_bytes)) {
    parts.push_back({{"text", piece}, {"thought", true}});
  }
  for (const std::string& piece : pieces_of(answer.text, piece_bytes)) {
    parts.push_back({{"text", piece}});
  }
  const auto total = static_cast<std::int64_t>(parts.size()) + 1;
  for (const json& part : parts) {
    const auto done = static_cast<std::int64_t>(events.size()) + 1;
    Usage so_far = answer.usage;
    so_far.completion_tokens = so_far.completion_tokens * done / total;
    so_far.reasoning_tokens = so_far.reasoning_tokens * done / total;
    events.add(Part::Token, gemini_chunk(answer, json::array({part}), so_far), so_far);
  }
  Answer last = answer;
  last.text.clear();
  last.reasoning.clear();
  events.add(Part::Closing, json::parse(answer_body(question, last)), answer.usage);
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

} // namespace

std::vector<std::string> pieces_of(const std::string& text, std::size_t piece_bytes) {
  const std::size_t step = std::max<std::size_t>(piece_bytes, 1);
  const bool marked = text.ends_with(kClockMark);
  const std::size_t size = text.size() - (marked ? kClockMark.size() : 0);
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = std::min(begin + step, size);
    while (end < size && continues_character(text[end])) {
      ++end;
    }
    pieces.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  if (marked) {
    pieces.emplace_back(kClockMark);
  }
  return pieces;
}

std::vector<StreamEvent> answer_stream(const Question& question, const Answer& answer,
                                       std::size_t piece_bytes) {
  Events events;
  switch (question.wire) {
  case Wire::Chat:
    chat_stream(question, answer, piece_bytes, events);
    break;
  case Wire::Responses:
    responses_stream(answer, piece_bytes, events);
    break;
  case Wire::Anthropic:
    anthropic_stream(answer, piece_bytes, events);
    break;
  case Wire::Gemini:
    gemini_stream(question, answer, piece_bytes, events);
    break;
  }
  return events.take();
}

} // namespace winnow::tests
