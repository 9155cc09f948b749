# SPDX-License-Identifier: MIT
# The recorder as a process: its user, its directory, the other recorders of the machine.
add_library(monitor_recorder STATIC
  ${CMAKE_CURRENT_LIST_DIR}/confine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/directory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/process_numbers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorders.cpp
  ${CMAKE_CURRENT_LIST_DIR}/snapshot_question.cpp
  ${CMAKE_CURRENT_LIST_DIR}/user.cpp)
target_link_libraries(monitor_recorder PUBLIC monitor_base compiled_fmt)
