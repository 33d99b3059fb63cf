#include "enforcement/backends/netns_thread.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <thread>

#include "policy/support/handle.h"

namespace bulkhead::enforcement {

Status run_in_netns(const std::string& netns_path, const std::function<Status()>& function) {
  UniqueFd netns;
  if (!netns_path.empty()) {
    netns = UniqueFd(::open(netns_path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!netns)
      return fail_errno("open network namespace " + netns_path, errno);
  }
  Status status;
  std::thread inside([&] {
    if (netns && ::setns(netns.get(), CLONE_NEWNET) != 0) {
      status = fail_errno("enter network namespace " + netns_path, errno);
      return;
    }
    status = function();
  });
  inside.join();
  return status;
}

}  // namespace bulkhead::enforcement
