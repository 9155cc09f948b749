# SPDX-License-Identifier: MIT
# cmake "-DCOMPILER=cc;OPTION..." -DOUTPUT=FILE -P syscall_names.cmake: this architecture's system calls as a C++ table.
execute_process(COMMAND ${COMPILER} -E -dM -x c /dev/null -include asm/unistd.h OUTPUT_VARIABLE MACROS
                RESULT_VARIABLE FAILED)
if(FAILED)
  message(FATAL_ERROR "the kernel's headers (asm/unistd.h) are missing: install linux-libc-dev")
endif()
string(REGEX MATCHALL "#define __NR_[a-z0-9_]+ [0-9]+\n" LINES "${MACROS}")
if(NOT LINES)
  message(FATAL_ERROR "asm/unistd.h names no system calls")
endif()
set(TABLE "")
foreach(LINE IN LISTS LINES)
  string(REGEX REPLACE "#define __NR_([a-z0-9_]+) ([0-9]+)\n" "\t{\\2, \"\\1\"},\n" ROW "${LINE}")
  string(APPEND TABLE "${ROW}")
endforeach()
file(WRITE ${OUTPUT} "#pragma once\nstruct SyscallName {\n\tunsigned number;\n\tconst char *name;\n};\n\n"
                     "constexpr SyscallName syscall_names[] = {\n${TABLE}};\n")
