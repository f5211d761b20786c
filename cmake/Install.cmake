# cmake --install, and find_package(Tandem) against what it puts there.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
install(TARGETS tandem EXPORT TandemTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tandem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${TANDEM_GEN_PUBLIC}/tandem DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT TandemTargets NAMESPACE Tandem:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tandem)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/TandemConfig.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
find_dependency(absl)
include("${CMAKE_CURRENT_LIST_DIR}/TandemTargets.cmake")
]])
write_basic_package_version_file(${CMAKE_BINARY_DIR}/TandemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/TandemConfig.cmake ${CMAKE_BINARY_DIR}/TandemConfigVersion.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tandem)
