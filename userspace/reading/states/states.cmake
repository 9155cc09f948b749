# SPDX-License-Identifier: MIT
# Trees of states: which state each CPU, each thread or the machine was in, and for how long; patterns over them.
add_library(monitor_states STATIC
  ${CMAKE_CURRENT_LIST_DIR}/automaton.cpp
  ${CMAKE_CURRENT_LIST_DIR}/classifier.cpp
  ${CMAKE_CURRENT_LIST_DIR}/evaluator.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matcher.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pattern.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorded_runs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/subject_knowledge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tree.cpp)
target_link_libraries(monitor_states PUBLIC monitor_activities)
target_link_libraries(monitor_states PRIVATE compiled_fmt)
