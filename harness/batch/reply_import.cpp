#include "harness/batch/reply_import.h"

#include "agents/endpoints/endpoint_setup.h"
#include "agents/http/url.h"
#include "agents/money/prices.h"
#include "base/error.h"
#include "base/text.h"
#include "harness/batch/reply_line.h"
#include "harness/batch/request_file.h"
#include "harness/run/state/journal.h"

#include <fmt/format.h>

namespace winnow::harness {
namespace {

// A longer reply cannot contain a kernel of an accepted size.
constexpr std::size_t kMaxLineBytes = 32U << 20U;
// Limits the messages for a wrong file, in which every line may be a problem.
constexpr std::size_t kProblemsSaid = 100;

/// Of a reply without counts.
agents::EstimatedCost estimate(const agents::Price& price, const std::string& request,
                               const std::string& reply) {
  const auto tokens = [](const std::string& text) {
    return agents::tokens_in(static_cast<std::int64_t>(text.size()));
  };
  agents::Usage usage;
  usage.prompt_tokens = tokens(request);
  usage.completion_tokens = tokens(reply);
  return {1, usage.tokens(), agents::cost(price, usage)};
}

} // namespace

ReplyImport::ReplyImport(store::RunStore& store, store::RowId run, ReplyPrices prices,
                         std::string model, std::ostream& problems)
    : store_(store), run_(run), prices_(std::move(prices)), model_(std::move(model)),
      problems_(problems) {
  for (store::ModelCallRow& row : store.finished_calls(run)) {
    add({std::move(row), true, false});
  }
  for (store::ModelCallRow& row : store.pending_calls(run)) {
    add({std::move(row), false, false});
  }
}

void ReplyImport::add(Call call) {
  const std::string key = call.row.key;
  keys_[custom_id(key)] = key;
  keys_[key] = key;
  calls_[key] = std::move(call);
}

void ReplyImport::read(std::istream& in, const std::string& name) {
  LineReader lines(in, kMaxLineBytes);
  while (const auto line = lines.next()) {
    const std::string place = fmt::format("{}:{}", name, line->number);
    if (line->too_long) {
      ++counts_.malformed;
      problem(place, fmt::format("the line is longer than {} bytes", kMaxLineBytes));
    } else if (!trim(line->text).empty()) {
      take_line(line->text, place);
    }
  }
}

void ReplyImport::take_line(std::string_view line, const std::string& place) {
  agents::BatchAnswer answer;
  try {
    answer = decode_reply_line(line);
  } catch (const Error& error) {
    ++counts_.malformed;
    problem(place, error.what());
    return;
  }
  const auto key = keys_.find(answer.custom_id);
  if (key == keys_.end()) {
    ++counts_.unknown;
    problem(place, fmt::format("the run has no call '{}'", custom_id(answer.custom_id)));
    return;
  }
  take(answer.answer, calls_.at(key->second), place);
}

void ReplyImport::take(const agents::WireAnswer& answer, Call& call, const std::string& place) {
  if (call.answered) {
    ++counts_.answered_before;
  } else if (answer.reply) {
    store_reply(answer, call);
    ++counts_.stored;
  } else {
    call.failed = true;
    ++counts_.failed;
    book_failed(answer.lost_usage, call);
    problem(place, fmt::format("call {} failed: {}", call.row.key,
                               answer.error ? answer.error->message : answer.malformed));
  }
}

void ReplyImport::store_reply(const agents::WireAnswer& answer, Call& call) {
  agents::ModelReply reply = *answer.reply;
  agents::ModelRequest request;
  request.key = call.row.key;
  request.model = reply.model.empty() ? model_ : reply.model;
  if (!reply.dollars) {
    const auto price = prices_(request.model);
    if (answer.usage_known && price) {
      reply.price = price;
      reply.dollars = agents::cost(*price, reply.usage);
    } else if (price) { // the reply has cost something, and nobody has counted it
      reply.usage = {};
      reply.estimated = estimate(*price, call.row.request, reply.text);
    }
  }
  store_.credit_call(call.row.id, request.model);
  Journal(store_, run_).finish_call(call.row.id, request, reply);
  call.answered = true;
  call.failed = false;
}

/// What the provider counted for a request without a reply. A file may be read twice, so only the
/// first failure of a call counts.
void ReplyImport::book_failed(const agents::Usage& counted, Call& call) {
  agents::Usage& booked = call.row.usage;
  if (counted.tokens() == 0 || booked.tokens() > 0) {
    return;
  }
  const auto price = prices_(model_);
  store_.add_counted(call.row.id, counted,
                     price ? std::optional(agents::cost(*price, counted)) : std::nullopt);
  booked = counted;
}

void ReplyImport::problem(const std::string& place, const std::string& what) {
  ++problems_said_;
  if (problems_said_ <= kProblemsSaid) {
    problems_ << place << ": " << what << "; skipped\n";
  } else if (problems_said_ == kProblemsSaid + 1) {
    problems_ << "further skipped lines are only counted\n";
  }
}

std::set<std::string> ReplyImport::outstanding() const {
  std::set<std::string> keys;
  for (const auto& [key, call] : calls_) {
    if (!call.answered && !call.failed) {
      keys.insert(key);
    }
  }
  return keys;
}

namespace {

template <typename Rates> void scale(Rates& rates, double factor) {
  rates.input *= factor;
  rates.output *= factor;
  for (std::optional<double>* rate : {&rates.cached_input, &rates.cache_write}) {
    if (*rate) {
      **rate *= factor;
    }
  }
}

agents::Price scaled(agents::Price price, double factor) {
  scale(price, factor);
  for (agents::PriceTier& tier : price.tiers) {
    scale(tier, factor);
  }
  price.source += fmt::format(", times {:g}", factor);
  return price;
}

/// The host whose prices hold. The configured URL counts only if its server speaks this format.
std::string host(const agents::EndpointConfig& endpoint, const agents::WireFormat& format) {
  const bool own = agents::find_wire_format(endpoint.kind) == &format && !endpoint.base_url.empty();
  const auto url =
      agents::parse_url(own ? endpoint.base_url : std::string(format.default_base_url()));
  return url ? url->host : "";
}

} // namespace

ReplyPrices reply_prices(const agents::EndpointConfig& endpoint, const agents::WireFormat& format,
                         double factor) {
  return [endpoint, factor, host = host(endpoint, format)](const std::string& model) {
    auto price = agents::endpoint_price(endpoint, host, model);
    return price && factor != 1 ? scaled(*std::move(price), factor) : price;
  };
}

} // namespace winnow::harness
