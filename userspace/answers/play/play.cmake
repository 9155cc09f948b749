# SPDX-License-Identifier: MIT
# The animation of a trace.
add_library(monitor_play STATIC
  ${CMAKE_CURRENT_LIST_DIR}/checkpoints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout_picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout_scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/placement.cpp
  ${CMAKE_CURRENT_LIST_DIR}/play.cpp
  ${CMAKE_CURRENT_LIST_DIR}/player.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recent.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/speed.cpp)
target_link_libraries(monitor_play PUBLIC monitor_terminal monitor_filter monitor_report)
