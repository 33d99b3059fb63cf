// The ssh launcher against a real sshd in a network namespace, reached over a management link that
// the tested network does not touch. Keys and configuration live in a directory of this test's.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "probes/identity.h"
#include "tests/lab/agent/peer.h"
#include "tests/lab/agent/pod.h"

namespace bulkhead::test {
namespace {

using namespace probes;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class lab_agent_ssh : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Pod::why_not(); !why.empty())
      GTEST_SKIP() << why;
    if (!fs::exists("/usr/sbin/sshd"))
      GTEST_SKIP() << "needs openssh-server";
    pod_ = std::make_unique<Pod>();
    std::string pattern = (fs::temp_directory_path() / "lab_agent_ssh.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    // The operator's end of the management link is the client's namespace.
    pod_->run("client", fmt::format("ip link add mgmt0 type veth peer name mgmt0 netns {0}\n"
                                    "ip address add 192.168.77.1/24 dev mgmt0\n"
                                    "ip link set mgmt0 up\n"
                                    "ip -n {0} address add 192.168.77.2/24 dev mgmt0\n"
                                    "ip -n {0} link set mgmt0 up\n",
                                    pod_->netns("server")));
    pod_->run("server", fmt::format("ssh-keygen -q -t ed25519 -N '' -f {0}/host; "
                                    "ssh-keygen -q -t ed25519 -N '' -f {0}/user; "
                                    "cp {0}/user.pub {0}/authorized; mkdir -p /run/sshd",
                                    directory_.string()));
    std::ofstream(directory_ / "sshd_config") << fmt::format(
        "ListenAddress 192.168.77.2:22\nHostKey {0}/host\nAuthorizedKeysFile {0}/authorized\n"
        "PidFile {0}/pid\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\n",
        directory_.string());
    sshd_ = start_sshd();
    wait_for_sshd();
  }
  void TearDown() override {
    if (sshd_ > 0) {
      ::kill(sshd_, SIGTERM);
      ::waitpid(sshd_, nullptr, 0);
    }
    pod_ = nullptr;
    if (!directory_.empty())
      fs::remove_all(directory_);
  }

  int start_sshd() {
    const std::string netns = pod_->netns("server");
    const std::string config = (directory_ / "sshd_config").string();
    const std::string log = (directory_ / "log").string();
    const int pid = ::fork();
    if (pid == 0) {
      ::execlp("ip", "ip", "netns", "exec", netns.c_str(), "/usr/sbin/sshd", "-D", "-f",
               config.c_str(), "-E", log.c_str(), nullptr);
      ::_exit(127);
    }
    return pid;
  }
  void wait_for_sshd() {
    for (int i = 0; i < 200 && !fs::exists(directory_ / "pid"); ++i)
      std::this_thread::sleep_for(50ms);
    ASSERT_TRUE(fs::exists(directory_ / "pid"));
  }
  SshOptions options() const {
    SshOptions options;
    options.ssh_command = {"ip",
                           "netns",
                           "exec",
                           pod_->netns("client"),
                           "ssh",
                           "-oBatchMode=yes",
                           "-oConnectTimeout=10",
                           "-oUserKnownHostsFile=/dev/null",
                           "-oStrictHostKeyChecking=no",
                           "-oLogLevel=ERROR",
                           "-F/dev/null",
                           "-i" + (directory_ / "user").string(),
                           "-T"};
    options.agent_program = BULKHEAD_BINARY_DIR "/bin/bulkhead-agent";
    return options;
  }

  std::unique_ptr<Pod> pod_;
  fs::path directory_;
  int sshd_ = -1;
};

TEST_F(lab_agent_ssh, ProbesThroughAnAgentBehindSsh) {
  const auto ssh = ssh_launcher(options(), [](const std::string&) { return "root@192.168.77.2"; });
  Peer server(*ssh, "server");
  const auto netns = netns_launcher(BULKHEAD_BINARY_DIR "/bin/bulkhead-agent",
                                    [this](const std::string& h) { return pod_->netns_path(h); });
  Peer client(*netns, "client");
  EXPECT_EQ(server.listen({{compiler::Transport::Tcp, address("10.2.0.2"), 7000}}).opened, 1U);
  // Port 22 is the host's own.
  EXPECT_EQ(server.listen({{compiler::Transport::Tcp, address("192.168.77.2"), 22}}).passive.size(),
            1U);
  const auto one = try_of(compiler::Transport::Tcp, "10.1.0.2", "10.2.0.2", 7000);
  server.expect({one});
  client.dial({one});
  server.collect();
  EXPECT_EQ(client.only(one).answer, to_hex(answer_to(server.key(), one.what.token)));
  EXPECT_TRUE(server.saw(one, Outcome::TokenSeen));
  server.stop();
}

// Case D05: sshd gone in the middle is a cut stream, not a verdict.
TEST_F(lab_agent_ssh, CutConnectionIsAChannelError) {
  const auto ssh = ssh_launcher(options(), [](const std::string&) { return "root@192.168.77.2"; });
  Peer server(*ssh, "server");
  server.kill();  // the local ssh
  const auto word = server.next(10s);
  ASSERT_FALSE(word);
  EXPECT_EQ(word.error().kind, ErrorKind::Environment);
}

TEST_F(lab_agent_ssh, FailuresOfSshAreTold) {
  auto wrong = options();
  wrong.agent_program = "/nonexistent/bulkhead-agent";
  const auto ssh = ssh_launcher(wrong, [](const std::string&) { return "root@192.168.77.2"; });
  auto agent = ssh->launch("server");
  ASSERT_TRUE(agent) << "ssh itself runs";
  const auto word =
      (*agent)->channel().receive(std::chrono::steady_clock::now() + std::chrono::seconds(20));
  ASSERT_FALSE(word);
  EXPECT_NE((*agent)->stderr_tail().find("/nonexistent/bulkhead-agent"), std::string::npos)
      << (*agent)->stderr_tail();
  EXPECT_FALSE(ssh_launcher(options(), [](const std::string&) {
                 return "-oProxyCommand=x";
               })->launch("server"));
}

}  // namespace
}  // namespace bulkhead::test
