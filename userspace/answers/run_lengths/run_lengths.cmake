# SPDX-License-Identifier: MIT
# Run lengths of states: summed, listed, searched.
add_library(monitor_run_lengths STATIC
  ${CMAKE_CURRENT_LIST_DIR}/run_tables.cpp
  ${CMAKE_CURRENT_LIST_DIR}/totals.cpp)
target_link_libraries(monitor_run_lengths PUBLIC monitor_states monitor_report)
