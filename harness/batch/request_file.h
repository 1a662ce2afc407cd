#pragma once

#include "agents/model/model_endpoint.h"
#include "agents/model/model_request.h"
#include "agents/wire/wire_format.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::harness {

/// A call's key in a form that providers accept: at most 64 of [a-zA-Z0-9_-]. "row_softmax/0/3"
/// becomes "row_softmax-0-3". A key that does not fit is shortened and ends in a digest of the key.
std::string custom_id(std::string_view key);

/// The requests in the provider's batch form, one line of JSON each. `extra_body` is empty or a
/// JSON object that is merged over each request. Throws Error for anything else.
std::string request_file(const agents::WireFormat& format,
                         const std::vector<agents::ModelRequest>& requests,
                         const std::string& extra_body, const std::string& members = {});

/// Answers no request. Keeps every request for a request file and replies Deferred. `done` runs
/// before start() returns.
class DeferringEndpoint final : public agents::ModelEndpoint {
public:
  std::string_view kind() const override { return "batch"; }
  void start(agents::ModelRequest request, std::function<void(agents::ModelReply)> done) override;
  void cancel_all() override {} // no request is ever in flight

  std::vector<agents::ModelRequest> requests() const; ///< in the order in which they were asked

private:
  mutable std::mutex mutex_;
  std::vector<agents::ModelRequest> requests_;
};

} // namespace winnow::harness
