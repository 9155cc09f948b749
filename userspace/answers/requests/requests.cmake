# SPDX-License-Identifier: MIT
# Events of several hosts with a common key: the steps of each request, how long they took, and how sure that is.
add_library(monitor_requests STATIC
  ${CMAKE_CURRENT_LIST_DIR}/answer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/backwards.cpp
  ${CMAKE_CURRENT_LIST_DIR}/events_by_key.cpp
  ${CMAKE_CURRENT_LIST_DIR}/host_clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/host_times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path.cpp
  ${CMAKE_CURRENT_LIST_DIR}/requests_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/step_tables.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/totals.cpp)
target_link_libraries(monitor_requests PUBLIC monitor_reports)
