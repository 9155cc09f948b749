# SPDX-License-Identifier: MIT
# The collector of a fleet: stores what hosts send. Only the service needs libnats.
add_library(monitor_fleet_collector STATIC
  ${CMAKE_CURRENT_LIST_DIR}/block_writer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_answers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_relays.cpp
  ${CMAKE_CURRENT_LIST_DIR}/collector.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cost_account.cpp
  ${CMAKE_CURRENT_LIST_DIR}/descriptions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/disk_sync.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run_directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/syncer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/system_clock_log.cpp)
target_link_libraries(monitor_fleet_collector PUBLIC monitor_fleet_wire PRIVATE compiled_fmt Threads::Threads)
if(MONITOR_FLEET)
  target_sources(monitor_fleet_collector PRIVATE ${CMAKE_CURRENT_LIST_DIR}/collector_service.cpp)
  target_link_libraries(monitor_fleet_collector PUBLIC monitor_fleet_connection PRIVATE monitor_fleet_control)
endif()
