# SPDX-License-Identifier: MIT
# Is a trace true? The verdicts of `monitor check`.
add_library(monitor_check STATIC
  ${CMAKE_CURRENT_LIST_DIR}/check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/conservation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counted_periods.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernel_comparison.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernel_totals.cpp
  ${CMAKE_CURRENT_LIST_DIR}/order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/passes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/states.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statistics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/throttled.cpp
  ${CMAKE_CURRENT_LIST_DIR}/times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_times.cpp
  ${CMAKE_CURRENT_LIST_DIR}/witness.cpp)
target_link_libraries(monitor_check PUBLIC monitor_collection monitor_report monitor_rules monitor_selection monitor_states PRIVATE compiled_fmt)
