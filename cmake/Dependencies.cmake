# All packages are in Debian and Ubuntu. scripts/install-packages.sh lists their names.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto SSL)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBSECCOMP REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(YAML_CPP REQUIRED IMPORTED_TARGET yaml-cpp)
set(Boost_USE_STATIC_LIBS ON)  # libboost_context has its version in its name, so link it statically
find_package(Boost REQUIRED COMPONENTS context)
find_package(SQLiteCpp REQUIRED)

# toml++ is always used header-only: Debian ships a compiled library, Ubuntu one with another
# soname.
add_library(winnow_toml INTERFACE)
target_compile_definitions(winnow_toml INTERFACE TOML_HEADER_ONLY=1)

# `portable` uses spdlog and fmt header-only, so the program needs no soname of these libraries.
if(WINNOW_PORTABLE)
  add_library(winnow_fmt ALIAS fmt::fmt-header-only)
  add_library(winnow_spdlog ALIAS spdlog::spdlog_header_only)
  find_library(WINNOW_YAML_CPP libyaml-cpp.a REQUIRED)
  add_library(winnow_yaml INTERFACE)
  target_link_libraries(winnow_yaml INTERFACE ${WINNOW_YAML_CPP})
else()
  add_library(winnow_yaml ALIAS PkgConfig::YAML_CPP)
  add_library(winnow_fmt ALIAS fmt::fmt)
  add_library(winnow_spdlog ALIAS spdlog::spdlog)
endif()

if(WINNOW_TESTS)
  find_package(GTest REQUIRED)
endif()

# D3 draws the charts of `winnow export html`. It is optional: without it the page has tables only.
find_file(WINNOW_D3 d3.min.js HINTS /usr/share/nodejs/d3/dist DOC "d3.min.js of D3 5 or later")
mark_as_advanced(WINNOW_D3)

# NATS carries evaluations to other machines (docs/distributed.md). AUTO: if libnats-dev is installed.
set(WINNOW_NATS AUTO CACHE STRING "Build libwinnow_nats.so: ON, OFF or AUTO")
if(WINNOW_NATS STREQUAL AUTO)
  pkg_check_modules(LIBNATS IMPORTED_TARGET libnats)
  if(LIBNATS_FOUND)
    set(WINNOW_NATS ON)
  else() # an empty value would uncover the AUTO of the cache, which counts as true
    set(WINNOW_NATS OFF)
  endif()
elseif(WINNOW_NATS)
  pkg_check_modules(LIBNATS REQUIRED IMPORTED_TARGET libnats)
endif()
