// Reads recorded replies and shows how another build of Winnow reads them. Build this program
// before a change and let it write what it reads (`reply_table FILE.jsonl... > before.jsonl`);
// build it again after the change and compare (`reply_table --against before.jsonl FILE.jsonl...`).

#include "agents/reply/reply.h"
#include "tasks/plan/kernel_file.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::json;
using namespace winnow;

struct Read {
  std::string id;
  std::string kernel; ///< empty: the reply has none
  std::string why;    ///< the problem, or what was noted about the kernel
  double ms = 0;
};

std::vector<Read> read_replies(const std::string& path) {
  std::vector<Read> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    if (!row.contains("reply") || !row["reply"].is_string()) {
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    const agents::ExtractedKernel kernel = agents::extract_kernel_file(
        row["reply"].get<std::string>(), row.value("finish_reason", ""));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const std::string name = path.substr(path.rfind('/') + 1);
    all.push_back({fmt::format("{}:{} {}", name, all.size() + 1,
                               row.value("id", row.value("key", std::string()))),
                   kernel.text.value_or(""), kernel.text ? kernel.note : kernel.problem,
                   took.count()});
  }
  return all;
}

bool is_kernel_file(const std::string& text) {
  return !text.empty() && tasks::parse_kernel_file(text, "k.cu").kernel_file.has_value();
}

/// "same", "better", "worse" or "other": another kernel file, of which both or none can be parsed.
std::string compared(const std::string& before, const std::string& now) {
  if (before == now) {
    return "same";
  }
  const bool was = is_kernel_file(before), is = is_kernel_file(now);
  return was == is ? "other" : is ? "better" : "worse";
}

std::map<std::string, std::string> kernels_of(const std::string& path) {
  std::map<std::string, std::string> kernels;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    kernels[row.at("id")] = row.at("kernel");
  }
  return kernels;
}

void compare(const std::map<std::string, std::string>& before, const std::vector<Read>& now) {
  std::map<std::string, int> counts;
  double slowest = 0;
  for (const Read& read : now) {
    const auto known = before.find(read.id);
    const std::string word = known == before.end() ? "new" : compared(known->second, read.kernel);
    slowest = std::max(slowest, read.ms);
    if (++counts[word]; word != "same") {
      fmt::print("{:6} {:48} {}\n", word, read.id, read.why);
    }
  }
  for (const auto& [word, count] : counts) {
    fmt::print("{} {}, ", count, word);
  }
  fmt::print("slowest {:.2f} ms\n", slowest);
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files(argv + 1, argv + argc);
  std::string against;
  if (files.size() > 2 && files[0] == "--against") {
    against = files[1];
    files.erase(files.begin(), files.begin() + 2);
  }
  std::vector<Read> all;
  for (const std::string& path : files) {
    for (Read& read : read_replies(path)) {
      all.push_back(std::move(read));
    }
  }
  if (!against.empty()) {
    compare(kernels_of(against), all);
    return 0;
  }
  for (const Read& read : all) {
    std::cout << json{{"id", read.id}, {"kernel", read.kernel}, {"why", read.why}, {"ms", read.ms}}
                     .dump(-1, ' ', false, json::error_handler_t::replace)
              << '\n';
  }
}
