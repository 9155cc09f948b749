# SPDX-License-Identifier: MIT
# The recorder's side of the user card.
add_library(monitor_user_card STATIC
  ${CMAKE_CURRENT_LIST_DIR}/user_wakeup_watch.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_wakeups.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_block.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_card.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_classes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_drain.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_known_classes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_merge.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_module.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_process.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_process_info.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_process_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_search.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_shared.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_socket.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user_triggers.cpp)
target_link_libraries(monitor_user_card PUBLIC monitor_recorder monitor_base compiled_fmt PRIVATE Threads::Threads)
