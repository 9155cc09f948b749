# SPDX-License-Identifier: MIT
# What `monitor serve` says of the windows of a recording that runs, as text for Prometheus.
add_library(monitor_metrics STATIC
  ${CMAKE_CURRENT_LIST_DIR}/exposition.cpp
  ${CMAKE_CURRENT_LIST_DIR}/families.cpp
  ${CMAKE_CURRENT_LIST_DIR}/figures.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metrics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/newest_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/window.cpp)
target_link_libraries(monitor_metrics PUBLIC monitor_live PRIVATE compiled_fmt)
