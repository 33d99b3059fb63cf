#include "taps.h"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <linux/if_tun.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace bulkhead::test {

void give_up(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void set_sysctl(const std::string& key, const char* value) {
  std::ofstream file("/proc/sys/net/" + key);
  file << value;
}

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error("failed: " + command);
}

UniqueFd open_tap(const char* name, short flags) {
  UniqueFd tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  request.ifr_flags = static_cast<short>(flags | IFF_NO_PI);
  if (!tap || ::ioctl(tap.get(), TUNSETIFF, &request) != 0)
    give_up(std::string("make device ") + name);
  return tap;
}

bool ends_with(const std::vector<std::uint8_t>& bytes, const std::string& token) {
  return bytes.size() >= token.size() &&
         std::equal(token.rbegin(), token.rend(), bytes.rbegin(),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

}  // namespace bulkhead::test
