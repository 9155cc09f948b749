# SPDX-License-Identifier: MIT
# Traces of several machines as one. Needs nothing of the record side.
add_library(monitor_collection STATIC
  ${CMAKE_CURRENT_LIST_DIR}/clock_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/collection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/messages.cpp)
target_link_libraries(monitor_collection PUBLIC monitor_statistics nlohmann_json::nlohmann_json)
target_link_libraries(monitor_collection PRIVATE fmt::fmt-header-only)
