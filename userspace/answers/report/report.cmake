# SPDX-License-Identifier: MIT
# Tables, CSV and JSON of what the analyses found.
add_library(monitor_report STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activities_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_tree.cpp
  ${CMAKE_CURRENT_LIST_DIR}/grouping.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measurements_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/row_writer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segments_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statistics_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/summary.cpp
  ${CMAKE_CURRENT_LIST_DIR}/table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/usage_report.cpp)
target_link_libraries(monitor_report PUBLIC monitor_statistics monitor_symbols nlohmann_json::nlohmann_json compiled_fmt)
