# SPDX-License-Identifier: MIT
# libmonitor_preload.so, which `record --functions` loads into the command's processes to patch their functions.
# trampolines.c says why it uses general registers only. Its constructors run first (-z initfirst), while no other thread
# exists, in the order of the files here: post.c connects to the recorder.
include(GNUInstallDirs)
set(PRELOADED_BUILT "")
set(PRELOADED_INSTALLED none)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(monitor_preload SHARED
    ${CMAKE_CURRENT_LIST_DIR}/post.c
    ${CMAKE_CURRENT_LIST_DIR}/mappings.c
    ${CMAKE_CURRENT_LIST_DIR}/patch.c
    ${CMAKE_CURRENT_LIST_DIR}/trampolines.c)
  set_target_properties(monitor_preload PROPERTIES UNITY_BUILD OFF C_VISIBILITY_PRESET hidden)
  target_include_directories(monitor_preload PRIVATE ${CMAKE_SOURCE_DIR}/include)
  target_compile_options(monitor_preload PRIVATE -O2 -mgeneral-regs-only -ftls-model=initial-exec -fno-stack-protector
    -U_FORTIFY_SOURCE $<IF:$<C_COMPILER_ID:GNU>,-fno-tree-loop-distribute-patterns,-fno-builtin>)
  target_link_options(monitor_preload PRIVATE -Wl,-z,now -Wl,-z,initfirst -Wl,-z,defs)
  install(TARGETS monitor_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/monitor)
  set(PRELOADED_BUILT $<TARGET_FILE:monitor_preload>)
  set(PRELOADED_INSTALLED ${CMAKE_INSTALL_LIBDIR}/monitor/$<TARGET_FILE_NAME:monitor_preload>)
endif()
