# SPDX-License-Identifier: MIT
# What triggers do when they fire.
add_library(monitor_triggers STATIC
  ${CMAKE_CURRENT_LIST_DIR}/trigger_acts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trigger_runner.cpp
  ${CMAKE_CURRENT_LIST_DIR}/triggers.cpp)
target_link_libraries(monitor_triggers PUBLIC monitor_rings monitor_user_card monitor_card monitor_recorder)
