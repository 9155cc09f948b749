# SPDX-License-Identifier: MIT
# The animation of a trace. What shows it in a terminal needs ncurses; frames as text do not.
add_library(monitor_play STATIC
  ${CMAKE_CURRENT_LIST_DIR}/cells.cpp
  ${CMAKE_CURRENT_LIST_DIR}/checkpoints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout_picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/placement.cpp
  ${CMAKE_CURRENT_LIST_DIR}/play.cpp
  ${CMAKE_CURRENT_LIST_DIR}/player.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recent.cpp
  ${CMAKE_CURRENT_LIST_DIR}/scene.cpp
  ${CMAKE_CURRENT_LIST_DIR}/speed.cpp)
target_link_libraries(monitor_play PUBLIC monitor_filter monitor_report)
if(MONITOR_SCREEN)
  target_sources(monitor_play PRIVATE ${CMAKE_CURRENT_LIST_DIR}/screen.cpp)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/screen.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # macros
  target_link_libraries(monitor_play PRIVATE ncursesw tinfo) # by name: also into a static program
else()
  target_sources(monitor_play PRIVATE ${CMAKE_CURRENT_LIST_DIR}/screen_left_out.cpp)
endif()
