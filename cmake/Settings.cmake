set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Assertions stay on in release builds: a broken invariant must stop the run before it falsifies a
# verdict.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_library(winnow_settings INTERFACE)
target_include_directories(winnow_settings INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(winnow_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual)
if(NOT CMAKE_UNITY_BUILD) # a unity build sees names of several files as shadowed
  target_compile_options(winnow_settings INTERFACE -Wshadow)
endif()
if(WINNOW_WERROR)
  target_compile_options(winnow_settings INTERFACE -Werror)
endif()
if(WINNOW_SANITIZE)
  target_compile_options(winnow_settings INTERFACE -fsanitize=${WINNOW_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(winnow_settings INTERFACE -fsanitize=${WINNOW_SANITIZE})
  if(WINNOW_SANITIZE MATCHES undefined)
    target_compile_options(winnow_settings INTERFACE -fno-sanitize-recover=undefined)
  endif()
  if(WINNOW_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(winnow_settings INTERFACE -Wno-tsan)
  endif()
endif()
if(WINNOW_FUZZ)
  # Headers of other libraries are compiled without checks, which takes 40 % off the build. Misuse of a container is
  # still found: by the checks in the code that calls it, and by the assertions of the standard library.
  file(WRITE ${PROJECT_BINARY_DIR}/unchecked_headers.txt "src:/usr/*\n")
  target_compile_options(winnow_settings INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined
    # What a test covers guides no fuzzer.
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:WINNOW_TEST>>>:-fsanitize=fuzzer-no-link>
    -fsanitize-ignorelist=${PROJECT_BINARY_DIR}/unchecked_headers.txt -D_GLIBCXX_ASSERTIONS)
  target_link_options(winnow_settings INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the first setting, ccache does not cache files that use precompiled headers. With the second one it
  # reads the compiler's list of headers and need not run the preprocessor, which took 5 % of a first build.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE_PROGRAM})
endif()

find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  add_link_options(-fuse-ld=lld)
endif()
