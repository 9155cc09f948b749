# SPDX-License-Identifier: MIT
# The offline reader of traces. Needs nothing of the record side.
add_library(monitor_trace STATIC
  ${CMAKE_CURRENT_LIST_DIR}/description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/interpret.cpp
  ${CMAKE_CURRENT_LIST_DIR}/protocol.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/threads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/types.cpp)
target_link_libraries(monitor_trace PUBLIC monitor_base)
