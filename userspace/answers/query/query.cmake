# SPDX-License-Identifier: MIT
# SQL over a trace: tables of SQLite that read it. Left out where SQLite is missing.
add_library(monitor_query STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activity_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/checkpoints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/constraint.cpp
  ${CMAKE_CURRENT_LIST_DIR}/context.cpp
  ${CMAKE_CURRENT_LIST_DIR}/database.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_json.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_scan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/folded.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lists.cpp
  ${CMAKE_CURRENT_LIST_DIR}/order_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statement.cpp
  ${CMAKE_CURRENT_LIST_DIR}/times.cpp)
target_include_directories(monitor_query PUBLIC ${SQLite3_INCLUDE_DIRS})
# By name: the program for guests is linked without shared libraries.
target_link_libraries(monitor_query PUBLIC monitor_activities sqlite3 m ${CMAKE_DL_LIBS})
