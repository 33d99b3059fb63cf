#include "policy/support/result.h"

#include <cstring>

namespace bulkhead {

tl::unexpected<Error> fail_errno(std::string_view what, int error_number) {
  return fail(ErrorKind::Environment, std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace bulkhead
