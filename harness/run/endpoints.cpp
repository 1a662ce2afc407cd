#include "harness/run/endpoints.h"

#include "agents/endpoints/endpoint_setup.h"
#include "agents/endpoints/providers.h"
#include "agents/http/url.h"
#include "agents/money/prices.h"
#include "agents/record/replay_endpoint.h"
#include "agents/wire/wire_format.h"
#include "base/availability.h"
#include "base/error.h"
#include "base/text.h"
#include "harness/run/state/journal.h"

#include <algorithm>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

namespace winnow::harness {
namespace {

/// A kernel of 25 KB and as much reasoning. With less, replies are cut off before they end.
constexpr std::int64_t kLeastOutputTokens = 16'000;

/// Every SQLite file begins with these bytes.
constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

bool is_store(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kSqliteMagic.size(), '\0');
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kSqliteMagic;
}

bool replays_store(const agents::EndpointConfig& config) {
  return config.kind == "replay" && is_store(config.file);
}

store::RunRow run_to_replay(const store::RunStore& store, const agents::EndpointConfig& config) {
  const std::vector<store::RunRow> runs = store.runs();
  if (runs.empty()) {
    throw UsageError(fmt::format("the store {} has no run to replay", config.file),
                     "name another store or a recording in [endpoint] file");
  }
  if (config.run.empty()) {
    return runs.back();
  }
  if (const auto run = store.find_run(config.run)) {
    return *run;
  }
  std::vector<std::string> names;
  for (const store::RunRow& run : runs) {
    names.push_back(run.name);
  }
  throw UsageError(fmt::format("[endpoint] run: no run '{}' in the store {}{}", config.run,
                               config.file, suggestion(config.run, names)));
}

std::vector<agents::RecordedCall> stored_calls(const agents::EndpointConfig& config) {
  const store::RunStore store(config.file, store::RunStore::Mode::ReadOnly);
  std::vector<agents::RecordedCall> calls;
  for (const store::ModelCallRow& row : store.finished_calls(run_to_replay(store, config).id)) {
    calls.push_back({row.key, reply_from_row(row), row.request});
  }
  return calls;
}

} // namespace

std::unique_ptr<agents::ModelEndpoint> make_run_endpoint(const agents::EndpointConfig& config,
                                                         const agents::EndpointSetup& setup) {
  if (!replays_store(config)) {
    auto endpoint = agents::make_endpoint(config, setup);
    if (const std::string warning = agents::endpoint_warning(config); !warning.empty()) {
      std::cerr << "warning: " << warning << '\n';
    }
    return endpoint;
  }
  return std::make_unique<agents::ReplayEndpoint>(stored_calls(config), config.parallel,
                                                  config.replay_latency_scale);
}

std::vector<agents::RecordedCall> recorded_calls(const agents::EndpointConfig& config) {
  return replays_store(config) ? stored_calls(config) : agents::read_recording(config.file);
}

Availability probe_run_endpoint(const agents::EndpointConfig& config) {
  if (!replays_store(config)) {
    return agents::probe_endpoint(config);
  }
  try {
    const store::RunStore store(config.file, store::RunStore::Mode::ReadOnly);
    return Availability::yes(fmt::format("recorded replies of run '{}' in {}",
                                         run_to_replay(store, config).name, config.file));
  } catch (const Error& failure) {
    return Availability::no(failure.what(), failure.remedy());
  }
}

std::optional<agents::Price> run_price(const agents::EndpointConfig& given) {
  agents::EndpointConfig config = given;
  agents::resolve_provider(config);
  const agents::WireFormat* format = agents::find_wire_format(config.kind);
  if (format == nullptr) {
    return std::nullopt; // the endpoint is a replay
  }
  const auto url = agents::parse_url(
      config.base_url.empty() ? std::string(format->default_base_url()) : config.base_url);
  return url ? agents::endpoint_price(config, url->host, config.model) : std::nullopt;
}

std::int64_t output_limit(const Limits& limits, const agents::EndpointConfig& endpoint,
                          const std::optional<agents::Price>& price) {
  if (endpoint.max_output_tokens > 0 || !price || price->max_output_tokens == 0) {
    return endpoint.max_output_tokens;
  }
  const std::int64_t in_flight = 2 * static_cast<std::int64_t>(std::max(endpoint.parallel, 1));
  std::int64_t limit = price->max_output_tokens;
  if (limits.tokens > 0) {
    limit = std::min(limit, limits.tokens / in_flight);
  }
  if (limits.dollars > 0 && price->output > 0) {
    const double share = limits.dollars / static_cast<double>(in_flight);
    limit = std::min(limit, static_cast<std::int64_t>(share * 1e6 / price->output));
  }
  return std::max(limit, std::min(kLeastOutputTokens, price->max_output_tokens));
}

CallEstimate reservation(CallEstimate estimate, const agents::EndpointConfig& config) {
  if (config.kind == "agent") {
    estimate.dollars = std::max(estimate.dollars, config.dollars_per_session);
  }
  return estimate;
}

void check_dollar_limit(const Limits& limits, const agents::EndpointConfig& config,
                        const std::optional<agents::Price>& price, const std::string& of_model) {
  if (config.kind == "agent" && limits.dollars > 0) {
    if (config.dollars_per_session <= 0) {
      throw UsageError("Winnow cannot keep limits.dollars: a session of an agent has no limit" +
                           of_model,
                       "set endpoint.dollars_per_session");
    }
    return;
  }
  const bool bills = config.kind != "replay" || !config.provider.empty();
  if (limits.dollars > 0 && bills && !price) {
    throw UsageError(
        fmt::format("Winnow cannot keep limits.dollars: the price of '{}'{} is unknown",
                    config.model, of_model),
        "add the price to a file such as configs/prices.toml (endpoint.prices), or set "
        "endpoint.dollars_per_million_input and endpoint.dollars_per_million_output");
  }
}

} // namespace winnow::harness
