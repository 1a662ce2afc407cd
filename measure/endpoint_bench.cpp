// Measures the cost of the client of model endpoints and checks that it loses nothing. The fake
// server runs in another process on the same machine.
//   endpoint_bench [--streams 256] [--calls 10000]
// Streaming: --streams streams at once, at several rates of events. The server writes the time of
// its last write into the last token. The latency is the time from then until the client hands over
// the reply.
// Faults: --calls calls in each format. The server answers 5 % of them with 429, 500, a closed
// connection or a stream that breaks off. The client's cost is compared with the cost that the
// server told it.
#include "agents/endpoints/endpoint_factory.h"
#include "agents/model/endpoint_config.h"
#include "agents/model/model_endpoint.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "measure/process_usage.h"
#include "tests/fake_endpoint/fake_endpoint.h"
#include "tests/fake_endpoint/question.h"
#include "tests/fake_endpoint/wire_render.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace winnow::tests;
using winnow::UniqueFd;
using winnow::agents::EndpointConfig;
using winnow::agents::ModelReply;
using winnow::agents::ModelRequest;
using Clock = std::chrono::steady_clock;

constexpr double kInputPrice = 2, kOutputPrice = 8; // dollars per million tokens
constexpr std::size_t kTokens = 100;                // per stream
constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kFaultEvery = 20;

/// The sum of everything that the server told its clients.
struct Account {
  long answers = 0; ///< complete answers
  double dollars = 0;
};

/// A fake endpoint in a child process. Start it before this process has threads.
class ServerProcess {
public:
  explicit ServerProcess(const FakeEndpoint::Script& script) {
    std::array<int, 2> orders{}, reports{};
    if (pipe(orders.data()) != 0 || pipe(reports.data()) != 0) {
      throw winnow::Error("pipe failed");
    }
    orders_.reset(orders[1]);
    reports_ = fdopen(reports[0], "r");
    child_ = fork();
    if (child_ == 0) {
      close(orders[1]);
      serve(script, orders[0], reports[1]);
      _exit(0);
    }
    close(orders[0]);
    close(reports[1]);
    if (std::fscanf(reports_, "%d", &port_) != 1) {
      throw winnow::Error("the server did not start");
    }
  }
  ~ServerProcess() {
    orders_.reset();
    std::fclose(reports_);
    waitpid(child_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete; // owns a process
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  Account end() { ///< call this once
    orders_.reset();
    Account account;
    if (std::fscanf(reports_, "%ld %lf", &account.answers, &account.dollars) != 2) {
      throw winnow::Error("the server did not report");
    }
    return account;
  }

private:
  static void serve(const FakeEndpoint::Script& script, int orders, int reports) {
    FakeEndpointOptions options;
    options.price = {kInputPrice, kInputPrice, kOutputPrice};
    options.keep_requests = false;
    const FakeEndpoint endpoint(script, options);
    dprintf(reports, "%d\n", endpoint.port());
    char ignored = 0;
    while (read(orders, &ignored, 1) > 0) {
    }
    Account account;
    for (const AnsweredCall& call : endpoint.answered()) {
      account.answers += call.whole ? 1 : 0;
      account.dollars += call.dollars;
    }
    dprintf(reports, "%ld %.17g\n", account.answers, account.dollars);
  }

  UniqueFd orders_;
  std::FILE* reports_ = nullptr;
  pid_t child_ = -1;
  int port_ = 0;
};

EndpointConfig config_for(const std::string& kind, int port, int parallel) {
  EndpointConfig config;
  config.kind = kind;
  const bool versioned = kind == "chat" || kind == "responses";
  config.base_url = fmt::format("http://127.0.0.1:{}{}", port, versioned ? "/v1" : "");
  config.model = "m";
  config.stream = true;
  config.parallel = parallel;
  config.retry_base_seconds = 0.001;
  config.max_attempts = 10;
  config.dollars_per_million_input = kInputPrice;
  config.dollars_per_million_output = kOutputPrice;
  return config;
}

ModelRequest request_for(const std::string& key) {
  ModelRequest request;
  request.key = key;
  request.messages = {{"user", key}};
  request.max_output_tokens = 1000;
  return request;
}

double percentile(std::vector<double> values, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// --- streaming --------------------------------------------------------------------------------

/// Streams that begin at different times.
FakeEndpoint::Script streaming_script(std::chrono::milliseconds between) {
  return [between](const SeenRequest&, std::size_t number) {
    FakeReply reply = chat_reply(std::string(kTokens * kTokenBytes, 'x') + std::string(kClockMark));
    reply.delivery.piece_bytes = kTokenBytes;
    reply.delivery.first_token = std::chrono::milliseconds(50 + number * 37 % 500);
    reply.delivery.between = between;
    reply.delivery.stamp = true;
    return reply;
  };
}

/// Milliseconds since the time at the end of the reply's text.
double latency_ms(const std::string& text) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long long written = std::atoll(text.substr(text.size() - kClockMark.size()).c_str());
  return 1e-6 * static_cast<double>(now.tv_sec * 1'000'000'000LL + now.tv_nsec - written);
}

void measure_streaming(int streams, std::chrono::milliseconds between) {
  ServerProcess server(streaming_script(between));
  const auto endpoint = winnow::agents::make_endpoint(config_for("chat", server.port(), streams));
  const int calls = 4 * streams; // 4 calls for each stream, one after the other
  std::vector<double> latencies;
  std::mutex mutex;
  std::latch done(calls);
  std::atomic<int> failed{0};
  const double cpu = winnow::measure::own_cpu_seconds();
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    endpoint->start(request_for(std::to_string(i)), [&](const ModelReply& reply) {
      if (reply.status == ModelReply::Status::Ok) {
        const std::lock_guard lock(mutex);
        latencies.push_back(latency_ms(reply.text));
      } else if (failed++ == 0) {
        std::fprintf(stderr, "%s\n", reply.error.c_str());
      }
      done.count_down();
    });
  }
  done.wait();
  const double wall = seconds_since(start);
  const double share = 100 * (winnow::measure::own_cpu_seconds() - cpu) / wall;
  if (latencies.empty()) {
    throw winnow::Error("no stream was answered");
  }
  fmt::print("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.1f} % | {} |\n", streams,
             1000 / between.count(), static_cast<double>(calls) * kTokens / wall,
             percentile(latencies, 0.5), percentile(latencies, 0.99), share, failed.load());
  std::fflush(stdout);
}

// --- faults -----------------------------------------------------------------------------------

FakeReply fault_number(std::size_t number, FakeReply answer) {
  switch (number % 4) {
  case 0:
    return with_header(error_reply(429, "slow down", "rate_limit_error"), "retry-after-ms", "1");
  case 1:
    return error_reply(500, "internal error", "api_error");
  case 2:
    return with_fault(std::move(answer), Fault::CloseAtOnce);
  default:
    return with_fault(std::move(answer), Fault::CloseMidBody);
  }
}

FakeReply faulty_script(const SeenRequest& request, std::size_t number) {
  const std::string text = understand(request)->text;
  const int call = std::atoi(text.c_str());
  FakeReply reply = chat_reply("reply " + std::to_string(call));
  reply.answer->usage = {100 + call % 50, call % 30, 20 + call % 7, call % 5, 0};
  return number % kFaultEvery == kFaultEvery / 2 ? fault_number(number / kFaultEvery, reply)
                                                 : reply;
}

struct Tally {
  std::mutex mutex;
  int right = 0, attempts = 0;
  double dollars = 0;
  std::string first_error;

  void add(const ModelReply& reply, int call) {
    const std::lock_guard lock(mutex);
    attempts += reply.attempts;
    dollars += reply.dollars.value_or(std::nan(""));
    if (reply.status == ModelReply::Status::Ok && reply.text == fmt::format("reply {}", call)) {
      ++right;
    } else if (first_error.empty()) {
      first_error = fmt::format("call {}: {}{}", call, reply.error, reply.text);
    }
  }
};

bool measure_faults(const std::string& kind, int calls) {
  ServerProcess server(faulty_script);
  Tally tally;
  const double cpu = winnow::measure::own_cpu_seconds();
  const auto start = Clock::now();
  {
    const auto endpoint = winnow::agents::make_endpoint(config_for(kind, server.port(), 64));
    std::latch done(calls);
    for (int i = 0; i < calls; ++i) {
      endpoint->start(request_for(std::to_string(i)), [&, i](const ModelReply& reply) {
        tally.add(reply, i);
        done.count_down();
      });
    }
    done.wait();
  }
  const double wall = seconds_since(start);
  const double cpu_ms_per_call = 1000 * (winnow::measure::own_cpu_seconds() - cpu) / calls;
  const Account account = server.end();
  const bool same = std::abs(tally.dollars - account.dollars) <= 1e-9 * account.dollars;
  fmt::print("| {} | {} | {} | {} | {} | {:.6f} | {:.6f} | {:.1f} | {:.2f} |\n", kind, calls,
             tally.attempts, tally.right, account.answers, tally.dollars, account.dollars, wall,
             cpu_ms_per_call);
  std::fflush(stdout);
  if (!tally.first_error.empty()) {
    std::fprintf(stderr, "%s\n", tally.first_error.c_str());
  }
  return same && tally.right == calls && account.answers == calls;
}

int run(int streams, int calls) {
  fmt::print("| streams | events/s each | events/s | median ms | p99 ms | client, of one core | "
             "failed |\n|---|---|---|---|---|---|---|\n");
  for (const int between_ms : {100, 40, 20}) {
    measure_streaming(streams, std::chrono::milliseconds(between_ms));
  }
  fmt::print(
      "\n| format | calls | requests | right replies | whole answers sent | client's dollars "
      "| server's dollars | s | client CPU ms a call |\n|---|---|---|---|---|---|---|---|---|\n");
  bool good = true;
  for (const char* kind : {"chat", "responses", "anthropic", "gemini"}) {
    good = measure_faults(kind, calls) && good;
  }
  fmt::print("\n{}\n", good ? "nothing lost, nothing paid twice, costs are equal"
                            : "LOST REPLIES OR DIFFERENT COSTS");
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app("Measure the client of model endpoints against a fake server.");
  int streams = 256, calls = 10'000;
  app.add_option("--streams", streams, "at once")->check(CLI::Range(1, 1024));
  app.add_option("--calls", calls, "in each format, 5 % of them faulty")
      ->check(CLI::Range(1, 1'000'000));
  CLI11_PARSE(app, argc, argv);
  try {
    return run(streams, calls);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "endpoint_bench: %s\n", failure.what());
    return 1;
  }
}
