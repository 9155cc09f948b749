# SPDX-License-Identifier: MIT
# TDL, the language that describes other traces. Needs nothing of the record side.
add_library(monitor_tdl STATIC
  ${CMAKE_CURRENT_LIST_DIR}/compile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/compile_fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/other_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/read.cpp
  ${CMAKE_CURRENT_LIST_DIR}/show.cpp
  ${CMAKE_CURRENT_LIST_DIR}/token_reader.cpp)
target_link_libraries(monitor_tdl PUBLIC monitor_ctf)
