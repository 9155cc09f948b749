# SPDX-License-Identifier: MIT
# What `monitor top` shows of the windows of a recording that runs.
add_library(monitor_top STATIC
  ${CMAKE_CURRENT_LIST_DIR}/columns.cpp
  ${CMAKE_CURRENT_LIST_DIR}/picture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/row_filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stacks_shown.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/top.cpp)
target_link_libraries(monitor_top PUBLIC monitor_live monitor_terminal monitor_filter PRIVATE compiled_fmt)
