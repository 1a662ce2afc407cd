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
  finder.find("curl_easy_cleanup", curl.easy_cleanup);
  finder.find("curl_easy_getinfo", curl.easy_getinfo);
  finder.find("curl_easy_init", curl.easy_init);
  finder.find("curl_easy_perform", curl.easy_perform);
  finder.find("curl_easy_setopt", curl.easy_setopt);
  finder.find("curl_easy_strerror", curl.easy_strerror);
  finder.find("curl_free", curl.free);
  finder.find("curl_getdate", curl.getdate);
  finder.find("curl_global_init", curl.global_init);
  finder.find("curl_multi_add_handle", curl.multi_add_handle);
  finder.find("curl_multi_cleanup", curl.multi_cleanup);
  finder.find("curl_multi_info_read", curl.multi_info_read);
  finder.find("curl_multi_init", curl.multi_init);
  finder.find("curl_multi_perform", curl.multi_perform);
  finder.find("curl_multi_poll", curl.multi_poll);
  finder.find("curl_multi_remove_handle", curl.multi_remove_handle);
  finder.find("curl_multi_setopt", curl.multi_setopt);
  finder.find("curl_multi_strerror", curl.multi_strerror);
  finder.find("curl_multi_wakeup", curl.multi_wakeup);
  finder.find("curl_slist_append", curl.slist_append);
  finder.find("curl_slist_free_all", curl.slist_free_all);
  finder.find("curl_url", curl.url);
  finder.find("curl_url_cleanup", curl.url_cleanup);
  finder.find("curl_url_get", curl.url_get);
  finder.find("curl_url_set", curl.url_set);
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
