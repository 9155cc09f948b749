# SPDX-License-Identifier: MIT
# What changed from one recording to another.
add_library(monitor_diff STATIC
  ${CMAKE_CURRENT_LIST_DIR}/call_times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/comparison.cpp
  ${CMAKE_CURRENT_LIST_DIR}/comparison_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counted.cpp
  ${CMAKE_CURRENT_LIST_DIR}/inputs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recordings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/side.cpp
  ${CMAKE_CURRENT_LIST_DIR}/significance.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_rows.cpp)
target_link_libraries(monitor_diff PUBLIC monitor_report)
