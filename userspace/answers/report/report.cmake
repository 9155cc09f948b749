# SPDX-License-Identifier: MIT
# Tables, CSV and JSON of what the analyses found.
add_library(monitor_report STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activities_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/call_tree.cpp
  ${CMAKE_CURRENT_LIST_DIR}/counts_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/times_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/triggers_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/flame_graph.cpp
  ${CMAKE_CURRENT_LIST_DIR}/grouping.cpp
  ${CMAKE_CURRENT_LIST_DIR}/idle_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/leaf_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/measurements_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/named_stacks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/row_writer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/segments_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/periods_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/profile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/statistics_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/summary.cpp
  ${CMAKE_CURRENT_LIST_DIR}/table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/usage_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/virtual_table.cpp)
target_link_libraries(monitor_report PUBLIC monitor_cost monitor_statistics monitor_trigger monitor_symbols nlohmann_json::nlohmann_json compiled_fmt)
# The page is compiled in.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/flame_graph.html)
file(READ ${CMAKE_CURRENT_LIST_DIR}/flame_graph.html flame_graph_page)
configure_file(${CMAKE_CURRENT_LIST_DIR}/flame_graph_page.h.in ${CMAKE_CURRENT_BINARY_DIR}/report/flame_graph_page.h @ONLY)
target_include_directories(monitor_report PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/report)
