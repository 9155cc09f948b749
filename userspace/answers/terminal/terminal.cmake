# SPDX-License-Identifier: MIT
# What is shown in a terminal, as cells, needs ncurses; cells as text do not.
add_library(monitor_terminal STATIC ${CMAKE_CURRENT_LIST_DIR}/cells.cpp)
target_link_libraries(monitor_terminal PUBLIC monitor_base PRIVATE compiled_fmt)
if(MONITOR_SCREEN)
  target_sources(monitor_terminal PRIVATE ${CMAKE_CURRENT_LIST_DIR}/screen.cpp)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/screen.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # macros
  target_link_libraries(monitor_terminal PRIVATE ncursesw tinfo) # by name: also into a static program
else()
  target_sources(monitor_terminal PRIVATE ${CMAKE_CURRENT_LIST_DIR}/screen_left_out.cpp)
endif()
