#pragma once

#include <string>

#include <curl/curl.h>

namespace winnow::agents {

/// The functions of libcurl that Winnow calls. curl's own checks of option types do not see calls
/// through this table, so an option must get exactly the type that curl documents: 1L, not 1.
struct LibCurl {
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_free) free = nullptr;
  decltype(&curl_getdate) getdate = nullptr;
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_setopt) multi_setopt = nullptr;
  decltype(&curl_multi_strerror) multi_strerror = nullptr;
  decltype(&curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  decltype(&curl_url) url = nullptr;
  decltype(&curl_url_cleanup) url_cleanup = nullptr;
  decltype(&curl_url_get) url_get = nullptr;
  decltype(&curl_url_set) url_set = nullptr;
};

/// Loads this library for the rest of the process. Throws Error if the library is missing or lacks
/// a function.
LibCurl load_libcurl(const std::string& path);

/// libcurl.so.4, which the first call loads. Winnow is not linked with libcurl, because libcurl
/// brings 27 more libraries: they take 5 ms to load, and most of Winnow's processes send no
/// request. Throws Error like load_libcurl().
const LibCurl& libcurl();

} // namespace winnow::agents
