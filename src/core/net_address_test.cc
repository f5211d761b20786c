#include "core/net_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tandem {
namespace {

TEST(ParseHostPort, GoodOnesComeBack) {
  for (const char* text : {"localhost:2222", "10.0.0.1:1", "ps-0.ns.svc:65535", "my_host:0", "[::1]:2222", "[fe80::1%eth0]:2222", "[::ffff:10.0.0.1]:80"}) {
    StatusOr<HostPort> parsed = ParseHostPort(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(parsed->ToString(), text);
  }
}

TEST(ParseHostPort, MalformedOnesAreQuoted) {
  for (const char* text : {"::1:2222", "host", "host:", "host:99999", "host:-1", "http://h:1", "grpc://h:1", "h:1/", "", ":1", "host:1 ", " host:1", "h:+1",
                           "[::1]", "[::1:2222", "[::1]2222", "[host]:1", "[]:1", "a b:1", "h:1,h:2", "h:0x10", "h/x:1", "user@h:1"}) {
    Status status = ParseHostPort(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find(absl::StrCat("\"", text, "\"")), absl::string_view::npos) << status;
  }
}

TEST(CheckCanListen, SaysWhyNot) {
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(other, 1), 0);
  ASSERT_EQ(getsockname(other, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const HostPort taken{"127.0.0.1", ntohs(address.sin_port)};
  EXPECT_EQ(CheckCanListen(taken), Unavailable("cannot listen on ", taken.ToString(), ": the port is in use"));
  close(other);
  EXPECT_TRUE(CheckCanListen(taken).ok());
  EXPECT_EQ(CheckCanListen({"192.0.2.1", 2222}), Unavailable("cannot listen on 192.0.2.1:2222: the host is not this machine"));
  EXPECT_EQ(CheckCanListen({"no-such-host.invalid", 2222}).code(), absl::StatusCode::kUnavailable);
}

TEST(LocalHostName, IsNeverEmpty) { EXPECT_FALSE(LocalHostName().empty()); }

}  // namespace
}  // namespace tandem
