#include "cli/support/interrupt.h"

#include <csignal>

namespace bulkhead::cli {
namespace {

std::atomic<bool> stop{false};
std::atomic<int> by_signal{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "used in a signal handler");

void on_signal(int number) {
  by_signal = number;
  stop = true;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  // No SA_RESTART: a wait in poll(2) must end. SA_RESETHAND: the second signal has its default
  // effect.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // An agent or a pager that goes away is an error code for us, not the end of the program.
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c)
  // So is a file as large as it may be. Not ignored, which what we start would inherit.
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, nullptr);
}

const std::atomic<bool>& interrupted() {
  return stop;
}
int interrupting_signal() {
  return by_signal;
}

}  // namespace bulkhead::cli
