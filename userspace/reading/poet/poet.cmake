# SPDX-License-Identifier: MIT
# POET, the public library for reading traces: a shared library around events/ and filter/, whose symbols stay inside.
add_library(poet SHARED
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/core.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cursor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event.cpp
  ${CMAKE_CURRENT_LIST_DIR}/faults.cpp
  ${CMAKE_CURRENT_LIST_DIR}/filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/index.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/value_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/visit.cpp
  ${CMAKE_CURRENT_LIST_DIR}/walk.cpp
  ${CMAKE_CURRENT_LIST_DIR}/walker.cpp)
set(poet_map ${CMAKE_CURRENT_LIST_DIR}/poet.map)
set_target_properties(poet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS ${poet_map})
# nodelete: its handler of SIGBUS (base/mapped_file.h) stays
target_link_options(poet PRIVATE LINKER:--version-script=${poet_map} LINKER:-z,nodelete)
target_include_directories(poet PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>)
target_link_libraries(poet PRIVATE monitor_filter Threads::Threads)
add_library(poet::poet ALIAS poet)
target_compile_features(poet PUBLIC cxx_std_20)
include(${CMAKE_CURRENT_LIST_DIR}/install.cmake)
