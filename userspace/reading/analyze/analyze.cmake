# SPDX-License-Identifier: MIT
# The one fold of events into states, and what is asked of it. Offline: no privilege, nothing of the record side.
add_library(monitor_analyze STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_bound.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counter_fold.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counters_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_kinds.cpp
  ${CMAKE_CURRENT_LIST_DIR}/exec_exchange.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fold_input.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fold_settings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/interrupt_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scheduling.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_tokens.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statistics_replay.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thread_fold.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thread_naming.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thread_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time_account.cpp)
target_link_libraries(monitor_analyze PUBLIC monitor_events nlohmann_json::nlohmann_json compiled_fmt)
