# SPDX-License-Identifier: MIT
# A recording from its start to its end.
set(SYSCALL_NAMES ${CMAKE_BINARY_DIR}/generated/syscall_names.h)
set(TARGET_COMPILER ${CMAKE_C_COMPILER})
if(CMAKE_C_COMPILER_TARGET) # of a clang that compiles for another machine
  list(APPEND TARGET_COMPILER --target=${CMAKE_C_COMPILER_TARGET} --sysroot=${CMAKE_SYSROOT})
endif()
add_custom_command(
  OUTPUT ${SYSCALL_NAMES}
  COMMAND ${CMAKE_COMMAND} "-DCOMPILER=${TARGET_COMPILER}" -DOUTPUT=${SYSCALL_NAMES} -P
          ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/syscall_names.cmake
  VERBATIM)

add_library(monitor_session STATIC
  ${CMAKE_CURRENT_LIST_DIR}/card_options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/card_trials.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cgroup_figures.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cgroup_names.cpp
  ${CMAKE_CURRENT_LIST_DIR}/command.cpp
  ${CMAKE_CURRENT_LIST_DIR}/description.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ending.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_budget.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernel_counts.cpp
  ${CMAKE_CURRENT_LIST_DIR}/matched_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/metadata.cpp
  ${CMAKE_CURRENT_LIST_DIR}/online_cpus.cpp
  ${CMAKE_CURRENT_LIST_DIR}/proc_tasks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recorded_functions.cpp
  ${CMAKE_CURRENT_LIST_DIR}/recording_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/session.cpp
  ${CMAKE_CURRENT_LIST_DIR}/session_start.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_choice.cpp
  ${CMAKE_CURRENT_LIST_DIR}/state_streams.cpp
  ${CMAKE_CURRENT_LIST_DIR}/thread_lists.cpp
  ${SYSCALL_NAMES})
target_include_directories(monitor_session PRIVATE ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(monitor_session PUBLIC monitor_flight monitor_triggers monitor_periods monitor_calibration monitor_counting monitor_functions)
