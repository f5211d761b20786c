# proto/*.proto -> <build>/gen/proto/*.pb.{h,cc}, and the service's stubs; one object library.
file(GLOB TANDEM_PROTOS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/proto/*.proto)
set(TANDEM_GEN ${CMAKE_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${TANDEM_GEN})
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
set(TANDEM_PROTO_SOURCES)
set(TANDEM_PROTO_HEADERS)
foreach(file ${TANDEM_PROTOS})
  get_filename_component(name ${file} NAME_WE)
  list(APPEND TANDEM_PROTO_SOURCES ${TANDEM_GEN}/proto/${name}.pb.cc)
  list(APPEND TANDEM_PROTO_HEADERS ${TANDEM_GEN}/proto/${name}.pb.h)
endforeach()
list(APPEND TANDEM_PROTO_SOURCES ${TANDEM_GEN}/proto/services.grpc.pb.cc)
list(APPEND TANDEM_PROTO_HEADERS ${TANDEM_GEN}/proto/services.grpc.pb.h)
add_custom_command(
  OUTPUT ${TANDEM_PROTO_SOURCES} ${TANDEM_PROTO_HEADERS}
  COMMAND ${PROTOC} -I${CMAKE_SOURCE_DIR} --cpp_out=${TANDEM_GEN} ${TANDEM_PROTOS}
  COMMAND ${PROTOC} -I${CMAKE_SOURCE_DIR} --grpc_out=${TANDEM_GEN} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${CMAKE_SOURCE_DIR}/proto/services.proto
  DEPENDS ${TANDEM_PROTOS}
  COMMENT "Generating messages from proto/")
add_custom_target(tandem_proto_gen DEPENDS ${TANDEM_PROTO_SOURCES} ${TANDEM_PROTO_HEADERS})
add_library(tandem_proto OBJECT ${TANDEM_PROTO_SOURCES})
target_include_directories(tandem_proto PUBLIC ${TANDEM_GEN})
target_compile_options(tandem_proto PRIVATE -O1 -Wno-all -Wno-extra)
target_link_libraries(tandem_proto PUBLIC protobuf::libprotobuf gRPC::grpc++)
add_dependencies(tandem_proto tandem_proto_gen)
