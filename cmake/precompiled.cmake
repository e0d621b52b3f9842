# Two precompiled headers for all targets of ours: the standard library, and for tests GoogleTest
# too. They hold no header of ours, so a change of one rebuilds only the files that include it.
# Every file still includes what it uses; -DFANLINE_PCH=OFF builds without them.
option(FANLINE_PCH "Precompile the headers that nearly every file reads" ON)

set(STANDARD_HEADERS <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <deque>
  <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <string> <string_view>
  <thread> <unordered_map> <unordered_set> <utility> <variant> <vector>)

# Test code is not worth optimising; the code under test is optimised as ever. With the sanitizers -O1 takes
# twice the compiler's time of -O0, without them less.
set(FANLINE_TEST_OPTIONS -O1)
if(FANLINE_ASAN OR FANLINE_TSAN)
  set(FANLINE_TEST_OPTIONS -O0)
endif()

function(fanline_precompile)
  set(none ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  file(WRITE ${none}.new "")
  configure_file(${none}.new ${none} COPYONLY)
  add_library(precompiled OBJECT ${none})
  target_link_libraries(precompiled PRIVATE fanline_options)
  target_precompile_headers(precompiled PRIVATE ${STANDARD_HEADERS})
  if(FANLINE_TESTS)
    add_library(precompiled_tests OBJECT ${none})
    target_link_libraries(precompiled_tests PRIVATE fanline_options GTest::gtest GTest::gmock)
    target_compile_options(precompiled_tests PRIVATE ${FANLINE_TEST_OPTIONS})
    target_precompile_headers(precompiled_tests PRIVATE ${STANDARD_HEADERS} <gmock/gmock.h>
      <gtest/gtest.h>)
  endif()
  foreach(target ${ARGN})
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT type MATCHES "EXECUTABLE|STATIC_LIBRARY" OR NOT libraries)
      continue()
    endif()
    set(from precompiled)
    if(GTest::gtest IN_LIST libraries)
      set(from precompiled_tests)
      target_compile_options(${target} PRIVATE ${FANLINE_TEST_OPTIONS})
    endif()
    # GCC 12 warns of its own std::string once that comes precompiled (its bug 105329 and kin); the
    # address sanitizer looks for the same.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
      -Wno-stringop-overread)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endforeach()
endfunction()

function(targets_below folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(child ${folders})
    targets_below(${child} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

if(FANLINE_PCH)
  targets_below(${CMAKE_SOURCE_DIR} all)
  fanline_precompile(${all})
endif()
