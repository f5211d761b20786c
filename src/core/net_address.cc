#include "core/net_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tandem {
namespace {

Status Malformed(absl::string_view text, absl::string_view why) { return InvalidArgument("\"", text, "\" is not an address of the form host:port: ", why); }

bool IsIpv6(absl::string_view host) {
  std::string address(host.substr(0, host.find('%')));  // a link-local address may name its interface: fe80::1%eth0
  in6_addr parsed;
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool IsHostName(absl::string_view host) {
  return !host.empty() && host.size() <= 253 &&
         std::all_of(host.begin(), host.end(), [](char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_'; });
}

bool ParsePort(absl::string_view text, int* port) {
  bool is_number = !text.empty() && text.size() <= 5 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number && absl::SimpleAtoi(text, port) && *port <= 65535;
}

}  // namespace

std::string HostPort::ToString() const {
  bool is_ipv6 = host.find(':') != std::string::npos;
  return absl::StrCat(is_ipv6 ? "[" : "", host, is_ipv6 ? "]:" : ":", port);
}

StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  HostPort parsed;
  absl::string_view rest = text;
  absl::string_view host;
  if (absl::ConsumePrefix(&rest, "[")) {
    size_t close = rest.find(']');
    if (close == absl::string_view::npos) return Malformed(text, "the bracket is not closed");
    host = rest.substr(0, close);
    rest.remove_prefix(close + 1);
    if (!IsIpv6(host)) return Malformed(text, "the brackets do not hold an IPv6 address");
    if (!absl::ConsumePrefix(&rest, ":")) return Malformed(text, "there is no port");
  } else {
    size_t colon = rest.find(':');
    if (rest.find("://") != absl::string_view::npos) return Malformed(text, "a scheme does not belong there");
    if (colon == absl::string_view::npos) return Malformed(text, "there is no port");
    if (rest.rfind(':') != colon) return Malformed(text, "an IPv6 address needs brackets, as in [::1]:2222");
    host = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
    if (!IsHostName(host)) return Malformed(text, "there is no host name");
  }
  if (!ParsePort(rest, &parsed.port)) return Malformed(text, "the port must be a number from 0 to 65535");
  parsed.host = std::string(host);
  return parsed;
}

Status CheckCanListen(const HostPort& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const int unknown = getaddrinfo(address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  if (unknown != 0) return Unavailable("cannot listen on ", address.ToString(), ": the host is not known: ", gai_strerror(unknown));
  // One that works is enough: a name may have addresses of other kinds too.
  bool is_free = false;
  int error = 0;
  for (const addrinfo* entry = found; entry != nullptr && !is_free; entry = entry->ai_next) {
    const int made = socket(entry->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;  // as a server does: the last owner's closed connections are no hindrance
    is_free = made >= 0 && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 && bind(made, entry->ai_addr, entry->ai_addrlen) == 0;
    if (!is_free) error = errno;
    if (made >= 0) close(made);
  }
  freeaddrinfo(found);
  if (is_free) return OkStatus();
  if (error == EADDRINUSE) return Unavailable("cannot listen on ", address.ToString(), ": the port is in use");
  if (error == EADDRNOTAVAIL) return Unavailable("cannot listen on ", address.ToString(), ": the host is not this machine");
  return Unavailable("cannot listen on ", address.ToString(), ": ", std::strerror(error));
}

std::string LocalHostName() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

}  // namespace tandem
