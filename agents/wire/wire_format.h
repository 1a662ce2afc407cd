#pragma once

#include "agents/model/model_endpoint.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// An endpoint's error message, as far as Winnow understands it.
struct ProviderError {
  std::string message; ///< cleaned, on one line, at most 300 bytes
  long status = 0;     ///< a status inside the body; some gateways send one with HTTP 200
  std::string param;   ///< the member of the request that the error blames, in its own words
  bool out_of_money = false;
  bool daily_limit = false; ///< a wait of some minutes does not help
  /// The delay that the body asks for (Gemini).
  std::optional<std::chrono::milliseconds> retry_after;
};

/// A decoded answer: either a reply, an error, or neither (then `malformed` describes the answer).
struct WireAnswer {
  /// Status Ok; text may be empty; `dollars` only if the endpoint reported it.
  std::optional<ModelReply> reply;
  /// The endpoint counted all tokens: of the reply, or of the part of a stream that arrived.
  bool usage_known = false;
  std::optional<ProviderError> error;
  std::string malformed;
  bool cut_off = false; ///< `malformed` because the answer ended early: another attempt may succeed
  /// The tokens that the endpoint counted for a stream that broke off without a reply.
  Usage lost_usage;
  /// Bytes of text and reasoning that arrived, for an estimate. Of an answer that is no stream: all
  /// its bytes.
  std::int64_t received_bytes = 0;
};

/// Decodes one streamed answer from the bytes of its body, which are cut at any place.
class StreamDecoder {
public:
  virtual ~StreamDecoder() = default;
  virtual void feed(std::string_view bytes) = 0;
  virtual bool has_content() const = 0; ///< a token came (reasoning counts), not only a ping
  /// Called after the body has ended. A stream without its proper end is `malformed`, an error
  /// event within the stream is `error`, and a body that is not a stream is decoded by decode().
  virtual WireAnswer finish() = 0;
};

struct WireOptions {
  bool stream = true;
  bool openai_itself = false; ///< api.openai.com; compatible servers lack its newer names
  std::string members;        ///< a JSON object of changes to members (members.h); may be empty
  std::string learned;        ///< the same, from answers of the endpoint
  std::string extra_body;     ///< a JSON object that is merged over the request last; may be empty
};

/// The token counts of an answer.
struct Counts {
  Usage usage;
  bool known = false; ///< the prompt and the completion were counted: numbers, not null
};

/// The form of one provider's requests and answers. Stateless: all threads share one object.
class WireFormat {
public:
  virtual ~WireFormat() = default;
  virtual std::string_view name() const = 0; ///< "chat", "responses", "anthropic", "gemini"
  virtual std::string_view default_base_url() const = 0;
  /// The URL of a request. A base URL that already ends in the format's path stays unchanged.
  virtual std::string url(const std::string& base_url, const std::string& model,
                          bool stream) const = 0;
  /// Lines "Name: value". An empty key gives no header for the key.
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  /// The body, valid UTF-8. Throws Error if extra_body, members or the schema is not a JSON object.
  virtual nlohmann::json encode(const ModelRequest& request, const WireOptions& options) const = 0;
  virtual std::unique_ptr<StreamDecoder> stream_decoder() const = 0;
  virtual Counts counts_of(const nlohmann::json& answer) const = 0;
  WireAnswer decode(std::string_view body) const;
  /// Like decode(), for JSON that is part of a larger document. Never throws.
  WireAnswer decode_json(const nlohmann::json& body) const;

  /// The request as one line of the provider's batch input file, without a newline. Anthropic
  /// accepts ids of 1 to 64 letters, digits, '_' and '-'; OpenAI and Gemini accept any id.
  std::string batch_line(const std::string& custom_id, const ModelRequest& request,
                         const std::string& extra_body = {}, const std::string& members = {}) const;

protected:
  /// Decodes an answer that is not an error. The caller fills in `lost_usage`.
  virtual WireAnswer decode_object(const nlohmann::json& body) const = 0;
  virtual WireAnswer decode_array(const nlohmann::json& body) const;
  /// `body`: that of a request to the provider itself, which does not stream unless its extra_body,
  /// which other requests may use, too, says so.
  virtual nlohmann::json batch_item(const std::string& custom_id, nlohmann::json body) const = 0;
};

/// A line of any provider's batch output file, or a line {"custom_id": "...", "reply": "..."} that
/// a person or another program wrote.
struct BatchAnswer {
  std::string custom_id;
  WireAnswer answer;
};

const std::vector<std::string>& wire_format_names();
/// Decodes the body of an answer with an HTTP status of 300 or more. Never throws.
ProviderError decode_error_body(std::string_view body);
/// nullptr for an unknown name.
const WireFormat* find_wire_format(std::string_view name);
/// Throws Error with the expected form if no format writes such a line. A request that failed, was
/// cancelled or expired becomes the answer's `error`.
BatchAnswer decode_batch_line(std::string_view line);

} // namespace winnow::agents
