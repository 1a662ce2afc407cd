#include "evaluators/device/compile/module_cache.h"

#include "base/error.h"
#include "base/files.h"
#include "base/json_dump.h"
#include "evaluators/device/inspect/cache_entry.h"

#include <chrono>

#include <nlohmann/json.hpp>

namespace winnow::evaluators {

ModuleCache::ModuleCache(std::filesystem::path directory, std::string extension, CacheBounds bounds)
    : directory_(std::move(directory)), extension_(std::move(extension)) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) {
    throw Error("cannot create the module cache " + directory_.string() + ": " + error.message(),
                "choose a cache directory that can be written");
  }
  folder_ = std::make_shared<CacheFolder>(directory_, bounds);
}

CompileResult ModuleCache::compile(const CompileRequest& request, const std::string& key,
                                   const std::function<Built()>& build) const {
  const auto start = std::chrono::steady_clock::now();
  auto kept = folder_->hold(key + extension_);
  std::optional<CompileAnswer> answer = find(key);
  const bool from_cache = answer.has_value();
  bool stored = from_cache;
  if (!from_cache) {
    Built fresh = build();
    stored = fresh.lasting;
    if (stored) {
      store(key, fresh.compiled);
    }
    answer = std::move(fresh.compiled.answer);
  }
  CompileResult result = compile_result(*answer, request);
  if (stored && result.verdict == tasks::Verdict::Correct) {
    result.module = entry_path(key);
    result.kept = std::move(kept);
  }
  result.build.from_cache = from_cache;
  result.build.digest = key;
  result.build.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::filesystem::path ModuleCache::entry_path(const std::string& key) const {
  return directory_ / (key + extension_);
}

std::optional<CompileAnswer> ModuleCache::find(const std::string& key) const {
  const std::filesystem::path path = entry_path(key);
  if (!is_file(path)) {
    return std::nullopt;
  }
  try {
    const std::string bytes = read_file(path, kMostModuleBytes + kMostAnswerBytes);
    const auto entry = decode_cache_entry(bytes);
    std::error_code ignored; // the file only seems to be older
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), ignored);
    return entry ? std::optional(compile_answer_of(nlohmann::json::parse(entry->answer)))
                 : std::nullopt;
  } catch (const std::exception&) {
    // The entry cannot be read or is foreign: compile again.
    return std::nullopt;
  }
}

void ModuleCache::store(const std::string& key, const CompiledModule& compiled) const {
  const std::string answer = json_line(compile_answer_json(compiled.answer));
  const std::string entry = encode(CacheEntry{compiled.module, answer});
  write_file_atomic(entry_path(key), entry);
  folder_->added(entry.size());
}

ModuleCache::Built cancelled_compile() {
  ModuleCache::Built built;
  built.compiled.answer.detail = "cancelled";
  return built;
}

} // namespace winnow::evaluators
