#include "evaluators/evaluation/module_alternatives.h"

#include "base/error.h"
#include "evaluators/messages/arena.h"
#include "tasks/plan/resolve/plan_resolve.h"

#include <exception>
#include <map>
#include <span>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {
namespace {

// A module takes some ten launches, so it needs more time than a kernel.
constexpr int kBudgets = 5;

std::string text_or_empty(const nlohmann::json& text) {
  return text.is_string() ? text.get<std::string>() : "";
}

bool is_compiled(const std::string& alternative) {
  return alternative.starts_with("compile");
}

} // namespace

TorchSampling torch_sampling(const Protocol& protocol, const std::string& device_kind) {
  TorchSampling sampling;
  sampling.budget = kBudgets * time_budget(protocol, device_kind);
  return sampling;
}

void with_module_inputs(DeviceHost& host, const tasks::Task& task, const tasks::Shape& shape,
                        std::uint64_t seed, const TorchQuestion& question,
                        const std::function<void(const std::string& inputs)>& ask) {
  // The judge draws the inputs, because the device does so faster than the coordinator.
  JudgeRequest request;
  // Not the name of judge_request(): the judge would take the answer to this for its reference's.
  request.shape = task.digest + " inputs of " + shape.id;
  request.plan = tasks::tensors_only(task, shape);
  request.seed = request.static_seed = seed;
  request.inputs = question.inputs;
  request.inputs_question = torch_inputs(task, shape, seed, question.inputs);
  std::exception_ptr failure; // of PyTorch, not of the judge
  ReferenceJudge::Round round(host.judge, kTorchAnswersWithin, [&](const JudgeRequest& asked) {
    try {
      ask(asked.inputs_question);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    return std::string();
  });
  round.give({request});
  const JudgeReply reply = round.take().front();
  if (failure) {
    std::rethrow_exception(failure);
  }
  if (reply.verdict != tasks::Verdict::Correct) {
    throw Error(reply.detail);
  }
}

/// An alternative, and its outputs by the name of the tensor.
struct ModuleAlternatives::Answer {
  ModuleAlternative alternative;
  std::map<std::string, std::vector<std::byte>> outputs;
};

ModuleAlternatives::ModuleAlternatives(const tasks::Task& task, std::shared_ptr<DeviceHost> host,
                                       const EvaluationOptions& options,
                                       std::chrono::milliseconds timeout)
    : task_(task), host_(host), options_(options), timeout_(timeout),
      check_(task, std::move(host), options) {}

std::vector<ModuleAlternative> ModuleAlternatives::at(const tasks::Shape& shape, std::uint64_t seed,
                                                      bool with_compiled) {
  host_->torch.start();
  std::vector<ModuleAlternative> all;
  // PyTorch keeps one model at a time, so the judge asks for its own when all others have run.
  for (Answer& answer : answers(shape, seed, with_compiled)) {
    std::map<std::string, std::span<const std::byte>> outputs;
    for (const auto& [name, bytes] : answer.outputs) {
      outputs.emplace(name, bytes);
    }
    if (!outputs.empty()) {
      answer.alternative.judged = check_.compare(shape, seed, outputs);
    }
    all.push_back(std::move(answer.alternative));
  }
  return all;
}

std::vector<ModuleAlternatives::Answer>
ModuleAlternatives::answers(const tasks::Shape& shape, std::uint64_t seed, bool with_compiled) {
  std::vector<Answer> all;
  with_names(shape, seed, [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (with_compiled || !is_compiled(name)) {
        all.push_back(answer(shape, name));
      }
    }
    time(shape, all);
  });
  return all;
}

void ModuleAlternatives::compile(const tasks::Shape& shape, std::uint64_t seed) {
  host_->torch.start();
  with_names(shape, seed, [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (is_compiled(name)) {
        ask(torch_alternative(task_, shape, name, host_->exchange.size_bytes()));
      }
    }
  });
}

void ModuleAlternatives::with_names(const tasks::Shape& shape, std::uint64_t seed,
                                    const WithNames& run) {
  const TorchQuestion question = torch_alternatives(task_, shape, host_->exchange.size_bytes());
  with_module_inputs(*host_, task_, shape, seed, question, [&](const std::string& inputs) {
    const auto reply = host_->torch.ask(inputs, question.line, timeout_);
    run(reply.at("names").get<std::vector<std::string>>());
  });
}

/// Why there is no answer; empty: there is one.
std::string ModuleAlternatives::ask(const TorchQuestion& question) {
  try {
    host_->torch.ask(question.line, timeout_);
    return "";
  } catch (const Error& error) { // torch.compile may fail where eager runs
    return error.what();
  }
}

ModuleAlternatives::Answer ModuleAlternatives::answer(const tasks::Shape& shape,
                                                      const std::string& name) {
  Answer answer{{name, "", {}, std::nullopt}, {}};
  const TorchQuestion question =
      torch_alternative(task_, shape, name, host_->exchange.size_bytes());
  answer.alternative.error = ask(question);
  if (!answer.alternative.error.empty()) {
    return answer;
  }
  const ArenaView exchange(host_->exchange.fd());
  for (const ArenaSlice& slice : question.answers) {
    const std::span<std::byte> bytes = exchange.slice(slice.offset, slice.bytes);
    answer.outputs.emplace(slice.tensor, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  return answer;
}

void ModuleAlternatives::time(const tasks::Shape& shape, std::vector<Answer>& answers) {
  std::vector<ModuleAlternative*> timed;
  std::vector<std::string> names;
  for (Answer& answer : answers) {
    if (answer.alternative.error.empty()) {
      timed.push_back(&answer.alternative);
      names.push_back(answer.alternative.name);
    }
  }
  if (names.empty()) {
    return;
  }
  const TorchQuestion question =
      torch_timing(task_, shape, names, torch_sampling(options_, host_->device.kind),
                   host_->exchange.size_bytes());
  const auto reply = host_->torch.ask(question.line, timeout_);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    reply.at("times_ns").at(i).get_to(timed[i]->times_ns);
    timed[i]->error = text_or_empty(reply.at("errors").at(i));
  }
}

} // namespace winnow::evaluators
