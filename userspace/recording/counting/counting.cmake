# SPDX-License-Identifier: MIT
# The counters of a recording, and what tokens hold of them.
add_library(monitor_counting STATIC
  ${CMAKE_CURRENT_LIST_DIR}/counter_classes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counters.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ratio_pairs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_reads.cpp)
target_link_libraries(monitor_counting PUBLIC monitor_rings monitor_card monitor_recorder monitor_pmu)
