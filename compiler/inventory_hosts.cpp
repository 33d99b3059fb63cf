#include "compiler/inventory_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/inventory_csv.h"
#include "policy/support/hostlist.h"
#include "policy/support/text.h"

namespace bulkhead::compiler {
namespace {

using policy::TomlTable;

constexpr std::size_t kMostValues = 1000000;

class HostReader {
 public:
  HostReader(const InventorySource& source, std::map<std::string, Host>& hosts)
      : source_(source), diagnostics_(source.diagnostics), hosts_(hosts) {}

  void read(const Name& hostlist, TomlTable table) {
    const auto names = expand_hostlist(hostlist.text);
    if (!names) {
      diagnostics_.error("bad-hostlist", hostlist.at, names.error().message);
      return;
    }
    if (!spend(names->size(), hostlist.at))
      return;
    std::vector<Host> group(names->size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      group[i].name = (*names)[i];
      group[i].at = hostlist.at;
    }
    read_facts(table, group);
    for (auto& [nic_name, nic] : table.named_tables("nic"))
      read_nic(nic_name, nic, group);
    table.finish();
    for (Host& host : group)
      if (check_name("host", {host.name, host.at}, diagnostics_))
        merge(std::move(host));
  }

 private:
  void read_facts(TomlTable& table, std::vector<Host>& group) {
    const auto labels = sorted_labels(table.names("labels"), diagnostics_);
    const auto forwards = table.boolean("forwards");
    const bool agentless = table.boolean("agentless").value_or(false);
    const auto state = table.name("state");
    if (state && state->text != "spare")
      diagnostics_.error("bad-state", state->at,
                         in_backticks(state->text) + " is not a state of a host", "`spare`");
    auto rdma_netns = table.name("rdma_netns");
    if (rdma_netns && rdma_netns->text != "shared" && rdma_netns->text != "exclusive") {
      diagnostics_.error("bad-rdma-netns", rdma_netns->at,
                         in_backticks(rdma_netns->text) + " is not a mode of RDMA namespaces",
                         "`exclusive` or `shared`: `rdma system` says which");
      rdma_netns.reset();
    }
    const auto rdma_nodes = table.names("rdma_nodes");
    for (Host& host : group) {
      host.rdma_netns = rdma_netns;
      host.rdma_nodes = rdma_nodes;
      host.labels = labels;
      host.forwards = forwards;
      host.agentless = agentless;
      host.spare = state && state->text == "spare";
    }
    set(table.name("ssh"), group, [](Host& host, const Name& value) { host.ssh = value.text; });
    set(table.name("stand_in"), group,
        [](Host& host, const Name& value) { host.stand_in = value.text; });
  }

  void read_nic(const Name& name, TomlTable& table, std::vector<Host>& group) {
    check_interface_name(name, diagnostics_);
    if (!spend(group.size(), name.at))
      return;
    for (Host& host : group) {
      Nic nic;
      nic.name = name.text;
      nic.at = name.at;
      host.nics.push_back(std::move(nic));
    }
    table.require("segment");
    const bool offload = table.boolean("offload").value_or(false);
    for (Host& host : group)
      host.nics.back().offload = offload;
    const auto nic_of = [](Host& host) -> Nic& { return host.nics.back(); };
    set(table.name("segment"), group,
        [&](Host& host, const Name& value) { nic_of(host).segment = value; });
    set(table.name("rdma"), group,
        [&](Host& host, const Name& value) { nic_of(host).rdma = value.text; });
    set(table.name("switch"), group,
        [&](Host& host, const Name& value) { nic_of(host).switch_name = value.text; });
    set(table.name("port"), group,
        [&](Host& host, const Name& value) { nic_of(host).switch_port = value.text; });
    set(table.name("mac"), group,
        [&](Host& host, const Name& value) { nic_of(host).mac = mac_field(value, diagnostics_); });
    for (const Name& list : table.names("v4"))
      set(list, group, [&](Host& host, const Name& value) {
        if (const auto address = address_field(value, Family::V4, diagnostics_))
          nic_of(host).v4.push_back(*address);
      });
    for (const Name& list : table.names("v6"))
      set(list, group, [&](Host& host, const Name& value) {
        if (const auto address = address_field(value, Family::V6, diagnostics_))
          nic_of(host).v6.push_back(*address);
      });
    if (const auto guid = table.name("port_guid"))
      read_guids(*guid, name, group);
    table.finish();
  }

  // Either the GUIDs themselves or a file that has one for each host and NIC.
  void read_guids(const Name& guid, const Name& nic_name, std::vector<Host>& group) {
    if (!guid.text.ends_with(".csv")) {
      set(guid, group, [&](Host& host, const Name& value) {
        host.nics.back().port_guid = guid_field(value, diagnostics_);
      });
      return;
    }
    const auto [file, is_new] = guid_files_.try_emplace(guid.text);
    if (is_new)
      file->second = read_guids_csv(guid, source_);
    if (!file->second)
      return;
    for (Host& host : group) {
      const auto found = file->second->find({host.name, nic_name.text});
      if (found != file->second->end())
        host.nics.back().port_guid = guid_field(found->second, diagnostics_);
      else
        diagnostics_.error(
            "missing-guid", guid.at,
            fmt::format("{} has no row for host {} and NIC {}", in_backticks(guid.text),
                        in_backticks(host.name), in_backticks(nic_name.text)));
    }
  }

  template <class Set>
  void set(const std::optional<Name>& list, std::vector<Host>& group, Set assign) {
    if (!list || !spend(group.size(), list->at))
      return;
    const std::vector<Name> values = spread(*list, group.size(), diagnostics_);
    for (std::size_t i = 0; i < values.size(); ++i)
      assign(group[i], values[i]);
  }

  // A few lines of hostlists can name more than any machine holds.
  bool spend(std::size_t values, SourcePos at) {
    if (values <= values_left_) {
      values_left_ -= values;
      return true;
    }
    if (!std::exchange(is_spent_, true))
      diagnostics_.error(
          "inventory-too-large", at,
          fmt::format("the hostlists up to here name more than {} values", kMostValues));
    return false;
  }

  void merge(Host host) {
    if (!from_tables_.insert(host.name).second) {
      diagnostics_
          .error("duplicate-host", host.at,
                 fmt::format("host {} has two tables", in_backticks(host.name)))
          .related.push_back({hosts_[host.name].at, "first here"});
      return;
    }
    const auto [entry, is_new] = hosts_.try_emplace(host.name);
    Host& known = entry->second;
    if (is_new) {
      known = std::move(host);
      return;
    }
    // A CSV file spoke of it before: the table says more, and wins where it says something.
    known.at = host.at;
    if (!host.labels.empty())
      known.labels = host.labels;
    if (!host.ssh.empty())
      known.ssh = host.ssh;
    if (!host.stand_in.empty())
      known.stand_in = host.stand_in;
    if (host.rdma_netns)
      known.rdma_netns = host.rdma_netns;
    if (!host.rdma_nodes.empty())
      known.rdma_nodes = host.rdma_nodes;
    if (host.forwards)
      known.forwards = host.forwards;
    known.agentless = known.agentless || host.agentless;
    known.spare = known.spare || host.spare;
    for (Nic& nic : host.nics) {
      const auto same = std::find_if(known.nics.begin(), known.nics.end(),
                                     [&](const Nic& other) { return other.name == nic.name; });
      if (same == known.nics.end()) {
        known.nics.push_back(std::move(nic));
        continue;
      }
      diagnostics_
          .error("duplicate-nic", nic.at,
                 fmt::format("host {} has NIC {} twice", in_backticks(known.name),
                             in_backticks(nic.name)))
          .related.push_back({same->at, "first here"});
    }
  }

  const InventorySource& source_;
  Diagnostics& diagnostics_;
  std::map<std::string, Host>& hosts_;
  std::set<std::string> from_tables_;
  std::size_t values_left_ = kMostValues;
  bool is_spent_ = false;
  std::map<std::string, std::optional<PortGuids>> guid_files_;
};

}  // namespace

void read_host_tables(TomlTable& root, const InventorySource& source,
                      std::map<std::string, Host>& hosts) {
  HostReader reader(source, hosts);
  for (auto& [name, table] : root.named_tables("host"))
    reader.read(name, std::move(table));
}

}  // namespace bulkhead::compiler
