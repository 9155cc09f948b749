# SPDX-License-Identifier: MIT
# What measuring costs, and the times without it.
add_library(monitor_cost STATIC
  ${CMAKE_CURRENT_LIST_DIR}/probe_cost.cpp
  ${CMAKE_CURRENT_LIST_DIR}/virtual_clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/virtual_cost.cpp
  ${CMAKE_CURRENT_LIST_DIR}/virtual_times.cpp)
target_link_libraries(monitor_cost PUBLIC monitor_analyze PRIVATE compiled_fmt)
