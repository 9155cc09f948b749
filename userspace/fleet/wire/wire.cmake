# SPDX-License-Identifier: MIT
# What hosts say to each other. The connection needs libnats, signatures need libcrypto.
add_library(monitor_fleet_wire STATIC
  ${CMAKE_CURRENT_LIST_DIR}/batch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock_message.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fetch_request.cpp
  ${CMAKE_CURRENT_LIST_DIR}/hub.cpp
  ${CMAKE_CURRENT_LIST_DIR}/names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/system_clock.cpp)
target_link_libraries(monitor_fleet_wire PUBLIC monitor_base nlohmann_json::nlohmann_json PRIVATE compiled_fmt)
if(MONITOR_FLEET)
  add_library(monitor_fleet_connection STATIC ${CMAKE_CURRENT_LIST_DIR}/connection.cpp)
  target_include_directories(monitor_fleet_connection SYSTEM PRIVATE ${NATS_INCLUDE})
  target_link_libraries(monitor_fleet_connection PUBLIC monitor_fleet_wire PRIVATE compiled_fmt ${NATS_LIBRARY} OpenSSL::Crypto Threads::Threads)
  add_library(monitor_fleet_control STATIC
    ${CMAKE_CURRENT_LIST_DIR}/allowed_options.cpp
    ${CMAKE_CURRENT_LIST_DIR}/control.cpp
    ${CMAKE_CURRENT_LIST_DIR}/keys.cpp
    ${CMAKE_CURRENT_LIST_DIR}/reports.cpp
    ${CMAKE_CURRENT_LIST_DIR}/snapshot_news.cpp)
  target_link_libraries(monitor_fleet_control PUBLIC monitor_fleet_wire PRIVATE compiled_fmt OpenSSL::Crypto)
endif()
