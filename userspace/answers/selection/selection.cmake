# SPDX-License-Identifier: MIT
# What a reader of a trace restricts itself to.
add_library(monitor_selection STATIC
  ${CMAKE_CURRENT_LIST_DIR}/selection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thread_selection.cpp)
target_link_libraries(monitor_selection PUBLIC monitor_report PRIVATE compiled_fmt nlohmann_json::nlohmann_json)
