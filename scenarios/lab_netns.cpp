// Named network namespaces and the process that removes them when their owner cannot.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "scenarios/lab_state.h"

namespace bulkhead::scenarios {

namespace {

constexpr const char* kNetnsFolder = "/run/netns";

// As `ip netns add` does it: the folder is a shared mount of its own, so that an unmount here
// reaches the copies that other mount namespaces hold, and so that a later `ip netns add` does not
// mount over our entries.
Status share_netns_folder() {
  if (::mkdir(kNetnsFolder, 0755) != 0 && errno != EEXIST)
    return fail_errno(std::string("make ") + kNetnsFolder, errno);
  if (::mount("", kNetnsFolder, "none", MS_SHARED | MS_REC, nullptr) == 0)
    return {};
  if (errno != EINVAL)
    return fail_errno(std::string("share ") + kNetnsFolder, errno);
  if (::mount(kNetnsFolder, kNetnsFolder, "none", MS_BIND | MS_REC, nullptr) != 0 ||
      ::mount("", kNetnsFolder, "none", MS_SHARED | MS_REC, nullptr) != 0)
    return fail_errno(std::string("share ") + kNetnsFolder, errno);
  return {};
}

}  // namespace

Status add_netns(const std::string& name) {
  if (Status shared = share_netns_folder(); !shared)
    return shared;
  const std::string path = netns_path(name);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
  if (!file)
    return fail_errno("make " + path, errno);
  // A thread of its own is born into a new namespace; the mount keeps it alive.
  Status status;
  std::thread maker([&] {
    if (::unshare(CLONE_NEWNET) != 0)
      status = fail_errno("make a network namespace", errno);
    else if (::mount("/proc/thread-self/ns/net", path.c_str(), "none", MS_BIND, nullptr) != 0)
      status = fail_errno("mount " + path, errno);
  });
  maker.join();
  if (!status)
    ::unlink(path.c_str());
  return status;
}

std::vector<int> processes_in(const std::vector<std::string>& netns_paths) {
  std::set<ino_t> inodes;
  struct stat of {};
  for (const auto& path : netns_paths)
    if (::stat(path.c_str(), &of) == 0)
      inodes.insert(of.st_ino);
  std::vector<int> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && pid != ::getpid() && ::stat((entry.path() / "ns/net").c_str(), &of) == 0 &&
        inodes.contains(of.st_ino))
      pids.push_back(pid);
  }
  return pids;
}

void remove_lab(const LabRecord& record) {
  std::vector<std::string> paths;
  for (const auto& name : record.netns)
    paths.push_back(netns_path(name));
  for (const int pid : processes_in(paths))
    ::kill(pid, SIGKILL);
  for (const auto& name : record.netns) {
    const std::string path = netns_path(name);
    ::umount2(path.c_str(), MNT_DETACH);
    ::unlink(path.c_str());
  }
  remove_record(record);
}

Result<Guardian> Guardian::start(const LabRecord& record) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail_errno("pipe for the lab's guardian", errno);
  UniqueFd watched(ends[0]);
  Guardian guardian;
  guardian.lifeline_ = UniqueFd(ends[1]);
  guardian.pid_ = ::fork();
  if (guardian.pid_ < 0)
    return fail_errno("start the lab's guardian", errno);
  if (guardian.pid_ > 0)
    return guardian;

  // The child: out of the terminal's reach, holding nothing of the owner's but the pipe, else a
  // reader of the owner's output would never see its end.
  ::setsid();
  ::prctl(PR_SET_NAME, "bulkhead-guard");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const int kept = ::dup2(watched.get(), 3);
  ::close_range(4, ~0U, 0);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd)
    ::dup2(null, fd);
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(kept, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0)
    remove_lab(record);
  ::_exit(0);
}

Guardian::Guardian(Guardian&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), lifeline_(std::move(other.lifeline_)) {}

Guardian& Guardian::operator=(Guardian&& other) noexcept {
  if (this != &other) {
    release();
    pid_ = std::exchange(other.pid_, -1);
    lifeline_ = std::move(other.lifeline_);
  }
  return *this;
}

Guardian::~Guardian() {
  release();
}

void Guardian::release() {
  if (pid_ < 0)
    return;
  const char done = 1;
  [[maybe_unused]] const ssize_t sent = ::write(lifeline_.get(), &done, 1);
  lifeline_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace bulkhead::scenarios
