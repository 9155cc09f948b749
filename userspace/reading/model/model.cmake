# SPDX-License-Identifier: MIT
# Models of programs: as text, found in recordings, and compared with them. Needs nothing of the record side.
add_library(monitor_model STATIC
  ${CMAKE_CURRENT_LIST_DIR}/model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_print.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples_text.cpp)
target_link_libraries(monitor_model PUBLIC monitor_base PRIVATE compiled_fmt)
