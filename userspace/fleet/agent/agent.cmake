# SPDX-License-Identifier: MIT
# `monitor agent`: records when the operator of a fleet asks for it.
add_library(monitor_fleet_agent STATIC
  ${CMAKE_CURRENT_LIST_DIR}/agent.cpp
  ${CMAKE_CURRENT_LIST_DIR}/coordinated_snapshots.cpp
  ${CMAKE_CURRENT_LIST_DIR}/data_path.cpp
  ${CMAKE_CURRENT_LIST_DIR}/link.cpp
  ${CMAKE_CURRENT_LIST_DIR}/network_process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/nonces.cpp
  ${CMAKE_CURRENT_LIST_DIR}/privileged_process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorder_process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot_answer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot_commands.cpp)
target_link_libraries(monitor_fleet_agent PUBLIC monitor_flight monitor_fleet_forward monitor_fleet_keys PRIVATE compiled_fmt)
