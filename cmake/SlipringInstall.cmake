# SPDX-License-Identifier: Apache-2.0
# What `find_package(slipring)` and `pkg-config slipring` find. Both work wherever the prefix is moved to.
include(CMakePackageConfigHelpers)

install(TARGETS slipring EXPORT slipring)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/slipring DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The headers name some of these pages, and those name the others and the examples.
set(installed_pages ${PROJECT_BINARY_DIR}/installed_pages)
install(CODE "set(SLIPRING_FROM \"${PROJECT_SOURCE_DIR}\")\nset(SLIPRING_TO \"${installed_pages}\")\nset(SLIPRING_BINDIR \"${CMAKE_INSTALL_BINDIR}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/installed_pages.cmake)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS
    PATTERN "*.md" EXCLUDE)
install(DIRECTORY ${installed_pages}/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET slipring_tool)
    install(TARGETS slipring_tool)
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
        install(FILES ${installed_pages}/slipring-serve@.service DESTINATION lib/systemd/system)
    endif()
endif()
if(TARGET slipring_cts)
    install(TARGETS slipring_cts)
endif()

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/slipring)
install(EXPORT slipring FILE slipringConfig.cmake NAMESPACE slipring:: DESTINATION ${config_folder})
write_basic_package_version_file(slipringConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/slipringConfigVersion.cmake DESTINATION ${config_folder})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
    BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig OUTPUT_VARIABLE prefix_from_pc)
configure_file(${PROJECT_SOURCE_DIR}/cmake/slipring.pc.in slipring.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/slipring.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
