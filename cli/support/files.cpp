#include "cli/support/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "cli/support/output_file.h"

namespace bulkhead::cli {
namespace {

namespace fs = std::filesystem;

// Removes what was begun unless it was kept.
class Scratch {
 public:
  explicit Scratch(fs::path path) : path_(std::move(path)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  fs::path path_;
};

// Every string of the document: a manifest names its files as keys or values.
void collect_strings(const nlohmann::json& value, std::set<std::string>& into) {
  if (value.is_string())
    into.insert(value.get<std::string>());
  if (value.is_structured()) {
    for (const auto& [key, inner] : value.items()) {
      into.insert(key);
      collect_strings(inner, into);
    }
  }
}

// Empty, or a file in `folder` that no earlier compile wrote.
Result<std::string> stranger_in(const fs::path& folder) {
  std::set<std::string> ours{"manifest.json"};
  if (auto manifest = read_file(folder / "manifest.json")) {
    const auto parsed = nlohmann::json::parse(*manifest, nullptr, false);
    if (parsed.is_object() && parsed.value("schema", "").starts_with("bulkhead.manifest/"))
      collect_strings(parsed, ours);
  }
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string path = it->path().lexically_relative(folder).string();
    if (!it->is_directory() && !ours.contains(path))
      return path;
  }
  if (error)
    return fail(ErrorKind::Environment, "read " + folder.string() + ": " + error.message());
  return std::string();
}

}  // namespace

std::string scratch_template(fs::path path) {
  if (!path.has_filename())
    path = path.parent_path();  // "out/" means "out"
  return (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
}

mode_t default_mode(mode_t all) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return all & ~mask;
}

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return fail_errno("read " + path.string(), errno);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Status write_file(const fs::path& path, const std::string& text) {
  auto file = OutputFile::open(path);
  if (!file)
    return fail(file.error());
  file->append(text);
  return file->finish();
}

Status write_folder(const fs::path& folder, const std::vector<compiler::Artifact>& files) {
  std::error_code error;
  const bool replaces = fs::exists(folder, error);
  if (replaces) {
    if (!fs::is_directory(folder))
      return fail(ErrorKind::Usage, folder.string() + " is not a folder");
    auto stranger = stranger_in(folder);
    if (!stranger)
      return fail(stranger.error());
    if (!stranger->empty())
      return fail(ErrorKind::Usage, folder.string() + " holds `" + *stranger +
                                        "`, which no earlier compile wrote: name a new or empty "
                                        "folder, nothing was changed");
  }
  std::string name = scratch_template(folder);
  if (::mkdtemp(name.data()) == nullptr)
    return fail_errno("write beside " + folder.string(), errno);
  Scratch scratch(name);
  for (const compiler::Artifact& file : files) {
    const fs::path path = fs::path(name) / file.path;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return fail(ErrorKind::Environment, "make " + path.string() + ": " + error.message());
    if (Status written = write_file(path, file.text); !written)
      return written;
  }
  if (::chmod(name.c_str(), default_mode(0777)) != 0)
    return fail_errno("chmod " + name, errno);
  // With RENAME_EXCHANGE the old folder is afterwards the scratch, and goes with it.
  if (::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, folder.c_str(),
                  replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0)
    return fail_errno("put " + folder.string() + " in place", errno);
  if (!replaces)
    scratch.keep();
  return {};
}

}  // namespace bulkhead::cli
