#pragma once

#include "agents/model/model_request.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::agents {

/// What a reply of a role may name.
struct RoleFacts {
  std::vector<std::string> metrics; ///< judge: names of the facts in the kernel's record
  std::size_t lines = 0;            ///< verify: number of lines of the kernel file
  std::size_t bins = 0;             ///< forecast: number of bins
};

/// A reply of a role: what it says, or why it is of no use.
struct RoleReply {
  /// JSON that follows role_reply_schema(), without further members and with texts cut to their
  /// longest length; empty: the reply is of no use.
  std::string advice;
  std::string problem; ///< empty if there is advice
};

constexpr std::size_t kMaxRoleReplyBytes = 256U << 10U;
constexpr std::size_t kMaxRoleTextBytes = 1000; ///< of one text of an advice
constexpr std::size_t kMaxGuideBytes = 3000;    ///< of the meta-prompter's words

/// The schema of the replies of one of role_operator_names(). Throws Error for another operator.
ReplySchema role_reply_schema(std::string_view op);

/// Takes the last JSON object of the answer (reply/read_reply.h). A name of a metric that the
/// record lacks, a line that the file lacks, a rejection without a finding, and chances that are no
/// distribution over the bins make the reply useless. Chances whose sum is nearly 1 are divided by
/// the sum. Throws Error for an operator of no role, and nothing else.
RoleReply parse_role_reply(std::string_view op, std::string_view reply, const RoleFacts& facts);

/// The judge's advice as a prompt shows it.
std::string advice_in_words(std::string_view advice);

} // namespace winnow::agents
