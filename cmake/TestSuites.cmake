# Read by ctest for each test program, so that no list of its suites can be out of date. Set before:
# its name and path, the properties of every suite, and long: a list of Suite=seconds.
if(NOT EXISTS ${program})
  add_test(${name}_NOT_BUILT ${program})
  return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests
                OUTPUT_VARIABLE listed RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${program} --gtest_list_tests: ${result}\n${listed}${errors}")
endif()
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\.[ \n]" suites "${listed}")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[^A-Za-z0-9_/]" "" suite "${suite}")
  set(test ${name}.${suite})
  add_test(${test} ${program} --gtest_filter=${suite}.*)
  # A suite is skipped when all its cases are; one that failed or passed beside them counts.
  set_tests_properties(${test} PROPERTIES ${properties}
    SKIP_REGULAR_EXPRESSION "PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\] [^\n]*\n)+$")
  foreach(entry IN LISTS long)
    if(entry MATCHES "^([^=]+)=([0-9]+)$" AND suite STREQUAL CMAKE_MATCH_1)
      set_tests_properties(${test} PROPERTIES COST ${CMAKE_MATCH_2})
    endif()
  endforeach()
endforeach()
