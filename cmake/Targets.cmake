# How far to optimise what is not in a hurry. Optimising makes compiling three times as long, with -O1 nearly as much
# as with -O2: both inline the templates of JSON and of containers.
set(unhurried_option "")          # the speed of these folders decides nothing
set(unhurried_in_tests_option "") # the speed of these folders decides the length of no test
if(NOT WINNOW_OPTIMISED STREQUAL all)
  set(unhurried_option -O0)
endif()
if(WINNOW_OPTIMISED STREQUAL tests)
  set(unhurried_in_tests_option -O0)
endif()

# What most folders include, compiled once for each way to optimise.
file(WRITE ${CMAKE_BINARY_DIR}/headers.cpp "")
set(common_headers ${PROJECT_SOURCE_DIR}/cmake/headers.h)
if(NOT WINNOW_PORTABLE) # whose libraries do not all use fmt in the same way
  list(APPEND common_headers <fmt/format.h>)
endif()
set(unhurried_headers winnow_unhurried_headers)
set(unhurried_in_tests_headers winnow_unhurried_in_tests_headers)
if(unhurried_option STREQUAL unhurried_in_tests_option)
  set(unhurried_in_tests_headers ${unhurried_headers})
endif()
foreach(kind IN ITEMS unhurried unhurried_in_tests)
  set(owner ${${kind}_headers})
  if(NOT TARGET ${owner})
    add_library(${owner} STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/headers.cpp)
    target_link_libraries(${owner} PRIVATE winnow_settings winnow_fmt nlohmann_json::nlohmann_json)
    target_compile_options(${owner} PRIVATE ${${kind}_option})
    target_precompile_headers(${owner} PRIVATE ${common_headers})
  endif()
endforeach()

# winnow_unhurried(TARGET [BUT a.cpp ...]): its speed decides nothing, but for the speed of some files.
function(winnow_unhurried target)
  winnow_compile_without_hurry(${target} "${unhurried_option}" ${unhurried_headers} ${ARGN})
endfunction()

# winnow_unhurried_in_tests(TARGET [BUT a.cpp ...]): its speed decides the length of no test, but for
# the speed of some files.
function(winnow_unhurried_in_tests target)
  winnow_compile_without_hurry(${target} "${unhurried_in_tests_option}" ${unhurried_in_tests_headers} ${ARGN})
endfunction()

function(winnow_compile_without_hurry target option headers)
  cmake_parse_arguments(ARG "" "" "BUT" ${ARGN})
  target_compile_options(${target} PRIVATE ${option})
  # The precompiled headers include fmt. Not every target needs code of it.
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:winnow_fmt,INTERFACE_COMPILE_DEFINITIONS>)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  if(option)
    set_source_files_properties(${ARG_BUT} TARGET_DIRECTORY ${target} PROPERTIES
      COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# winnow_library(NAME SOURCES a.cpp ... [LINK libs ...] [PRIVATE libs ...])
# One static library a folder, called winnow_NAME.
function(winnow_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE" ${ARGN})
  add_library(winnow_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(winnow_${name} PUBLIC ${ARG_LINK} nlohmann_json::nlohmann_json
                        PRIVATE winnow_settings ${ARG_PRIVATE})
  target_include_directories(winnow_${name} INTERFACE ${PROJECT_SOURCE_DIR})
endfunction()

# What every test includes, compiled once. Tests are not optimised: compiling them took longer than
# building Winnow and running them.
set(test_options -O0 -Wshadow)
if(WINNOW_TESTS)
  file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cpp "int main() {}\n")
  add_executable(winnow_test_headers ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(winnow_test_headers PRIVATE winnow_settings winnow_fmt GTest::gmock nlohmann_json::nlohmann_json)
  target_compile_options(winnow_test_headers PRIVATE ${test_options})
  set_target_properties(winnow_test_headers PROPERTIES WINNOW_TEST ON)
  target_precompile_headers(winnow_test_headers PRIVATE ${common_headers} ${PROJECT_SOURCE_DIR}/cmake/test_headers.h)
endif()

# winnow_test_program(TARGET): an executable that only tests need is compiled as tests are.
function(winnow_test_program target)
  target_compile_options(${target} PRIVATE ${test_options})
  set_target_properties(${target} PROPERTIES WINNOW_TEST ON)
  target_precompile_headers(${target} REUSE_FROM winnow_test_headers)
endfunction()

# winnow_uses_broker(TARGET): a test or benchmark that works with a real broker on tasks of the source
# tree. It stands beside libwinnow_nats.so, because the library is looked for there.
function(winnow_uses_broker target)
  target_compile_definitions(${target} PRIVATE WINNOW_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  if(WINNOW_NATS)
    add_dependencies(${target} winnow_nats)
  endif()
endfunction()

# winnow_test(NAME SOURCES a_test.cpp ... LINK libs ... [LABEL unit] [TIMEOUT s] [LONG Suite=s ...])
# One GoogleTest program for a folder and its subfolders, called NAME_test; every suite in it is a ctest of its own, which
# names the cases that fail. LONG says which suites take long, and about how many seconds, because
# those start first. WINNOW_TESTS_LEFT_OUT: a list of NAMEs that this build does not need.
function(winnow_test name)
  if(NOT WINNOW_TESTS OR name IN_LIST WINNOW_TESTS_LEFT_OUT)
    return()
  endif()
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LINK;LONG" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(WINNOW_SANITIZE) # several times slower, and the same tests
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE winnow_settings ${ARG_LINK} GTest::gmock winnow_test_main)
  winnow_test_program(${name}_test)
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD_BATCH_SIZE 40)
  set(include_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  file(GENERATE OUTPUT ${include_file} CONTENT
"set(name ${name})
set(program [==[$<TARGET_FILE:${name}_test>]==])
set(long \"${ARG_LONG}\")
set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
include([==[${PROJECT_SOURCE_DIR}/cmake/TestSuites.cmake]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include_file})
endfunction()

# winnow_more_tests(NAME SOURCES a_test.cpp ... [LINK libs ...]): adds tests to the program NAME_test, so that a
# subfolder needs none of its own: a program costs a second to compile and link before its first test.
function(winnow_more_tests name)
  if(NOT TARGET ${name}_test)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  target_sources(${name}_test PRIVATE ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_LINK})
endfunction()

# winnow_fuzzer(NAME SOURCE x_fuzz.cpp LINK libs ...): a libFuzzer program NAME_fuzz, part of `fuzzers`.
add_custom_target(fuzzers)
function(winnow_fuzzer name)
  cmake_parse_arguments(ARG "" "SOURCE" "LINK" ${ARGN})
  add_executable(${name}_fuzz ${ARG_SOURCE})
  target_link_libraries(${name}_fuzz PRIVATE winnow_settings ${ARG_LINK})
  target_link_options(${name}_fuzz PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name}_fuzz)
endfunction()

# winnow_embed(OUT_VAR NAMESPACE ns ROOT dir FILES a b ...)
# Writes a .cpp that defines `const std::vector<winnow::EmbeddedFile>& ns::embedded_files()` with
# the files' contents, named relative to ROOT. Append ${OUT_VAR} to the sources of a library.
function(winnow_embed out_var)
  cmake_parse_arguments(ARG "" "NAMESPACE;ROOT" "FILES" ${ARGN})
  string(MAKE_C_IDENTIFIER "${ARG_NAMESPACE}" id)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${id}.cpp)
  set(inputs "")
  foreach(file IN LISTS ARG_FILES)
    list(APPEND inputs ${ARG_ROOT}/${file})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${ARG_NAMESPACE} -DROOT=${ARG_ROOT}
            "-DFILES=${ARG_FILES}" -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM
    COMMENT "Embedding files of ${ARG_NAMESPACE}")
  # Without this target, which depends on nothing, Ninja would write the file, and then compile the
  # library that contains it, after all libraries that this one links.
  add_custom_target(embedded_${id} DEPENDS ${output})
  set(${out_var} ${output} PARENT_SCOPE)
endfunction()
