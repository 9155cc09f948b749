# SPDX-License-Identifier: MIT
# The one fold of events into states, and what is asked of it. Offline: no privilege, nothing of the record side.
add_library(monitor_analyze STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_bound.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counter_fold.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counters_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_kinds.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_copy.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_states.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_statistics.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_time.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_windows.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scheduling.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/source.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks.cpp)
target_link_libraries(monitor_analyze PUBLIC monitor_events nlohmann_json::nlohmann_json compiled_fmt)
