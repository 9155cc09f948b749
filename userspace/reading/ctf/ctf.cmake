# SPDX-License-Identifier: MIT
# Descriptions of traces: TSDL, CTF 2, the field model, layouts. Needs nothing of the record side.
add_library(monitor_ctf STATIC
  ${CMAKE_CURRENT_LIST_DIR}/attributes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/clock.cpp
  ${CMAKE_CURRENT_LIST_DIR}/completion.cpp
  ${CMAKE_CURRENT_LIST_DIR}/context_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/enumeration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_class.cpp
  ${CMAKE_CURRENT_LIST_DIR}/field_text.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fields.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fragments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/interpret.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json_sequence.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json_slots.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metadata.cpp
  ${CMAKE_CURRENT_LIST_DIR}/record_layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/references.cpp
  ${CMAKE_CURRENT_LIST_DIR}/skip_plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/token_layout.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_lexer.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tsdl_types.cpp
  ${CMAKE_CURRENT_LIST_DIR}/types.cpp)
target_link_libraries(monitor_ctf PUBLIC monitor_base)
