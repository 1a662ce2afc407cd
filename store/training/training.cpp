#include "store/training/training.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "store/author.h"
#include "store/board/query_json.h"
#include "store/candidate_record.h"
#include "store/training/training_facts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

namespace winnow::store {
namespace {

using nlohmann::json;

/// Of the evaluation that counts. No detail, notes, log or cases: these may name hidden shapes and
/// files of the machine. A text that is no kernel file is the model's whole reply.
constexpr const char* kExample =
    "SELECT o.candidate_id, o.run, o.model, o.parents, o.verdict, s.name AS stage, o.digest, "
    "o.parameters, timed.speedup, coalesce(timed.speedup_low, timed.speedup) AS speedup_low, "
    "coalesce(timed.speedup_high, timed.speedup) AS speedup_high, "
    "nullif(m.prompt_tokens, 0) AS prompt_tokens, "
    "nullif(m.completion_tokens, 0) AS completion_tokens, "
    "CASE WHEN m.completion_tokens > 0 THEN m.reasoning_tokens END AS reasoning_tokens, m.reply, "
    "CASE WHEN o.verdict NOT IN ('not_judged', 'bad_reply') THEN k.text END AS kernel_file "
    "FROM candidate_overview AS o JOIN candidates AS c ON c.id = o.candidate_id "
    "JOIN model_calls AS m ON m.id = c.call_id JOIN kernel_files AS k ON k.id = c.kernel_file_id "
    "LEFT JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "LEFT JOIN evaluations AS timed ON timed.id = e.id AND o.verdict = 'correct' "
    "LEFT JOIN stages AS s ON s.number = e.stage WHERE o.candidate_id = ?";
const std::string kBoard =
    "SELECT t.name AS task, t.digest AS task_digest, t.category, o.device, o.device_name, "
    "e.evaluator_version, " +
    versus_sql("t", "o.device") +
    " AS versus FROM candidate_overview AS o JOIN tasks AS t ON t.id = o.task_id "
    "LEFT JOIN evaluations AS e ON e.candidate_id = o.candidate_id AND e.ordinal = 0 "
    "WHERE o.candidate_id = ?";
constexpr const char* kPrompt =
    "SELECT p.role, p.text FROM candidates AS c "
    "JOIN call_messages AS p ON p.call_id = c.call_id WHERE c.id = ? ORDER BY p.position";

class LineWriter {
public:
  LineWriter(const Database& database, const TrainingOptions& options,
             const std::function<void(std::string_view)>& line)
      : options_(options), line_(line), example_(database, kExample), board_(database, kBoard),
        messages_(database, kPrompt) {}

  /// What the lines of one board have in common.
  json head(const TrainingFacts& facts, const char* selection) {
    json head{{"schema", "winnow.training"}, {"version", 1}, {"selection", selection}};
    add_columns(board_, facts.candidate, head);
    head.erase("versus");
    put_versus(head, board_.text("versus"));
    return head;
  }

  void add_example(const TrainingFacts& facts, json& object) {
    add_columns(example_, facts.candidate, object);
    const TrainingReply reply = options_.split(to_valid_utf8(example_.text("reply")));
    object["reasoning"] = reply.reasoning.empty() ? json() : json(reply.reasoning);
    object["reply"] = reply.answer;
  }

  /// Writes the object with its prompt.
  void write(const TrainingFacts& facts, const json& object) {
    std::string text = json_line(object);
    text.insert(1, "\"messages\":" + messages(facts.candidate) + ",");
    const bool is_secret =
        std::any_of(options_.secret.begin(), options_.secret.end(),
                    [&](const auto& secret) { return text.find(secret) != std::string::npos; });
    if (is_secret) {
      ++secret_lines_;
      return;
    }
    ++lines_;
    tasks_.insert(facts.task);
    line_(text);
  }

  void summarise(TrainingSummary& summary) const {
    summary.lines = lines_;
    summary.tasks = tasks_.size();
    if (secret_lines_ > 0) {
      summary.left_out.emplace_back("names a folder of this machine", secret_lines_);
    }
  }

private:
  struct Message {
    std::string role, text;
    std::string encoded; ///< JSON
  };

  /// JSON. Prompts begin alike, so a message often is the one of the line before.
  std::string messages(RowId candidate) {
    messages_.bind(candidate);
    std::string list;
    for (std::size_t i = 0; messages_.next(); ++i) {
      std::string role = messages_.text("role"), text = messages_.text("text");
      last_messages_.resize(std::max(last_messages_.size(), i + 1));
      Message& last = last_messages_[i];
      if (last.role != role || last.text != text) {
        const json encoded{{"role", to_valid_utf8(role)}, {"content", to_valid_utf8(text)}};
        last = {std::move(role), std::move(text), json_line(encoded)};
      }
      list += (i == 0 ? "" : ",") + last.encoded;
    }
    return "[" + list + "]";
  }

  static void add_columns(Query& query, RowId candidate, json& object) {
    query.bind(candidate).next();
    object.update(object_json(query));
  }

  const TrainingOptions& options_;
  const std::function<void(std::string_view)>& line_;
  Query example_, board_, messages_;
  std::vector<Message> last_messages_; ///< by position
  std::size_t lines_ = 0, secret_lines_ = 0;
  std::set<std::string> tasks_;
};

void write_supervised(const std::vector<TrainingFacts>& facts, const TrainingOptions& options,
                      LineWriter& writer, TrainingSummary& summary) {
  for (const std::size_t i : select_supervised(facts, options, summary.left_out)) {
    json object = writer.head(facts[i], "supervised");
    writer.add_example(facts[i], object);
    writer.write(facts[i], object);
  }
}

void write_pairs(const std::vector<TrainingFacts>& facts, const std::vector<DecidedRace>& races,
                 const TrainingOptions& options, LineWriter& writer, TrainingSummary& summary) {
  for (const TrainingPair& pair : select_pairs(facts, races, options, summary.left_out)) {
    const DecidedRace& race = races[pair.race];
    json object = writer.head(facts[pair.chosen], "preferences");
    object["ratio"] = race.ratio;
    object["ratio_low"] = race.ratio_low;
    object["ratio_high"] = race.ratio_high;
    writer.add_example(facts[pair.chosen], object["chosen"]);
    writer.add_example(facts[pair.rejected], object["rejected"]);
    writer.write(facts[pair.chosen], object);
  }
}

void write_rewards(const std::vector<TrainingFacts>& facts, LineWriter& writer,
                   TrainingSummary& summary) {
  for (const std::size_t i : select_rewarded(facts, summary.left_out)) {
    const TrainingReward reward = reward_of(facts[i]);
    json object = writer.head(facts[i], "rewards");
    writer.add_example(facts[i], object);
    object["reward"] = reward.value();
    object["reward_terms"] = {{"has_kernel", reward.has_kernel ? 1 : 0},
                              {"compiled", reward.compiled ? 1 : 0},
                              {"correct", reward.correct ? 1 : 0},
                              {"speedup_low", reward.speedup_low}};
    writer.write(facts[i], object);
  }
}

} // namespace

TrainingSummary write_training(const RunStore& store, const TrainingOptions& options,
                               const std::function<void(std::string_view)>& line) {
  TrainingSummary summary;
  store.read([&](const Database& database) {
    const std::vector<TrainingFacts> facts = read_training_facts(database, options.query);
    summary.replies = facts.size();
    LineWriter writer(database, options, line);
    switch (options.selection) {
    case TrainingSelection::Supervised:
      write_supervised(facts, options, writer, summary);
      break;
    case TrainingSelection::Preferences:
      write_pairs(facts, read_decided_races(database), options, writer, summary);
      break;
    case TrainingSelection::Rewards:
      write_rewards(facts, writer, summary);
      break;
    }
    writer.summarise(summary);
  });
  return summary;
}

} // namespace winnow::store
