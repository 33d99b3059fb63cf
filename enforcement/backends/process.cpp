#include "enforcement/backends/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "policy/support/handle.h"

extern char** environ;

namespace bulkhead::enforcement {

namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  UniqueFd read, write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The child's signal state must not depend on ours: a blocked SIGPIPE or SIGTERM would be
// inherited.
class SpawnSetup {
 public:
  SpawnSetup(int in, int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Appends what is there; closes the end at end of file.
void drain(UniqueFd& from, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
  if (got > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || errno != EINTR) {
    from.reset();
  }
}

// Feeds and drains until both outputs are closed. False at the deadline.
bool converse(UniqueFd in, std::string_view input, UniqueFd out, UniqueFd err, Finished& finished,
              Clock::time_point deadline) {
  if (input.empty())
    in.reset();
  else
    ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  while (out || err) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0)
      return false;
    std::array<pollfd, 3> ends{{{in ? in.get() : -1, POLLOUT, 0},
                                {out ? out.get() : -1, POLLIN, 0},
                                {err ? err.get() : -1, POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), static_cast<int>(left)) <= 0)
      continue;
    if (ends[0].revents != 0) {
      const ssize_t sent = ::write(in.get(), input.data(), input.size());
      if (sent > 0)
        input.remove_prefix(static_cast<std::size_t>(sent));
      if ((sent < 0 && errno != EAGAIN && errno != EINTR) || input.empty())
        in.reset();
    }
    if (ends[1].revents != 0)
      drain(out, finished.out);
    if (ends[2].revents != 0)
      drain(err, finished.err);
  }
  return true;
}

// A program that ends without reading its input would end us too. Blocked for this thread only; a
// pending one is taken away before the old mask comes back.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const timespec now{};
    while (::sigtimedwait(&sigpipe_, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{}, before_{};
};

}  // namespace

Result<Finished> run_process(const std::vector<std::string>& command, std::string_view input,
                             std::chrono::seconds timeout) {
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in || !out || !err)
    return fail_errno("pipe for " + command.front(), errno);

  std::vector<char*> arguments;
  for (const auto& word : command)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  {
    const SpawnSetup setup(in->read.get(), out->write.get(), err->write.get());
    const int failed = ::posix_spawnp(&pid, arguments[0], setup.actions(), setup.attributes(),
                                      arguments.data(), environ);
    if (failed != 0)
      return fail_errno("start " + command.front(), failed);
  }
  in->read.reset();
  out->write.reset();
  err->write.reset();

  const SigpipeBlocked sigpipe_blocked;
  Finished finished;
  const bool in_time = converse(std::move(in->write), input, std::move(out->read),
                                std::move(err->read), finished, Clock::now() + timeout);
  if (!in_time)
    ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    return fail(ErrorKind::Timeout,
                command.front() + " did not end within " + std::to_string(timeout.count()) + " s");
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

}  // namespace bulkhead::enforcement
