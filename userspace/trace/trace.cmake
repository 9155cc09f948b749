# SPDX-License-Identifier: MIT
# The offline reader of traces. Needs nothing of the record side.
add_library(monitor_trace STATIC
  ${CMAKE_CURRENT_LIST_DIR}/attributes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/completion.cpp
  ${CMAKE_CURRENT_LIST_DIR}/context_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cursor.cpp
  ${CMAKE_CURRENT_LIST_DIR}/decoder.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_selection.cpp
  ${CMAKE_CURRENT_LIST_DIR}/generic_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/enumeration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_class.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_ref.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/interpret.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metadata.cpp
  ${CMAKE_CURRENT_LIST_DIR}/listing.cpp
  ${CMAKE_CURRENT_LIST_DIR}/packet_reader.cpp
  ${CMAKE_CURRENT_LIST_DIR}/record_layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/record_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/references.cpp
  ${CMAKE_CURRENT_LIST_DIR}/skip_plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stream.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/compile.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/compile_fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/field_parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/parser.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/read.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/show.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tdl/token_reader.cpp
  ${CMAKE_CURRENT_LIST_DIR}/threads.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/token_layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/token_packets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/trace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/types.cpp)
target_link_libraries(monitor_trace PUBLIC monitor_base)
