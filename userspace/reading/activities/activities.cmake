# SPDX-License-Identifier: MIT
# Activities, from a begin to an end: what finds them, and what sums them. Offline: nothing of the record side.
add_library(monitor_activities STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activity_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/definition.cpp
  ${CMAKE_CURRENT_LIST_DIR}/finished.cpp
  ${CMAKE_CURRENT_LIST_DIR}/keys.cpp
  ${CMAKE_CURRENT_LIST_DIR}/open_activities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pairs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/patched_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/totals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tracker.cpp)
target_link_libraries(monitor_activities PUBLIC monitor_analyze monitor_filter)
target_link_libraries(monitor_activities PRIVATE compiled_fmt)
