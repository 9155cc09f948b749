# SPDX-License-Identifier: MIT
# What the time of a thread was made of: its path back through those that it waited for.
add_library(monitor_path STATIC
  ${CMAKE_CURRENT_LIST_DIR}/causes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/chosen_activities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/chosen_requests.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ended_by.cpp
  ${CMAKE_CURRENT_LIST_DIR}/parts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path_fold.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stretches.cpp
  ${CMAKE_CURRENT_LIST_DIR}/subject.cpp
  ${CMAKE_CURRENT_LIST_DIR}/texts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/walk.cpp)
target_link_libraries(monitor_path PUBLIC monitor_reports PRIVATE compiled_fmt)
