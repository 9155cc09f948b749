# SPDX-License-Identifier: MIT
# What brings traces to a fleet's collector. Only what speaks with the hub needs libnats.
add_library(monitor_fleet_forward STATIC
  ${CMAKE_CURRENT_LIST_DIR}/forwarding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/forwarding_fetch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/progress.cpp
  ${CMAKE_CURRENT_LIST_DIR}/send_window.cpp
  ${CMAKE_CURRENT_LIST_DIR}/spool.cpp
  ${CMAKE_CURRENT_LIST_DIR}/system_clock_read.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_parts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_tail.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace_tail_fetch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/window_blocks.cpp)
target_link_libraries(monitor_fleet_forward PUBLIC monitor_fleet_wire PRIVATE compiled_fmt Threads::Threads)
if(MONITOR_FLEET)
  target_sources(monitor_fleet_forward PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/clock_exchange.cpp
    ${CMAKE_CURRENT_LIST_DIR}/nats_forwarder.cpp)
  target_link_libraries(monitor_fleet_forward PUBLIC monitor_fleet_connection)
endif()
