#pragma once

#include "agents/model_endpoint.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace winnow::agents {

/// What an endpoint's error message says, as far as it can be understood.
struct ProviderError {
  std::string message; ///< cleaned, one line, at most 300 bytes
  long status = 0;     ///< a status inside the body, which some gateways send with HTTP 200
  bool out_of_money = false;
  bool daily_limit = false;                             ///< waiting minutes does not help
  std::optional<std::chrono::milliseconds> retry_after; ///< asked for in the body (Gemini)
};

/// A decoded answer: a reply, an error sent in its place, or neither (`malformed` says what came).
struct WireAnswer {
  std::optional<ModelReply> reply; ///< status Ok; text may be empty; `dollars` only if reported
  bool usage_known = false;
  std::optional<ProviderError> error;
  std::string malformed;
  bool cut_off = false; ///< `malformed` because the answer ended early: another attempt may do
  /// What the endpoint counted even though no reply came of it: a stream that broke off.
  Usage lost_usage;
};

/// Decodes one streamed answer from the bytes of its body, in pieces cut anywhere.
class StreamDecoder {
public:
  virtual ~StreamDecoder() = default;
  virtual void feed(std::string_view bytes) = 0;
  virtual bool has_content() const = 0; ///< a token came (reasoning counts), not just a ping
  /// Once the body has ended. A stream without its proper end is `malformed`, a mid-stream error
  /// event is `error`, a body that is no stream at all is decoded as decode() would.
  virtual WireAnswer finish() = 0;
};

struct WireOptions {
  bool stream = true;
  bool openai_itself = false; ///< api.openai.com, whose newer names compatible servers lack
  std::string extra_body;     ///< a JSON object merged over the request last; may be empty
};

/// How one provider's requests and answers look. Stateless: one object serves all threads.
class WireFormat {
public:
  virtual ~WireFormat() = default;
  virtual std::string_view name() const = 0; ///< "chat", "responses", "anthropic", "gemini"
  virtual std::string_view default_base_url() const = 0;
  /// Where a request goes. A base that ends in the format's own path is taken as it is.
  virtual std::string url(const std::string& base_url, const std::string& model,
                          bool stream) const = 0;
  /// "Name: value"; the one with the key is absent for an empty key.
  virtual std::vector<std::string> headers(const std::string& key) const = 0;
  /// The body, valid UTF-8. Throws Error for an extra_body or schema that is no JSON object.
  virtual nlohmann::json encode(const ModelRequest& request, const WireOptions& options) const = 0;
  virtual WireAnswer decode(std::string_view body) const = 0;
  virtual std::unique_ptr<StreamDecoder> stream_decoder() const = 0;
  virtual ProviderError decode_error(std::string_view body) const = 0;

  /// The request as a line of the provider's batch input file, without a newline. Anthropic takes
  /// ids of 1 to 64 letters, digits, '_' and '-'; OpenAI and Gemini any.
  virtual std::string batch_line(const std::string& custom_id, const ModelRequest& request,
                                 const std::string& extra_body = {}) const = 0;
};

/// A line of a provider's batch output file, whatever the provider, or of one that a person or
/// another program wrote: {"custom_id": "...", "reply": "..."}.
struct BatchAnswer {
  std::string custom_id;
  WireAnswer answer;
};

const std::vector<std::string>& wire_format_names();
/// nullptr for an unknown name.
const WireFormat* find_wire_format(std::string_view name);
/// Throws Error saying what was expected for a line that no format writes. A request that failed,
/// was cancelled or expired is the answer's `error`.
BatchAnswer decode_batch_line(std::string_view line);

} // namespace winnow::agents
