#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/http_server.h"
#include "tests/fake_endpoint/question.h"

#include <functional>

namespace winnow::tests {

/// What the client knows about the tokens that it used when the answer ends.
struct Receipt {
  bool whole = false; ///< the answer is complete
  Usage usage; ///< the last usage that the answer contained; zeros if a stream broke off before it
};

/// The bytes of a reply. `on_end` is called just before the last bytes are written, if `reply` is
/// an answer and the server sends at least a part of its body.
Response deliver(const FakeReply& reply, const Question& question,
                 std::function<void(const Receipt&)> on_end);

} // namespace winnow::tests
