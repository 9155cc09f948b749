# SPDX-License-Identifier: MIT
# The periods of record --statistics.
add_library(monitor_periods STATIC
  ${CMAKE_CURRENT_LIST_DIR}/counted_periods.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lives.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_ages.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_files.cpp)
target_link_libraries(monitor_periods PUBLIC monitor_rings monitor_card monitor_recorder PRIVATE Threads::Threads)
