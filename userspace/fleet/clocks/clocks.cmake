# SPDX-License-Identifier: MIT
# One clock for all hosts of a run. Needs neither libnats nor libcrypto.
add_library(monitor_fleet_clocks STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_exchanges.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_loops.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_clocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_merge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_clock_error.cpp)
target_link_libraries(monitor_fleet_clocks PUBLIC monitor_check PRIVATE compiled_fmt)
