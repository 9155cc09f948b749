# SPDX-License-Identifier: MIT
# Models of programs: as text, learnt from recordings, and compared with recordings.
add_library(monitor_model STATIC
  ${CMAKE_CURRENT_LIST_DIR}/body.cpp
  ${CMAKE_CURRENT_LIST_DIR}/claims.cpp
  ${CMAKE_CURRENT_LIST_DIR}/comparison.cpp
  ${CMAKE_CURRENT_LIST_DIR}/inference.cpp
  ${CMAKE_CURRENT_LIST_DIR}/instances.cpp
  ${CMAKE_CURRENT_LIST_DIR}/iterations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_files.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_print.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_rules.cpp
  ${CMAKE_CURRENT_LIST_DIR}/relation_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/relations.cpp
  ${CMAKE_CURRENT_LIST_DIR}/samples_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/steps.cpp
  ${CMAKE_CURRENT_LIST_DIR}/structure.cpp
  ${CMAKE_CURRENT_LIST_DIR}/waits.cpp)
target_link_libraries(monitor_model PUBLIC monitor_activities monitor_cost PRIVATE compiled_fmt)
