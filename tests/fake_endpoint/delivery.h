#pragma once

#include "tests/fake_endpoint/fake_reply.h"
#include "tests/fake_endpoint/http_server.h"
#include "tests/fake_endpoint/question.h"

#include <functional>

namespace winnow::tests {

/// What a client was told about its use of the model by the time that the answer ends.
struct Receipt {
  bool whole = false; ///< nothing of the answer is missing
  Usage usage;        ///< the last that was said: zeros when a stream broke off before
};

/// The reply as bytes. `on_end` is called as the last of them are about to be written, if `reply`
/// is an answer and some of its body leaves the server.
Response deliver(const FakeReply& reply, const Question& question,
                 std::function<void(const Receipt&)> on_end);

} // namespace winnow::tests
