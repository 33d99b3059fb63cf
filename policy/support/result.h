// How the world's failures travel. A user's mistakes are Diagnostics (diagnostic.h); a failed
// system call, a peer that died or a tool that is missing is an Error inside a Result; a bug of
// ours is an assert. Results are returned up to cli/, which maps the kind to an exit code.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace bulkhead {

enum class ErrorKind {
  Usage,        // exit 2: what was asked makes no sense
  Environment,  // exit 3: this machine lacks something, or the system refused
  Timeout,      // exit 4: nothing was decided in the time given
  Interrupted,  // exit 130/143: a signal asked us to stop
};

struct Error {
  ErrorKind kind = ErrorKind::Environment;
  std::string message;  // one sentence: what failed, why, and what to do where that is known

  // Adds what this layer knows: "load ruleset on fw-a: <message>".
  [[nodiscard]] Error context(std::string_view where) const {
    return {kind, std::string(where) + ": " + message};
  }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}
// Environment error with strerror(error_number) appended.
[[nodiscard]] tl::unexpected<Error> fail_errno(std::string_view what, int error_number);

}  // namespace bulkhead
