#include "harness/client/server_tuning.h"

#include "base/error.h"
#include "harness/serve/judge_record.h"
#include "harness/serve/judge_request.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTunePoll{20};

/// Waits for the answer.
json result_of(JudgeServer& server, const std::string& job, const std::stop_token& stop) {
  for (;;) {
    json result =
        server.get(fmt::format("/v1/jobs/{}?wait_s={}", job, kTunePoll.count()), kTunePoll, stop);
    if (result.value("state", "") == "done") {
      return result;
    }
  }
}

} // namespace

TunedFamily tuned_at_server(const ServerOptions& options, const std::string& task,
                            const std::string& text, std::size_t most,
                            const std::stop_token& stop) {
  JudgeServer server(options);
  const json accepted = server.post("/v1/judge",
                                    {{"items", {{{"task", task}, {"kernel", text}}}},
                                     {"max_variants", std::min<std::size_t>(most, kMostVariants)}},
                                    kTunePoll, stop);
  const std::string job = accepted.at("jobs").at(0).at("job").get<std::string>();
  try {
    const json result = result_of(server, job, stop);
    if (!result.contains("verdict")) {
      throw Error("the server could not judge the kernel: " + result.value("detail", ""));
    }
  } catch (const Error&) {
    if (stop.stop_requested()) {
      server.remove("/v1/jobs/" + job);
    }
    throw;
  }
  auto record = read_record(server.text("/v1/jobs/" + job + "/record"));
  if (!record.tuning) {
    throw Error("the server does not tell which choices it has tried");
  }
  return *std::move(record.tuning);
}

} // namespace winnow::harness
