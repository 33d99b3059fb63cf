#include "cli/support/output_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/support/files.h"

namespace bulkhead::cli {
namespace {

namespace fs = std::filesystem;

// Where a link leads, also one whose target is not there yet. Of a loop the link itself.
fs::path followed(const fs::path& path) {
  constexpr int kMostLinks = 40;  // the kernel's own limit
  fs::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(at, error); ++i) {
    const fs::path target = fs::read_symlink(at, error);
    if (error)
      return path;
    at = target.is_absolute() ? target : at.parent_path() / target;
  }
  return fs::is_symlink(at, error) ? path : at;
}

std::optional<struct stat> facts_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0)
    return std::nullopt;
  return facts;
}

}  // namespace

OutputFile::OutputFile(fs::path path, std::string scratch, UniqueFd fd)
    : path_(std::move(path)), scratch_(std::move(scratch)), fd_(std::move(fd)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      scratch_(std::exchange(other.scratch_, {})),
      fd_(std::move(other.fd_)),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {}

OutputFile::~OutputFile() {
  if (!scratch_.empty())
    ::unlink(scratch_.c_str());
}

Result<OutputFile> OutputFile::open(const fs::path& path) {
  const fs::path target = followed(path);
  const auto before = facts_of(target);
  // A device or a pipe cannot be replaced by renaming, and needs not be.
  if (before && !S_ISREG(before->st_mode)) {
    UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd)
      return fail_errno("open " + path.string(), errno);
    return OutputFile(path, "", std::move(fd));
  }
  std::string name = scratch_template(target);
  UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd)
    return fail_errno("write beside " + path.string(), errno);
  OutputFile file(target, std::move(name), std::move(fd));
  if (before)  // as root it may be somebody else's; else it becomes ours
    (void)!::fchown(file.fd_.get(), before->st_uid, before->st_gid);
  const mode_t mode = before ? before->st_mode & 0777 : default_mode(0666);
  if (::fchmod(file.fd_.get(), mode) != 0)
    return fail_errno("write " + path.string(), errno);
  return file;
}

void OutputFile::append(std::string_view text) {
  constexpr std::size_t kEnough = std::size_t{1} << 16;
  if (error_ != 0)
    return;
  buffer_ += text;
  if (buffer_.size() >= kEnough)
    flush();
}

void OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_.get(), rest.data(), rest.size());
    if (written >= 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error_ = errno;
  }
  buffer_.clear();
}

Status OutputFile::finish() {
  flush();
  if (error_ == 0 && !scratch_.empty() && ::rename(scratch_.c_str(), path_.c_str()) != 0)
    error_ = errno;
  if (error_ != 0)
    return fail_errno("write " + path_.string(), error_);
  scratch_.clear();
  return {};
}

}  // namespace bulkhead::cli
