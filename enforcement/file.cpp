#include "enforcement/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "policy/support/handle.h"

namespace bulkhead::enforcement {

namespace {

namespace fs = std::filesystem;

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote < 0)
      return fail_errno("write", errno);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fsync(fd) != 0)
    return fail_errno("fsync", errno);
  return {};
}

}  // namespace

Result<std::string> read_whole(const fs::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return fail_errno("read " + path.string(), errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    return fail_errno("read " + path.string(), errno);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::Environment, path.string() + " is not a regular file");
  std::string text;
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for (std::size_t length = 0;;) {
    text.resize(length + kBlock);
    const ssize_t got = ::read(file.get(), text.data() + length, kBlock);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail_errno("read " + path.string(), errno);
    length += static_cast<std::size_t>(got);
    text.resize(length);
    if (got == 0)
      return text;
  }
}

Status write_whole(const fs::path& path, const std::string& text) {
  const std::string fresh = fmt::format("{}.new", path.string());
  UniqueFd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file)
    return fail_errno("write " + fresh, errno);
  if (Status written = write_all(file.get(), text); !written) {
    ::unlink(fresh.c_str());
    return fail(written.error().context(path.string()));
  }
  file.reset();
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    return fail_errno("write " + path.string(), error);
  }
  const UniqueFd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::fsync(folder.get()) != 0)
    return fail_errno("write " + path.parent_path().string(), errno);
  return {};
}

}  // namespace bulkhead::enforcement
