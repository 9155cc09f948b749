# SPDX-License-Identifier: MIT
# What a recording computes from its events while it runs: needs both the record side and the readers.
add_library(monitor_live STATIC
  ${CMAKE_CURRENT_LIST_DIR}/growing_description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/live_states.cpp)
target_link_libraries(monitor_live PUBLIC monitor_states PRIVATE monitor_record compiled_fmt)
