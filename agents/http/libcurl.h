#pragma once

#include <string>

#include <curl/curl.h>

namespace winnow::agents {

#define WINNOW_CURL_FUNCTIONS(use)                                                                 \
  use(easy_cleanup) use(easy_getinfo) use(easy_init) use(easy_perform) use(easy_setopt)            \
      use(easy_strerror) use(free) use(getdate) use(global_init) use(multi_add_handle)             \
          use(multi_cleanup) use(multi_info_read) use(multi_init) use(multi_perform)               \
              use(multi_poll) use(multi_remove_handle) use(multi_setopt) use(multi_strerror)       \
                  use(multi_wakeup) use(slist_append) use(slist_free_all) use(url)                 \
                      use(url_cleanup) use(url_get) use(url_set)

/// The functions of libcurl that Winnow calls. curl's own checks of option types do not see calls
/// through this table, so an option must get exactly the type that curl documents: 1L, not 1.
struct LibCurl {
#define WINNOW_DECLARE(name) decltype(&curl_##name) name = nullptr;
  WINNOW_CURL_FUNCTIONS(WINNOW_DECLARE)
#undef WINNOW_DECLARE
};

/// Loads this library for the rest of the process. Throws Error if the library is missing or lacks
/// a function.
LibCurl load_libcurl(const std::string& path);

/// libcurl.so.4, which the first call loads. Winnow is not linked with libcurl, because libcurl
/// brings 27 more libraries: they take 5 ms to load, and most of Winnow's processes send no
/// request. Throws Error like load_libcurl().
const LibCurl& libcurl();

} // namespace winnow::agents
