#include "agents/http/libcurl.h"

#include "base/error.h"
#include "base/function_finder.h"

#include <fmt/format.h>

namespace winnow::agents {
namespace {

constexpr const char* kRemedy = "install libcurl 7.85 or newer: apt-get install libcurl4";

} // namespace

LibCurl load_libcurl(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(fmt::format("cannot load libcurl, which sends requests to models: {}", dlerror()),
                kRemedy);
  }
  LibCurl curl;
  FunctionFinder finder(library);
#define WINNOW_FIND(name) finder.find("curl_" #name, curl.name);
  WINNOW_CURL_FUNCTIONS(WINNOW_FIND)
#undef WINNOW_FIND
  if (!finder.missing().empty()) {
    throw Error(fmt::format("{} has no function {}", path, finder.missing()), kRemedy);
  }
  return curl;
}

const LibCurl& libcurl() {
  static const LibCurl curl = load_libcurl("libcurl.so.4");
  return curl;
}

} // namespace winnow::agents
