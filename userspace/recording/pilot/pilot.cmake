# SPDX-License-Identifier: MIT
# Programs run alternately without and with probes.
add_library(monitor_pilot STATIC
  ${CMAKE_CURRENT_LIST_DIR}/builtin_workloads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/code_factors.cpp
  ${CMAKE_CURRENT_LIST_DIR}/paired.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pilot.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pilot_result.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trial_card.cpp)
target_link_libraries(monitor_pilot PUBLIC monitor_session)
