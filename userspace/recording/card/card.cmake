# SPDX-License-Identifier: MIT
# The cards in the kernel: compile the BPF objects, make their skeletons, wrap them.
# Found to say early what is missing; linked by name, so that a static program gets the static ones.
find_library(BPF_LIBRARY bpf REQUIRED)
find_library(ELF_LIBRARY elf REQUIRED)
find_library(Z_LIBRARY z REQUIRED)
find_program(BPF_CLANG NAMES clang clang-14 REQUIRED)
find_program(BPFTOOL bpftool PATHS /usr/sbin /sbin REQUIRED)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(BPF_ARCH arm64)
else()
  set(BPF_ARCH x86)
endif()

file(GLOB BPF_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bpf/*.bpf.[ch] ${CMAKE_SOURCE_DIR}/include/monitor/*.h)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated)
foreach(OBJECT card preemption)
  add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/generated/${OBJECT}.skel.h ${CMAKE_BINARY_DIR}/${OBJECT}.bpf.o
    COMMAND ${BPF_CLANG} -O2 -g -target bpf -mcpu=v3 -Wall -fstack-size-section -D__TARGET_ARCH_${BPF_ARCH} -I${CMAKE_SOURCE_DIR}/include
            -I${CMAKE_SOURCE_DIR}/bpf -idirafter ${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c
            ${CMAKE_SOURCE_DIR}/bpf/${OBJECT}.bpf.c -o ${CMAKE_BINARY_DIR}/${OBJECT}.bpf.o
    COMMAND ${BPFTOOL} gen skeleton ${CMAKE_BINARY_DIR}/${OBJECT}.bpf.o name ${OBJECT} > ${CMAKE_BINARY_DIR}/generated/${OBJECT}.skel.h
    DEPENDS ${BPF_SOURCES}
    COMMENT "BPF object ${OBJECT}"
    VERBATIM)
endforeach()
# First of all: what takes longest waits for them.
add_custom_target(bpf_skeletons DEPENDS ${CMAKE_BINARY_DIR}/generated/card.skel.h ${CMAKE_BINARY_DIR}/generated/preemption.skel.h)

add_library(monitor_card STATIC
  ${CMAKE_CURRENT_LIST_DIR}/bpf_card.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bpf_card_attach.cpp
  ${CMAKE_CURRENT_LIST_DIR}/bpf_link.cpp
  ${CMAKE_CURRENT_LIST_DIR}/card_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/card_programs.cpp
  ${CMAKE_CURRENT_LIST_DIR}/classes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/cpu_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/event_opener.cpp
  ${CMAKE_CURRENT_LIST_DIR}/fault_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/function_probes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/kernel_features.cpp
  ${CMAKE_CURRENT_LIST_DIR}/module_card.cpp
  ${CMAKE_CURRENT_LIST_DIR}/own_code_offsets.cpp
  ${CMAKE_CURRENT_LIST_DIR}/preemption.cpp
  ${CMAKE_CURRENT_LIST_DIR}/preflight_checks.cpp
  ${CMAKE_CURRENT_LIST_DIR}/program_ring.cpp
  ${CMAKE_CURRENT_LIST_DIR}/reset_events.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sample_timers.cpp
  ${CMAKE_CURRENT_LIST_DIR}/stack_probes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/task_lists.cpp
  ${CMAKE_BINARY_DIR}/generated/card.skel.h
  ${CMAKE_BINARY_DIR}/generated/preemption.skel.h)
# Tests have a card of their own in its place (tests/record), so its files are members of their own.
set_source_files_properties(
  ${CMAKE_CURRENT_LIST_DIR}/bpf_card.cpp ${CMAKE_CURRENT_LIST_DIR}/bpf_card_attach.cpp ${CMAKE_CURRENT_LIST_DIR}/card_memory.cpp
  ${CMAKE_CURRENT_LIST_DIR}/card_programs.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_include_directories(monitor_card PRIVATE ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(monitor_card PUBLIC monitor_recorder monitor_base compiled_fmt PRIVATE bpf elf z Threads::Threads)
