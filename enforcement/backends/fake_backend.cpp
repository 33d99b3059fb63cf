#include "enforcement/backends/fake_backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>

namespace bulkhead::enforcement {

namespace {

constexpr std::size_t kMostText = 4096;

void copy(char* to, const std::string& text) {
  std::strncpy(to, text.c_str(), kMostText - 1);
}

}  // namespace

struct FakeWorld::Memory {
  char ours[kMostText] = "nothing";
  char foreign[kMostText] = "";
  std::uint64_t generation = 1;
  At what = At::Nothing;
  int number = 0;
  int steps = 0;
};

FakeWorld::FakeWorld() {
  void* memory =
      ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc();
  memory_ = new (memory) Memory;
}

FakeWorld::~FakeWorld() {
  ::munmap(memory_, sizeof(Memory));
}

std::string FakeWorld::ours() const {
  return memory_->ours;
}
std::string FakeWorld::foreign() const {
  return memory_->foreign;
}
void FakeWorld::set_ours(const std::string& text) {
  copy(memory_->ours, text);
  ++memory_->generation;
}
void FakeWorld::set_foreign(const std::string& text) {
  copy(memory_->foreign, text);
  ++memory_->generation;
}

void FakeWorld::at(At what, int number) {
  memory_->what = what;
  memory_->number = number;
  memory_->steps = 0;
}

int FakeWorld::steps() const {
  return memory_->steps;
}

Status FakeWorld::step() {
  if (++memory_->steps != memory_->number || memory_->what == At::Nothing)
    return {};
  if (memory_->what == At::Die)
    ::kill(::getpid(), SIGKILL);
  return fail(ErrorKind::Environment, "the fake failed, as it was told to");
}

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(FakeWorld& world) : world_(world) {}

  Result<Snapshot> read() override {
    if (Status step = world_.step(); !step)
      return fail(step.error());
    return Snapshot{world_.ours(), world_.foreign(), world_.memory_->generation, {}};
  }
  Result<std::string> undo(const Snapshot& snapshot) override {
    if (Status step = world_.step(); !step)
      return fail(step.error());
    if (snapshot.generation != world_.memory_->generation)
      return fail(ErrorKind::Environment, "the rules changed while they were read");
    return snapshot.ours;
  }
  Status check(const std::string& change) override {
    if (Status step = world_.step(); !step)
      return step;
    if (change.starts_with("wrong"))
      return fail(ErrorKind::Environment, "the fake does not understand this");
    return {};
  }
  Status apply(const std::string& change) override {
    if (Status step = world_.step(); !step)
      return step;
    if (change.starts_with("wrong") || change.starts_with("refused"))
      return fail(ErrorKind::Environment, "the fake refuses this");
    world_.set_ours(change);
    return {};
  }
  Result<std::vector<Connection>> connections() override { return std::vector<Connection>(); }
  Status cut(const std::vector<Connection>&) override { return {}; }

 private:
  FakeWorld& world_;
};

std::unique_ptr<Backend> fake_backend(FakeWorld& world) {
  return std::make_unique<FakeBackend>(world);
}

}  // namespace bulkhead::enforcement
