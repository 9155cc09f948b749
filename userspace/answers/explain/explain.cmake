# SPDX-License-Identifier: MIT
# Why was it slow: rules over the path of a command, and over what the machine did.
add_library(monitor_explain STATIC
  ${CMAKE_CURRENT_LIST_DIR}/activity.cpp
  ${CMAKE_CURRENT_LIST_DIR}/claims.cpp
  ${CMAKE_CURRENT_LIST_DIR}/explain.cpp
  ${CMAKE_CURRENT_LIST_DIR}/functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/finding.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fired.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_evidence.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path_evidence.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path_part.cpp
  ${CMAKE_CURRENT_LIST_DIR}/path_rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/priorities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reclaim.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slow_activities.cpp
  ${CMAKE_CURRENT_LIST_DIR}/slow_parts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thresholds.cpp)
target_link_libraries(monitor_explain PUBLIC monitor_path PRIVATE monitor_trigger compiled_fmt)
