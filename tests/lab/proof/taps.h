// Devices whose other end this process holds, and what else makes a namespace for a test of rules.
// All throw where the kernel refuses.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/support/handle.h"

namespace bulkhead::test {

[[noreturn]] void give_up(const std::string& what);  // with errno
// Of /proc/sys/net; a key that is not there is left alone.
void set_sysctl(const std::string& key, const char* value);
void run(const std::string& command);  // by the shell
// IFF_TAP or IFF_TUN.
[[nodiscard]] UniqueFd open_tap(const char* name, short flags);

// All packets that wait there.
template <class Use>
void read_all(int fd, Use&& use) {
  std::array<std::uint8_t, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0)
      return;
    use(std::vector<std::uint8_t>(buffer.begin(), buffer.begin() + got));
  }
}

[[nodiscard]] bool ends_with(const std::vector<std::uint8_t>& bytes, const std::string& token);

}  // namespace bulkhead::test
