# SPDX-License-Identifier: MIT
# The events of a trace in the order of time. Needs nothing of the record side.
add_library(monitor_events STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_map.cpp
  ${CMAKE_CURRENT_LIST_DIR}/collection_clocks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cursor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/decoder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_selection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fetched_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_ref.cpp
  ${CMAKE_CURRENT_LIST_DIR}/generic_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_streams.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/merge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/packet_reader.cpp
  ${CMAKE_CURRENT_LIST_DIR}/record_order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/record_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/threads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/token_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace.cpp)
target_link_libraries(monitor_events PUBLIC monitor_tdl)
