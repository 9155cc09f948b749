# SPDX-License-Identifier: MIT
# The operator's side of a fleet: who is there, commands, and what became of them.
add_library(monitor_fleet_operator STATIC
  ${CMAKE_CURRENT_LIST_DIR}/command.cpp
  ${CMAKE_CURRENT_LIST_DIR}/coordinated_view.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cost_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fleet_tables.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fleet_view.cpp)
target_link_libraries(monitor_fleet_operator PUBLIC monitor_report monitor_fleet_control monitor_fleet_connection PRIVATE compiled_fmt)
