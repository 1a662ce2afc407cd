// The routes of JudgeRoutes below /compat.
#include "base/error.h"
#include "base/json_dump.h"
#include "harness/serve/client_json.h"
#include "harness/serve/judge_routes.h"
#include "harness/serve/server_application.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace winnow::harness {
namespace {

using nlohmann::json;

/// A trainer that retries gets its answer then: the job goes on, and its answer is kept.
HttpReply come_again(const std::string& why, int seconds) {
  HttpReply reply = error_reply(503, why, "send the same request again");
  reply.retry_after_s = seconds;
  return reply;
}

/// What the query says for requests whose body has no place for it.
JudgeRequest request_of(std::vector<JudgeItem> items, const Target& target) {
  target.allow_only({"reward", "depth", "task", "object", "max_variants", "priority"});
  JudgeRequest request;
  request.items = std::move(items);
  request.reward = target.value("reward");
  request.max_variants = static_cast<std::size_t>(
      std::max<std::int64_t>(1, target.number("max_variants", kMostVariants)));
  request.priority = static_cast<int>(target.number("priority", kMostPriority));
  if (const std::string depth = target.value("depth"); !depth.empty()) {
    request.depth = depth_from_string(depth);
  }
  check_options(request);
  return request;
}

/// Never a reward for what was not judged. nullopt: all have a reward.
std::optional<HttpReply> refusal(const std::vector<json>& results) {
  for (const json& result : results) {
    const json fault = result.value("fault", json());
    if (fault == "unsupported") {
      return error_reply(422, "the device cannot run this kernel: " +
                                  result.value("detail", std::string()));
    }
    if (!fault.is_null()) {
      return come_again("nobody could judge the kernel: " + fault.get<std::string>(), 1);
    }
  }
  return std::nullopt;
}

std::vector<std::string> ids_of(const JudgeRequest& request) {
  std::vector<std::string> ids;
  for (const JudgeItem& item : request.items) {
    ids.push_back(item.id);
  }
  return ids;
}

/// `ids`: unique, one for each result.
std::vector<json> in_order_of(const std::vector<std::string>& ids,
                              const std::vector<json>& results) {
  std::map<std::string, const json*> by_id;
  for (const json& result : results) {
    by_id[result.at("id").get<std::string>()] = &result;
  }
  std::vector<json> ordered;
  for (const std::string& id : ids) {
    ordered.push_back(*by_id.at(id));
  }
  return ordered;
}

void require_task(const AcceptedBatch& batch) {
  for (const AcceptedItem& item : batch.items) {
    if (item.state == "refused") {
      throw UsageError("item " + item.id + ": " + item.error);
    }
  }
}

} // namespace

void JudgeRoutes::serve_trainer(const Call& call, Trainer trainer) {
  auto body = std::make_shared<json>(parse_client_json(call.exchange->take_body()));
  JudgeRequest request =
      request_of(trainer_items(trainer, *body, call.target.value("task")), call.target);
  if (trainer == Trainer::KernelGymBatch) {
    if (call.target.value("priority").empty()) {
      request.priority = kernelgym_priority(*body);
    }
    *body = {{"batch_id", body->value("batch_id", json())}};
  } else if (trainer != Trainer::NemoGym) { // which gets its request back
    *body = nullptr;
  }
  const bool as_object = !call.target.value("object").empty();
  const auto reply = [trainer, body, as_object](const std::vector<json>& results) {
    return trainer_reply(trainer, *body, results, as_object);
  };
  const Clock::time_point deadline = Clock::now() + setup_.hold;
  if (!try_trainer(call.exchange, call.owner, request, deadline, reply)) {
    blocked_.push_back(
        {call.exchange,
         deadline,
         [this, exchange = call.exchange, owner = call.owner, request, deadline, reply](bool late) {
           if (late) {
             exchange->reply(come_again("the queue is full", 1));
             return true;
           }
           return try_trainer(exchange, owner, request, deadline, reply);
         },
         {},
         call.owner});
  }
}

/// False: the queue is full.
bool JudgeRoutes::try_trainer(const std::shared_ptr<Exchange>& exchange, const std::string& owner,
                              const JudgeRequest& request, Clock::time_point deadline,
                              const TrainerReply& reply) {
  std::string batch;
  try {
    const AcceptedBatch accepted = service_.accept(owner, request);
    require_task(accepted);
    batch = accepted.batch;
  } catch (const QueueFull&) {
    return false;
  }
  Waiter waiter;
  waiter.exchange = exchange;
  waiter.deadline = deadline;
  waiter.advance = [this, exchange, owner, batch, reply, ids = ids_of(request)](bool late) {
    const auto state = service_.requests().batch(batch, owner).value();
    if (state.answered == state.items) {
      const auto results =
          in_order_of(ids, service_.results(batch, 0, static_cast<std::int64_t>(kMaxItems)));
      const std::optional<HttpReply> refused = refusal(results);
      exchange->reply(refused ? *refused : HttpReply{200, json_line(reply(results)) + "\n"});
      return true;
    }
    if (late) {
      exchange->reply(come_again("the answer takes longer", 1));
    }
    return late;
  };
  wait(batch, std::move(waiter));
  return true;
}

void JudgeRoutes::kernelgym_evaluate(const Call& call) {
  const json body = parse_client_json(call.exchange->take_body());
  const JudgeItem item = kernelgym_item(body, call.target.value("task"));
  JudgeRequest request = request_of({item}, call.target);
  if (call.target.value("priority").empty()) {
    request.priority = kernelgym_priority(body);
  }
  require_task(service_.accept(call.owner, request));
  json status = kernelgym_status(item.id, nullptr);
  status["status"] = "pending";
  call.exchange->reply({200, json_line(status) + "\n"});
}

void JudgeRoutes::kernelgym_show(const Call& call, const std::string& id) {
  const auto item = service_.requests().newest_item(id, call.owner);
  if (!item) {
    call.exchange->reply(error_reply(404, "your token has no such task_id"));
    return;
  }
  if (item->place == 0) {
    service_.ask_again(item->batch);
    call.exchange->reply({200, json_line(kernelgym_status(id, nullptr)) + "\n"});
    return;
  }
  const json result = service_.result(*item);
  const std::optional<HttpReply> refused = refusal({result});
  call.exchange->reply(refused ? *refused
                               : HttpReply{200, json_line(kernelgym_status(id, &result)) + "\n"});
}

} // namespace winnow::harness
