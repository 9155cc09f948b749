# SPDX-License-Identifier: MIT
# The flight recorder: its rings, requests and snapshots.
add_library(monitor_flight STATIC
  ${CMAKE_CURRENT_LIST_DIR}/begun_snapshots.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_recorder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flight_rings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot_requests.cpp)
target_link_libraries(monitor_flight PUBLIC monitor_triggers monitor_rings monitor_user_card monitor_card monitor_recorder PRIVATE Threads::Threads)
