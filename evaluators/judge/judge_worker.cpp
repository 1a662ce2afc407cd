// The `_judge` child. It runs the task's reference on a candidate's inputs and compares the outputs
// that the candidate left in the arena. The reference's outputs never leave this process.
#include "base/error.h"
#include "base/freed_memory.h"
#include "evaluators/judge/compare.h"
#include "evaluators/judge/expected_outputs.h"
#include "evaluators/judge/judge.h"
#include "evaluators/messages/arena.h"
#include "evaluators/messages/protocol.h"
#include "evaluators/worker/poison.h"
#include "evaluators/worker/worker_device.h"
#include "process/sandbox.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <unistd.h>

namespace winnow::evaluators {
namespace {

constexpr const char* kReference = "reference.cu";

class JudgeWorker {
public:
  explicit JudgeWorker(const WorkerDevice& spec)
      : arena_(kArenaFd), device_(make_worker_device(spec, device_options(), arena_.all())) {}

  JudgeReply answer(const JudgeRequest& request) {
    if (const auto fault = ensure_answer(request)) {
      return broken_reference(fault->detail, is_outside(request) ? "reference.py" : kReference);
    }
    JudgeReply reply;
    reply.verdict = tasks::Verdict::Correct;
    for (const JudgedTensor& tensor : request.tensors) {
      const ComparisonResult result = compare_tensor(request, tensor);
      reply.ratios.add(result.ratios);
      if (result.verdict == tasks::Verdict::Infrastructure) {
        return broken_reference(result.detail);
      }
      if (reply.verdict == tasks::Verdict::Correct) {
        reply.verdict = result.verdict;
        reply.mismatch = result.mismatch;
      }
    }
    return reply;
  }

private:
  using Pieces = std::vector<std::vector<Piece>>; // of each output
  /// Module, shape, the two seeds, and what there is of each output of a reference outside.
  using Question =
      std::tuple<std::filesystem::path, std::string, std::uint64_t, std::uint64_t, Pieces>;

  static CpuDeviceOptions device_options() {
    CpuDeviceOptions options;
    options.on_fatal = report_fatal;
    return options;
  }

  static void report_fatal(const DeviceFault& fault) {
    const std::string line = encode(broken_reference(fault.detail));
    [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, line.data(), line.size());
  }

  static JudgeReply broken_reference(const std::string& detail,
                                     const std::string& file = kReference) {
    JudgeReply reply;
    reply.detail = file + " failed: " + detail;
    return reply;
  }

  static bool is_outside(const JudgeRequest& request) { return request.module.empty(); }

  static Pieces pieces_of(const JudgeRequest& request) {
    Pieces pieces;
    for (const JudgedTensor& tensor : request.tensors) {
      pieces.push_back(tensor.pieces);
    }
    return pieces;
  }

  std::optional<DeviceFault> ensure_answer(const JudgeRequest& request) {
    const InputSeeds seeds{request.seed, request.static_seed};
    const Question question{request.module, request.shape, seeds.launch, seeds.of_static,
                            is_outside(request) ? pieces_of(request) : Pieces()};
    if (answer_ && question == question_) {
      return std::nullopt;
    }
    answer_.reset(); // frees its buffers for the next answer
    if (!is_outside(request) && module_ != request.module) {
      device_->load_module(request.module);
      module_ = request.module;
    }
    answer_.emplace(*device_, *request.plan, seeds);
    question_ = question;
    auto fault = is_outside(request)
                     ? answer_from_outside(request)
                     : answer_->run(verified_.emplace(request.module, request.shape).second);
    if (fault) {
      answer_.reset();
    }
    return fault;
  }

  std::optional<DeviceFault> answer_from_outside(const JudgeRequest& request) {
    if (!exchange_) {
      exchange_.emplace(kExchangeFd);
    }
    answer_->give_inputs(*exchange_, request.inputs);
    std::cout << encode_asks() << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) {
      return DeviceFault{tasks::Verdict::Infrastructure, "nobody answered"};
    }
    if (const std::string error = decode_answered(line); !error.empty()) {
      return DeviceFault{tasks::Verdict::Infrastructure, error};
    }
    answer_->take_answers(*exchange_, request.answers, request.tensors);
    return std::nullopt;
  }

  ComparisonResult compare_tensor(const JudgeRequest& request, const JudgedTensor& tensor) {
    Comparison comparison;
    comparison.tensor = tensor.slice.tensor;
    comparison.dtype = tensor.dtype;
    comparison.shape = tensor.shape;
    comparison.got = arena_.slice(tensor.slice.offset, tensor.slice.bytes);
    comparison.poison = poison_pattern(tensor.dtype, request.salt);
    comparison.model = request.model;
    return answer_->compare(comparison, request.explain, tensor.pieces);
  }

  ArenaView arena_;
  std::optional<ArenaView> exchange_;
  std::unique_ptr<Device> device_;
  std::filesystem::path module_; ///< the module on device_
  /// Modules, with the shapes at which the reference was seen to write only its outputs.
  std::set<std::pair<std::filesystem::path, std::string>> verified_;
  Question question_;
  std::optional<ExpectedOutputs> answer_; ///< the answer to question_, in buffers of device_
};

/// The coordinator wakes for each write, so quick replies are written together.
void answer_questions(JudgeWorker& worker) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kLongestUnwritten{1}; // the coordinator waits for each reply
  Clock::time_point written = Clock::now();
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << encode(worker.answer(decode_judge_request(line)));
    if (std::cin.rdbuf()->in_avail() <= 0 || Clock::now() - written > kLongestUnwritten) {
      std::cout << std::flush;
      written = Clock::now();
    }
  }
}

} // namespace

int judge_worker_main(std::vector<std::string> arguments) {
  try {
    process::enter_sandbox(arguments);
    keep_freed_memory();
    JudgeWorker worker(take_device_arguments(arguments));
    std::ios::sync_with_stdio(false); // reads whole blocks
    std::cin.tie(nullptr);            // otherwise each read would write the replies so far
    answer_questions(worker);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "winnow _judge: %s\n", error.what());
    return 1;
  }
}

} // namespace winnow::evaluators
