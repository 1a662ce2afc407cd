#pragma once

#include "agents/wire/provider_error.h"
#include "agents/wire/sse.h"
#include "agents/wire/wire_format.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace winnow::agents {

/// What all formats have in common; each says how its own JSON looks.
class FormatBase : public WireFormat {
public:
  WireAnswer decode(std::string_view body) const final;
  ProviderError decode_error(std::string_view body) const final { return decode_error_body(body); }
  /// The same for JSON that was part of something larger. Never throws.
  WireAnswer decode_json(const nlohmann::json& body) const;
  /// What an answer says was counted; zeros where it says nothing.
  virtual Usage usage_of(const nlohmann::json& answer) const = 0;

protected:
  /// An answer that is no error. `lost_usage` is filled in by the caller.
  virtual WireAnswer decode_object(const nlohmann::json& body) const = 0;
  virtual WireAnswer decode_array(const nlohmann::json& body) const;
};

const FormatBase& chat_format();
const FormatBase& responses_format();
const FormatBase& anthropic_format();
const FormatBase& gemini_format();

/// Counts that contradict each other would make a call cost less than nothing.
Usage consistent(Usage usage);

WireAnswer malformed_answer(std::string what);
WireAnswer failed_answer(ProviderError error);
WireAnswer broken_off(const std::string& text); ///< a stream that ended too early

/// Takes the events of a stream one by one and keeps what all formats keep of them.
class EventStreamDecoder : public StreamDecoder {
public:
  explicit EventStreamDecoder(const FormatBase& format) : format_(format) {
    reply_.status = ModelReply::Status::Ok;
  }
  void feed(std::string_view bytes) final;
  bool has_content() const final { return has_content_; }
  WireAnswer finish() final;

protected:
  /// One event that is a JSON object and carries no error.
  virtual void take(const std::string& event, const nlohmann::json& data) = 0;
  void add_text(std::string_view text);
  void fail(const nlohmann::json& error);

  const FormatBase& format_;
  ModelReply reply_; ///< as far as it has come
  bool usage_known_ = false;
  bool has_content_ = false;
  bool complete_ = false; ///< the answer is whole, whatever may still come

private:
  enum class Body : std::uint8_t { Unknown, Stream, Plain };

  void tell_body();
  void parse(std::string_view bytes);
  void take_event(const SseEvent& event);
  WireAnswer malformed_stream() const;

  Body body_ = Body::Unknown;
  std::string plain_; ///< the body if it is no stream, its start otherwise
  SseParser parser_;
  bool any_event_ = false;
  bool over_ = false;  ///< later events do not count
  bool ended_ = false; ///< "[DONE]" came
  bool body_ended_ = false;
  std::optional<ProviderError> error_;
  std::string malformed_;
};

} // namespace winnow::agents
