#include "enforcement/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace bulkhead::enforcement {

namespace {

std::string holder(int file) {
  std::array<char, 128> text{};
  const ssize_t got = ::pread(file, text.data(), text.size() - 1, 0);
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "somebody";
}

}  // namespace

Result<Lock> Lock::take(const std::filesystem::path& folder, const std::string& who,
                        std::chrono::milliseconds patience) {
  const std::string path = (folder / "lock").string();
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file)
    return fail_errno("open " + path, errno);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail_errno("lock " + path, errno);
    if (std::chrono::steady_clock::now() >= end)
      return fail(ErrorKind::Environment, fmt::format("{} is at work on {}: wait for its end",
                                                      holder(file.get()), folder.string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // For people only: that it cannot be written (a full disk) is found by what has to be written.
  const std::string name = fmt::format("`{}` (pid {})", who, ::getpid());
  if (::ftruncate(file.get(), 0) == 0) [[maybe_unused]]
    const ssize_t wrote = ::pwrite(file.get(), name.data(), name.size(), 0);
  return Lock(std::move(file));
}

}  // namespace bulkhead::enforcement
