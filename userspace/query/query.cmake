# SPDX-License-Identifier: MIT
# SQL over a trace: tables of SQLite that read it. Left out where SQLite is missing.
add_library(
  monitor_query STATIC
  query/activity_table.cpp
  query/checkpoints.cpp
  query/context.cpp
  query/database.cpp
  query/event_columns.cpp
  query/event_json.cpp
  query/event_scan.cpp
  query/event_table.cpp
  query/folded.cpp
  query/lists.cpp
  query/plan.cpp
  query/statement.cpp
  query/constraint.cpp
  query/times.cpp)
target_include_directories(monitor_query PUBLIC ${SQLite3_INCLUDE_DIRS})
# By name: the program for guests is linked without shared libraries.
target_link_libraries(monitor_query PUBLIC monitor_activities sqlite3 m ${CMAKE_DL_LIBS})
