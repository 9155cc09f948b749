# SPDX-License-Identifier: MIT
# Where the compiler's time goes. Headers that most files include are parsed once; files still include what they use
# (tests/style/alone.py). In a quick build what sets things up and arranges words is not optimized: that takes as long as all
# that handles events, and such code runs once. Then there are headers of both kinds.
option(MONITOR_QUICK "optimize only what handles events" OFF)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/headers.cpp CONTENT "")
foreach(kind optimized unoptimized)
  add_library(monitor_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/generated/headers.cpp)
  target_link_libraries(monitor_${kind} PRIVATE nlohmann_json::nlohmann_json compiled_fmt)
  target_precompile_headers(monitor_${kind} PRIVATE
    <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <deque> <filesystem> <fstream> <functional> <limits>
    <map> <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <unordered_map>
    <unordered_set> <utility> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
endforeach()
target_compile_options(monitor_unoptimized PRIVATE -O0)

# Compiles targets NAME... as one of the two kinds.
function(compile_as kind)
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      continue() # left out of this build
    endif()
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      target_precompile_headers(${target} REUSE_FROM monitor_${kind})
      target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:monitor_${kind},COMPILE_OPTIONS>)
      if(MONITOR_QUICK AND kind STREQUAL "optimized" AND NOT type STREQUAL "SHARED_LIBRARY")
        set_property(GLOBAL APPEND PROPERTY optimized_libraries ${target})
      endif()
    endif()
  endforeach()
endfunction()

# The objects that programs of a quick build link first, but those of LIBRARIES: of an inline function or a template that several
# objects have, the linker keeps the first, and code that handles events is not to call one that is not optimized.
function(optimized_objects variable)
  get_property(libraries GLOBAL PROPERTY optimized_libraries)
  list(REMOVE_ITEM libraries "" ${ARGN})
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  set(${variable} ${libraries} PARENT_SCOPE)
endfunction()

# Optimizes files NAME... of monitor_LIBRARY, and no other.
function(optimize_only library)
  set(target monitor_${library})
  if(NOT TARGET ${target})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(chosen "")
  foreach(name IN LISTS ARGN)
    set(file ${sources})
    list(FILTER file INCLUDE REGEX "/${name}\\.cpp$")
    if(NOT file)
      message(FATAL_ERROR "${target} has no ${name}.cpp to optimize")
    endif()
    list(APPEND chosen ${file})
  endforeach()
  list(REMOVE_ITEM sources ${chosen})
  set_property(TARGET ${target} PROPERTY SOURCES ${sources})
  compile_as(unoptimized ${target})
  if(chosen)
    add_library(${target}_optimized OBJECT ${chosen})
    foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS LINK_LIBRARIES)
      get_target_property(value ${target} ${property})
      if(value)
        set_property(TARGET ${target}_optimized PROPERTY ${property} ${value})
      endif()
    endforeach()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_optimized>)
    compile_as(optimized ${target}_optimized)
  endif()
endfunction()
