# SPDX-License-Identifier: MIT
# FDL, the expression language over the events of a trace, and pairs of events in it. Independent of the commands.
add_library(monitor_filter STATIC
  ${CMAKE_CURRENT_LIST_DIR}/check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/compile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/condition.cpp
  ${CMAKE_CURRENT_LIST_DIR}/disjunction.cpp
  ${CMAKE_CURRENT_LIST_DIR}/filter.cpp
  ${CMAKE_CURRENT_LIST_DIR}/lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/number.cpp
  ${CMAKE_CURRENT_LIST_DIR}/pair_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ranges.cpp
  ${CMAKE_CURRENT_LIST_DIR}/value_source.cpp
  ${CMAKE_CURRENT_LIST_DIR}/text_match.cpp)
target_link_libraries(monitor_filter PUBLIC monitor_events PRIVATE compiled_fmt)
