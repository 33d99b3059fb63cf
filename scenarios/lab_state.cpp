#include "scenarios/lab_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "policy/support/sha256.h"

namespace bulkhead::scenarios {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kStateFolder = "/run/bulkhead";
constexpr std::string_view kSchema = "bulkhead.lab/1";

fs::path record_path(const std::string& lab) {
  return fs::path(kStateFolder) / (lab + ".json");
}

std::string cleaned(const std::string& text) {
  std::string clean = text;
  for (char& c : clean) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain)
      c = '-';
  }
  return clean;
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kMost = 200;  // a file name has 255
  return name.size() <= kMost ? name
                              : name.substr(0, kMost - 9) + "-" + sha256_hex(name).substr(0, 8);
}

Json to_json(const LabRecord& record) {
  return {{"schema", kSchema},
          {"name", record.name},
          {"site", record.site},
          {"run", record.run},
          {"hosts", record.hosts},
          {"netns", record.netns},
          {"owner", record.owner},
          {"owner_started", record.owner_started},
          {"persistent", record.persistent}};
}

// A record that cannot be read is another program's, or was cut by a full disk: it names nothing
// that could be removed.
std::optional<LabRecord> from_file(const fs::path& path) {
  std::ifstream file(path);
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object())
    return std::nullopt;
  try {
    if (json.at("schema") != kSchema)
      return std::nullopt;
    return LabRecord{json.at("name"),       json.at("site"),  json.at("run"),
                     json.at("persistent"), json.at("owner"), json.at("owner_started"),
                     json.at("hosts"),      json.at("netns")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// Whole, or not there at all: a record cut by a full disk would hold its name for ever.
Status write_beside(const fs::path& fresh, const LabRecord& record) {
  const std::string text = to_json(record).dump();
  const UniqueFd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const ssize_t written = file ? ::write(file.get(), text.data(), text.size()) : -1;
  if (written == static_cast<ssize_t>(text.size()))
    return {};
  const int error = written < 0 ? errno : ENOSPC;
  if (file)
    ::unlink(fresh.c_str());
  return fail_errno("write " + fresh.string(), error);
}

}  // namespace

std::string lab_name(const std::string& site, const std::string& run) {
  return shortened(cleaned("bh-" + site + "-" + run));
}

std::string netns_path(const std::string& name) {
  return "/run/netns/" + name;
}

std::vector<std::string> netns_names(const std::string& lab,
                                     const std::vector<std::string>& hosts) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const auto& host : hosts) {
    std::string name = shortened(lab + "-" + cleaned(host));
    if (!taken.insert(name).second) {
      name += "-" + sha256_hex(host).substr(0, 8);
      taken.insert(name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

std::string start_time(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(stat, text))
    return {};
  // The command's name may hold spaces and parentheses: fields are counted from behind it. Start
  // time is field 22, the 20th after the name; field 3 is the state, 'Z' is a dead process that
  // nobody waited for.
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number)
    if (number == 3 && field == "Z")
      return {};
  return field;
}

bool owner_lives(const LabRecord& record) {
  return record.persistent || start_time(record.owner) == record.owner_started;
}

Status write_record(const LabRecord& record) {
  const fs::path path = record_path(record.name);
  const fs::path fresh = fmt::format("{}.{}", path.string(), ::getpid());
  int error = ENOENT;
  for (int attempt = 0; attempt < 3; ++attempt) {
    // Another lab's end removes the empty folder; between our calls it may be gone again.
    if (::mkdir(kStateFolder, 0755) != 0 && errno != EEXIST)
      return fail_errno(std::string("make ") + kStateFolder, errno);
    if (Status written = write_beside(fresh, record); !written) {
      if (::access(kStateFolder, F_OK) != 0)
        continue;
      ::rmdir(kStateFolder);  // unless others have theirs in it
      return written;
    }
    // Of two who want the name one gets it.
    error = ::link(fresh.c_str(), path.c_str()) == 0 ? 0 : errno;
    ::unlink(fresh.c_str());
    if (error == 0)
      return {};
    if (error != EEXIST)
      break;
    if (from_file(path))
      return fail(
          ErrorKind::Environment,
          "a lab " + record.name + " exists already: take it down with `bulkhead lab down`");
    // A record is written before the first namespace, so one that says nothing stands for none.
    ::unlink(path.c_str());
  }
  return fail_errno("write " + path.string(), error);
}

Status replace_record(const LabRecord& record) {
  const fs::path path = record_path(record.name);
  const fs::path fresh = path.string() + ".new";
  if (Status written = write_beside(fresh, record); !written)
    return written;
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    return fail_errno("write " + path.string(), errno);
  return {};
}

Result<LabRecord> read_record(const std::string& lab) {
  auto record = from_file(record_path(lab));
  if (!record)
    return fail(ErrorKind::Environment, "there is no lab " + lab + " on this machine");
  return std::move(*record);
}

std::vector<LabRecord> all_records() {
  std::vector<LabRecord> records;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kStateFolder, error))
    if (auto record = entry.path().extension() == ".json" ? from_file(entry.path()) : std::nullopt)
      records.push_back(std::move(*record));
  std::sort(records.begin(), records.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return records;
}

void remove_record(const LabRecord& record) {
  ::unlink(record_path(record.name).c_str());
  ::rmdir(kStateFolder);  // fails while other labs are there, as it should
}

}  // namespace bulkhead::scenarios
