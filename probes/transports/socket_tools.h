// What TCP, UDP and ICMP sockets share: addresses, the error queue, and how a failed system call or
// an ICMP error reads as an outcome.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "policy/support/handle.h"
#include "probes/transports/transport.h"

namespace bulkhead::probes {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};
[[nodiscard]] SocketAddress socket_address(const Address& address, std::uint16_t port);
[[nodiscard]] std::pair<Address, std::uint16_t> from_socket_address(const SocketAddress& address);

// Non-blocking, close-on-exec. Invalid on failure, errno set.
[[nodiscard]] UniqueFd open_socket(Family family, int type, int protocol = 0);
void set_option(int fd, int level, int name, int value);  // best effort
// Asks the kernel to keep ICMP errors, with their type, code and sender.
void keep_icmp_errors(int fd, Family family);
// Binds to the planned source, connects to the planned destination, and keeps ICMP errors. None:
// under way or done.
[[nodiscard]] std::optional<Ending> connect_as_planned(int fd, const Tuple& tuple);
// Closing then leaves no TIME_WAIT behind.
void reset_on_close(int fd);

// Next entry of the error queue: errno, and the ICMP error behind it. None: empty.
struct QueuedError {
  int error = 0;
  std::optional<IcmpError> icmp;
};
[[nodiscard]] std::optional<QueuedError> take_queued_error(int fd);

// Fragment here, whatever the path's MTU is believed to be.
void fragment_here(int fd, Family family);

// No word came back until now. `refused`: errno, where a rule of this very host refused to send it.
[[nodiscard]] Ending nothing_heard(int refused);
// A call before anything was sent failed.
[[nodiscard]] Ending setup_failed(const char* call, int error);
// connect or send failed: our own stack has no route, or nothing is known.
[[nodiscard]] Ending send_failed(const char* call, int error);
// An error was reported for what had been sent.
[[nodiscard]] Ending came_back(int error, std::optional<IcmpError> icmp);

// Whether `address` is one of this host's.
[[nodiscard]] Opened probe_local_address(const Address& address);

[[nodiscard]] inline std::uint16_t read_u16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}
// The token that `payload` starts with.
[[nodiscard]] std::optional<Token> read_token(std::span<const std::uint8_t> payload);

}  // namespace bulkhead::probes
