# SPDX-License-Identifier: MIT
# The reports of `monitor report`.
add_library(monitor_reports STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fold_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/folded_stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/triggers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/usage.cpp)
target_link_libraries(monitor_reports PUBLIC monitor_plot monitor_selection PRIVATE compiled_fmt)
