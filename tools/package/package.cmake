# SPDX-License-Identifier: MIT
# Debian packages by cpack(1), `cmake --build build --target package`: monitor, libpoet-dev, and monitor-dkms, the
# kernel module's source that dkms(8) builds for every kernel of the machine.
install(DIRECTORY kmod/ include DESTINATION src/monitor-${PROJECT_VERSION} COMPONENT dkms EXCLUDE_FROM_ALL
        PATTERN .clang-format EXCLUDE
        PATTERN poet EXCLUDE)
install(FILES tools/package/dkms/60-monitor.rules DESTINATION lib/udev/rules.d COMPONENT dkms EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL monitor poet dkms)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_NAME monitor)
set(CPACK_PACKAGE_CONTACT "The authors of monitor <root@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)

set(CPACK_DEBIAN_MONITOR_PACKAGE_NAME monitor)
set(CPACK_DEBIAN_MONITOR_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MONITOR_PACKAGE_SUGGESTS "monitor-dkms, nats-server")
if(MONITOR_RECORD AND MONITOR_FLEET)
  set(CPACK_DEBIAN_MONITOR_PACKAGE_DEPENDS passwd)
  set(CPACK_DEBIAN_MONITOR_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/tools/package/monitor/postinst)
  set(CPACK_DEBIAN_MONITOR_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
set(CPACK_COMPONENT_MONITOR_DESCRIPTION "Hybrid monitor: kernel and program events as tokens, with counters
Records scheduler, interrupts, system calls, faults and a program's own points with little intrusion, and answers who
used the CPUs, in which mode, and what was waited for.")
set(CPACK_DEBIAN_POET_PACKAGE_NAME libpoet-dev)
set(CPACK_DEBIAN_POET_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_POET_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_POET_DESCRIPTION "Reading any trace from C++: the library of monitor
Traces of monitor, of any tracer in CTF 1.8, and files with a description in TDL.")
set(CPACK_DEBIAN_DKMS_PACKAGE_NAME monitor-dkms)
set(CPACK_DEBIAN_DKMS_PACKAGE_SECTION kernel)
set(CPACK_DEBIAN_DKMS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DKMS_PACKAGE_DEPENDS "dkms, passwd")
set(CPACK_DEBIAN_DKMS_PACKAGE_RECOMMENDS "monitor, dwarves")
set(CPACK_COMPONENT_DKMS_DESCRIPTION "Kernel module of monitor: the event-data card
Probes and rings in the kernel, at half the cost of the BPF card; samples of all CPUs at once;
rings for programs of the group monitor. Not needed to record.")
foreach(script postinst prerm)
  configure_file(tools/package/dkms/${script}.in ${CMAKE_BINARY_DIR}/generated/dkms/${script} @ONLY)
  list(APPEND CPACK_DEBIAN_DKMS_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/generated/dkms/${script})
endforeach()
set(CPACK_DEBIAN_DKMS_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
