# The op functions of tandem/raw_ops.h, written at build time by a program that has all op definitions linked in.
# Call after the ops' layers and before tandem_layer(client).
set(TANDEM_RAW_OP_FILES 4)
set(opgen_objects)
foreach(layer ${TANDEM_LAYER_OBJECTS})
  list(APPEND opgen_objects $<TARGET_OBJECTS:${layer}>)
endforeach()
add_executable(opgen ${CMAKE_SOURCE_DIR}/src/client/opgen/opgen.cc ${opgen_objects})
target_include_directories(opgen PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${TANDEM_GEN})
target_link_libraries(opgen PRIVATE ${TANDEM_LIBS})
set_target_properties(opgen PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gen)

# A directory of its own: programs see nothing else of what is generated.
set(TANDEM_GEN_PUBLIC ${TANDEM_GEN}/public)
file(MAKE_DIRECTORY ${TANDEM_GEN_PUBLIC}/tandem)
set(TANDEM_RAW_OP_SOURCES)
math(EXPR last "${TANDEM_RAW_OP_FILES} - 1")
foreach(i RANGE ${last})
  list(APPEND TANDEM_RAW_OP_SOURCES ${TANDEM_GEN_PUBLIC}/raw_ops_${i}.cc)
endforeach()
add_custom_command(
  OUTPUT ${TANDEM_GEN_PUBLIC}/tandem/raw_ops.h ${TANDEM_RAW_OP_SOURCES}
  COMMAND opgen ${TANDEM_GEN_PUBLIC} ${TANDEM_RAW_OP_FILES}
  DEPENDS opgen
  COMMENT "Generating tandem/raw_ops.h")
add_custom_target(tandem_raw_ops_gen DEPENDS ${TANDEM_GEN_PUBLIC}/tandem/raw_ops.h ${TANDEM_RAW_OP_SOURCES})
add_library(tandem_raw_ops OBJECT ${TANDEM_RAW_OP_SOURCES})
target_compile_options(tandem_raw_ops PRIVATE -O1)
target_include_directories(tandem_raw_ops PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src ${TANDEM_GEN_PUBLIC})
target_link_libraries(tandem_raw_ops PRIVATE absl::status absl::statusor absl::strings absl::inlined_vector absl::span)
add_dependencies(tandem_raw_ops tandem_raw_ops_gen)
list(APPEND TANDEM_LAYER_OBJECTS tandem_raw_ops)
