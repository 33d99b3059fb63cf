// Move-only owners of C resources; destruction releases. Members declared in order of construction
// unwind by themselves.
#pragma once

#include <unistd.h>

#include <utility>

namespace bulkhead {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { reset(); }
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Owner of a pointer released by Free: `Handle<nft_ctx, nft_ctx_free>`.
template <class T, auto Free>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* pointer) : pointer_(pointer) {}
  Handle(Handle&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      pointer_ = std::exchange(other.pointer_, nullptr);
    }
    return *this;
  }
  ~Handle() { reset(); }
  [[nodiscard]] T* get() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  void reset() {
    if (pointer_)
      Free(pointer_);
    pointer_ = nullptr;
  }

 private:
  T* pointer_ = nullptr;
};

}  // namespace bulkhead
