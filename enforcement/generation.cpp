#include "enforcement/generation.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace bulkhead::enforcement {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "bulkhead.generation/1";
constexpr std::pair<GenerationState, std::string_view> kStates[] = {
    {GenerationState::Prepared, "prepared"},   {GenerationState::Loaded, "loaded"},
    {GenerationState::Confirmed, "confirmed"}, {GenerationState::Undone, "undone"},
    {GenerationState::Failed, "failed"},
};

GenerationState state_from(const std::string& word) {
  const auto* const row = std::find_if(std::begin(kStates), std::end(kStates),
                                       [&](const auto& known) { return known.second == word; });
  if (row == std::end(kStates))
    throw std::invalid_argument(fmt::format("unknown state `{}`", word));
  return row->first;
}

Generation generation_from(const Json& json) {
  if (json.at("schema").get<std::string>() != kSchema)
    throw std::invalid_argument(fmt::format("schema is not {}", kSchema));
  Generation out;
  json.at("number").get_to(out.number);
  json.at("enforcer").get_to(out.enforcer);
  json.at("member").get_to(out.member);
  out.state = state_from(json.at("state").get<std::string>());
  json.at("why").get_to(out.why);
  json.at("bundle").get_to(out.bundle);
  json.at("policy").get_to(out.policy);
  json.at("as_of").get_to(out.as_of);
  json.at("by").get_to(out.by);
  json.at("written").get_to(out.written);
  json.at("boot").get_to(out.boot);
  json.at("netns").get_to(out.netns);
  if (const Json& deadline = json.at("deadline"); !deadline.is_null())
    out.deadline = std::chrono::nanoseconds(deadline.get<std::int64_t>());
  json.at("applier").at("pid").get_to(out.applier.pid);
  json.at("applier").at("started").get_to(out.applier.started);
  json.at("before").get_to(out.before);
  json.at("after").get_to(out.after);
  json.at("foreign").get_to(out.foreign);
  return out;
}

}  // namespace

std::string_view to_string(GenerationState state) {
  return kStates[static_cast<std::size_t>(state)].second;
}

ProcessId ProcessId::self() {
  return of(::getpid());
}

ProcessId ProcessId::of(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  // The command's name may hold spaces and parentheses: fields are counted from behind it. Start
  // time is field 22; field 3 is the state, 'Z' is a dead process that nobody waited for.
  const auto end = text.rfind(')');
  if (end == std::string::npos)
    return {pid, {}};
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number)
    if (number == 3 && (field == "Z" || field == "X"))
      return {pid, {}};
  return {pid, field};
}

bool ProcessId::is_alive() const {
  return pid > 0 && !started.empty() && of(pid) == *this;
}

std::string to_json(const Generation& generation) {
  Json json{{"schema", kSchema},
            {"number", generation.number},
            {"enforcer", generation.enforcer},
            {"member", generation.member},
            {"state", to_string(generation.state)},
            {"why", generation.why},
            {"bundle", generation.bundle},
            {"policy", generation.policy},
            {"as_of", generation.as_of},
            {"by", generation.by},
            {"written", generation.written},
            {"boot", generation.boot},
            {"netns", generation.netns},
            {"deadline", nullptr},
            {"applier", {{"pid", generation.applier.pid}, {"started", generation.applier.started}}},
            {"before", generation.before},
            {"after", generation.after},
            {"foreign", generation.foreign}};
  if (generation.deadline)
    json["deadline"] = generation.deadline->count();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Generation> parse_generation(std::string_view json) {
  try {
    return generation_from(Json::parse(json));
  } catch (const std::exception& wrong) {
    return fail(ErrorKind::Environment, wrong.what());
  }
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::uint64_t netns_inode() {
  struct stat status {};
  return ::stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
}

std::chrono::nanoseconds since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::string wall_time() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string operator_name() {
  if (const char* user = std::getenv("SUDO_USER"); user != nullptr && *user != '\0')
    return user;
  const passwd* const user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : fmt::format("uid {}", ::getuid());
}

}  // namespace bulkhead::enforcement
