#include "policy/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "policy/support/handle.h"
#include "policy/support/text.h"

namespace bulkhead::policy {

namespace fs = std::filesystem;

namespace {

Result<std::string> read_regular_file(const fs::path& path, const std::string& shown) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!fd)
    return fail_errno("cannot read " + shown, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return fail_errno("cannot read " + shown, errno);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::Usage, fmt::format("{} is not a regular file", shown));
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::string text;
  std::size_t length = 0;
  while (length <= kLargestFile) {
    text.resize(length + kBlock);
    const ssize_t got = ::read(fd.get(), text.data() + length, kBlock);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail_errno("cannot read " + shown, errno);
    if (got == 0)
      break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

bool is_below(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

SourcePos at_offset(std::uint32_t file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return {file, static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1),
          static_cast<std::uint32_t>(offset - start + 1)};
}

}  // namespace

FileReader folder_reader(fs::path site_folder) {
  return [folder = std::move(site_folder)](const std::string& path) -> Result<std::string> {
    if (const auto flaw = flaw_of_path(path); !flaw.empty())
      return fail(ErrorKind::Usage, fmt::format("{} {}", in_backticks(path), flaw));
    std::error_code error;
    const fs::path root = fs::canonical(folder, error);
    if (error)
      return fail(ErrorKind::Usage,
                  fmt::format("cannot open site folder {}: {}", folder.string(), error.message()));
    const fs::path real = fs::canonical(root / path, error);
    if (error)
      return fail(ErrorKind::Usage, fmt::format("cannot read {}: {}", path, error.message()));
    if (!is_below(root, real))
      return fail(ErrorKind::Usage,
                  fmt::format("{} is a link that leads out of the site's folder", path));
    return read_regular_file(real, path);
  };
}

FileReader memory_reader(std::map<std::string, std::string> files) {
  return [files = std::move(files)](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found == files.end())
      return fail(ErrorKind::Usage, fmt::format("cannot read {}: No such file or directory", path));
    return found->second;
  };
}

std::string_view flaw_of_path(std::string_view path) {
  if (path.empty())
    return "is empty";
  if (path.size() > 1024)
    return "is longer than 1024 bytes";
  if (std::any_of(path.begin(), path.end(),
                  [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return "contains a control character";
  const fs::path parsed(path);
  if (parsed.is_absolute())
    return "is absolute: name files relative to the site's folder";
  if (std::find(parsed.begin(), parsed.end(), "..") != parsed.end())
    return "leads out of the site's folder";
  return {};
}

std::optional<std::uint32_t> read_source(const FileReader& read, const std::string& path,
                                         const std::string& display_prefix, SourcePos named_at,
                                         SourceMap& sources, Diagnostics& diagnostics) {
  auto text = read(path);
  if (!text) {
    SourcePos at = named_at;
    if (at.line == 0)
      at = {sources.add(display_prefix + path, {}), 0, 0};
    diagnostics.error("cannot-read", at, text.error().message);
    return std::nullopt;
  }
  if (text->starts_with("\xef\xbb\xbf"))
    text->erase(0, 3);
  const std::uint32_t file = sources.add(display_prefix + path, std::move(*text));
  const std::string& kept = sources.file(file).text;
  const SourcePos start{file, 1, 1};
  if (kept.size() > kLargestFile) {
    diagnostics.error("file-too-large", start,
                      fmt::format("the file is larger than {} MiB", kLargestFile >> 20));
    return std::nullopt;
  }
  if (kept.starts_with("\xff\xfe") || kept.starts_with("\xfe\xff")) {
    diagnostics.error("not-utf8", start, "the file is UTF-16", "save it as UTF-8");
    return std::nullopt;
  }
  if (const std::size_t bad = first_bad_utf8(kept); bad != std::string::npos) {
    diagnostics.error("not-utf8", at_offset(file, kept, bad),
                      fmt::format("byte 0x{:02x} is not UTF-8", kept[bad] & 0xff),
                      "save the file as UTF-8");
    return std::nullopt;
  }
  return file;
}

}  // namespace bulkhead::policy
