# SPDX-License-Identifier: MIT
# Assertions over the events of a trace. Independent of the commands and of the record side.
add_library(monitor_rules STATIC
  ${CMAKE_CURRENT_LIST_DIR}/judge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/relation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rule.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rule_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/run.cpp)
target_link_libraries(monitor_rules PUBLIC monitor_listing monitor_activities PRIVATE compiled_fmt)
