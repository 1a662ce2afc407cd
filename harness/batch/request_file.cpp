#include "harness/batch/request_file.h"

#include "base/digest.h"

#include <algorithm>
#include <cctype>

namespace winnow::harness {
namespace {

constexpr std::size_t kMostRequestIdBytes = 64; // Anthropic's limit, the lowest of all providers
constexpr std::size_t kDigestDigits = 16;

} // namespace

std::string custom_id(std::string_view key) {
  std::string id;
  bool fits = key.size() <= kMostRequestIdBytes;
  for (const char c : key) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    fits = fits && (allowed || c == '/');
    id += allowed ? c : '-';
  }
  if (!fits) {
    id.resize(std::min(id.size(), kMostRequestIdBytes - kDigestDigits - 1));
    id += "-" + sha256_hex(key).substr(0, kDigestDigits);
  }
  return id;
}

std::string request_file(const agents::WireFormat& format,
                         const std::vector<agents::ModelRequest>& requests,
                         const std::string& extra_body, const std::string& members) {
  std::string lines;
  for (const agents::ModelRequest& request : requests) {
    lines += format.batch_line(custom_id(request.key), request, extra_body, members) + "\n";
  }
  return lines;
}

void DeferringEndpoint::start(agents::ModelRequest request,
                              std::function<void(agents::ModelReply)> done) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  agents::ModelReply reply;
  reply.status = agents::ModelReply::Status::Deferred;
  done(std::move(reply));
}

std::vector<agents::ModelRequest> DeferringEndpoint::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

} // namespace winnow::harness
