# SPDX-License-Identifier: MIT
# What a recording computes from its events while it runs: needs both the record side and the readers.
add_library(monitor_live STATIC
  ${CMAKE_CURRENT_LIST_DIR}/details.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_fold.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_states.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_statistics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_totals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measured_rows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/named_window.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_activities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_records.cpp
  ${CMAKE_CURRENT_LIST_DIR}/period_sums.cpp
  ${CMAKE_CURRENT_LIST_DIR}/refresh.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_naming.cpp
  ${CMAKE_CURRENT_LIST_DIR}/virtual_fold.cpp)
target_link_libraries(monitor_live PUBLIC monitor_states monitor_report PRIVATE monitor_periods compiled_fmt)
