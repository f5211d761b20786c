// Addresses of tasks: "host:port", "10.0.0.1:2222", "[::1]:2222".
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "core/status.h"

namespace tandem {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;      // 0 to 65535; 0 lets the system choose

  std::string ToString() const;  // with brackets around an IPv6 address
  bool operator==(const HostPort& other) const { return host == other.host && port == other.port; }
};

// InvalidArgument, quoting `text`, unless it is a name or address and a port number: no scheme, no path, no bare IPv6 address.
StatusOr<HostPort> ParseHostPort(absl::string_view text);

// Unavailable, naming the address and the reason, if nothing could listen on `address` now. A moment later that may have changed.
Status CheckCanListen(const HostPort& address);

// The name of this machine, "localhost" if it has none.
std::string LocalHostName();

}  // namespace tandem
