// tandem launch: a whole cluster on this machine, one log, one end.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "absl/strings/str_join.h"
#include "cli/child_process.h"
#include "cli/commands.h"
#include "core/clock.h"
#include "core/log.h"

namespace tandem {
namespace {

constexpr int kGraceSeconds = 5;        // between SIGTERM and SIGKILL
constexpr int64_t kRestartDelayMs = 1000;
constexpr int kWrongFlags = 2;  // of a task: another try would end the same way

struct LaunchOptions {
  int ps = 1, workers = 2;
  bool restart = false;
  int max_restarts = 10;
  std::string color = "auto";
  std::vector<std::string> command;
};

// Below the range from which outgoing connections take their ports, so that none of them takes one of ours meanwhile.
StatusOr<std::vector<int>> FreePorts(int count) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> choose(15000, 31999);
  std::vector<int> sockets, ports;
  Status status;
  for (int attempt = 0; static_cast<int>(ports.size()) < count; ++attempt) {
    if (attempt > 20 * count + 100) {
      status = ResourceExhausted("cannot find ", count, " free ports on 127.0.0.1");
      break;
    }
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int port = choose(random);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      sockets.push_back(made);
      ports.push_back(port);
    } else {
      close(made);
    }
  }
  for (int made : sockets) close(made);
  if (!status.ok()) return status;
  return ports;
}

// One task of the cluster, over all its restarts.
struct Task {
  std::string job;
  int index = 0;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
  std::optional<ChildProcess> process;
  bool is_running = false;
  bool has_finished = false;        // ended by itself with 0
  int restarts = 0;
  int64_t restart_at_ms = 0;        // 0: no restart planned

  std::string name() const { return absl::StrCat(job, "/", index); }
};

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options) : options_(options) {
    use_color_ = options.color == "always" || (options.color == "auto" && isatty(STDOUT_FILENO) != 0);
  }

  int Run() {
    if (Status status = Prepare(); !status.ok()) return Complain(status);
    sigset_t watched;
    sigemptyset(&watched);
    for (int number : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&watched, number);
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signals_ = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    for (Task& task : tasks_) {
      Status status = Start(task);
      if (status.ok()) continue;
      Complain(status);
      exit_code_ = 1;
      EndAll();
      break;
    }
    while (IsAnyRunning() || HasPlannedRestart()) Turn();
    for (Task& task : tasks_) Print(task);
    close(signals_);
    if (!is_ending_ || exit_code_ == 0) Say(absl::StrCat("all workers are done"));
    return exit_code_;
  }

 private:
  Status Prepare() {
    ASSIGN_OR_RETURN(std::vector<int> ports, FreePorts(options_.ps + options_.workers));
    std::map<std::string, std::vector<std::string>> hosts;
    for (size_t i = 0; i < ports.size(); ++i) hosts[static_cast<int>(i) < options_.ps ? "ps" : "worker"].push_back(absl::StrCat("127.0.0.1:", ports[i]));
    for (const auto& [job, addresses] : hosts) {
      for (size_t index = 0; index < addresses.size(); ++index) {
        Task task;
        task.job = job;
        task.index = static_cast<int>(index);
        task.words = options_.command;
        task.words.push_back("--job_name=" + job);
        task.words.push_back(absl::StrCat("--task_index=", index));
        task.words.push_back("--ps_hosts=" + absl::StrJoin(hosts["ps"], ","));
        task.words.push_back("--worker_hosts=" + absl::StrJoin(hosts["worker"], ","));
        nlohmann::json config;
        for (const auto& [name, list] : hosts) {
          if (!list.empty()) config["cluster"][name] = list;
        }
        config["task"] = {{"type", job}, {"index", index}};
        task.environment.emplace_back("TF_CONFIG", config.dump());
        tasks_.push_back(std::move(task));
      }
    }
    // Parameter servers first: workers look for them at once.
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) { return a.job < b.job; });
    return OkStatus();
  }

  Status Start(Task& task) {
    StatusOr<ChildProcess> child = ChildProcess::Start(task.name(), task.words, task.environment);
    if (!child.ok()) return child.status();
    task.process = *std::move(child);
    task.is_running = true;
    task.restart_at_ms = 0;
    return OkStatus();
  }

  // Waits for output, an ended task, a signal or a deadline, and deals with it.
  void Turn() {
    std::vector<pollfd> polled = {{signals_, POLLIN, 0}};
    for (Task& task : tasks_) {
      if (task.process && task.process->output() >= 0) polled.push_back({task.process->output(), POLLIN, 0});
    }
    poll(polled.data(), polled.size(), TimeoutMs());
    for (Task& task : tasks_) Print(task);
    signalfd_siginfo info;
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM) Interrupted(static_cast<int>(info.ssi_signo));
    }
    Reap();
    const int64_t now = NowMs();
    for (Task& task : tasks_) {
      if (task.restart_at_ms == 0 || task.restart_at_ms > now) continue;
      if (is_ending_) {
        task.restart_at_ms = 0;
      } else if (Status status = Start(task); !status.ok()) {
        task.restart_at_ms = 0;
        exit_code_ = Complain(status);
        EndAll();
      } else {
        Say(absl::StrCat(task.name(), " is started again"));
      }
    }
    if (is_ending_ && kill_at_ms_ != 0 && now >= kill_at_ms_) {
      kill_at_ms_ = 0;
      for (Task& task : tasks_) {
        if (!task.is_running) continue;
        Say(absl::StrCat(task.name(), " did not end within ", kGraceSeconds, " s of SIGTERM, killing it"));
        task.process->Signal(SIGKILL);
      }
    }
  }

  void Interrupted(int number) {
    exit_code_ = 128 + number;
    if (is_ending_) {
      kill_at_ms_ = NowMs();  // asked twice: at once
      return;
    }
    Say(number == SIGINT ? "Ctrl-C: ending all tasks" : "SIGTERM: ending all tasks");
    EndAll();
  }

  void Reap() {
    for (Task& task : tasks_) {
      if (!task.is_running) continue;
      int status = 0;
      if (waitpid(task.process->pid(), &status, WNOHANG) != task.process->pid()) continue;
      Print(task);
      task.is_running = false;
      task.process->Signal(SIGKILL);  // whatever it has started itself
      Ended(task, status);
    }
  }

  void Ended(Task& task, int status) {
    const bool is_signalled = WIFSIGNALED(status);
    const int code = is_signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    task.has_finished = code == 0;
    if (is_ending_) return;
    // A ps that was asked to end says 0, but the workers are not done without it.
    const bool is_needed = code != 0 || task.job == "ps";
    const std::string how = is_signalled ? absl::StrCat("was ended by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")") : absl::StrCat("ended with exit code ", code);
    if (options_.restart && is_needed && code != kWrongFlags && task.restarts < options_.max_restarts) {
      ++task.restarts;
      task.restart_at_ms = NowMs() + kRestartDelayMs;
      Say(absl::StrCat(task.name(), " ", how, "; restart ", task.restarts, " of ", options_.max_restarts, " in ", kRestartDelayMs / 1000, " s"));
      return;
    }
    if (code == 0) {
      if (task.job != "worker") Say(absl::StrCat(task.name(), " is done"));
      const bool are_workers_done = std::all_of(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.job != "worker" || t.has_finished; });
      if (are_workers_done) EndAll();
      return;
    }
    Say(absl::StrCat(task.name(), " ", how, "; ending all tasks"));
    exit_code_ = code;
    EndAll();
  }

  void EndAll() {
    if (is_ending_) return;
    is_ending_ = true;
    kill_at_ms_ = NowMs() + kGraceSeconds * 1000;
    for (Task& task : tasks_) {
      if (task.is_running) task.process->Signal(SIGTERM);
    }
  }

  bool IsAnyRunning() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.is_running; });
  }
  bool HasPlannedRestart() const {
    return !is_ending_ && std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.restart_at_ms != 0; });
  }

  int TimeoutMs() const {
    int64_t next = kill_at_ms_;
    for (const Task& task : tasks_) {
      if (task.restart_at_ms != 0 && (next == 0 || task.restart_at_ms < next)) next = task.restart_at_ms;
    }
    return next == 0 ? -1 : static_cast<int>(std::max<int64_t>(0, next - NowMs()) + 1);
  }

  void Print(Task& task) {
    if (!task.process) return;
    for (const std::string& line : task.process->ReadLines()) PrintLine(task, line);
  }

  void PrintLine(const Task& task, const std::string& line) {
    // ps tasks in blues, workers in warm colours, so that a glance tells who speaks.
    static constexpr int kPs[] = {34, 36, 94, 96}, kWorkers[] = {32, 33, 35, 92, 93, 95};
    const int color = task.job == "ps" ? kPs[task.index % 4] : kWorkers[task.index % 6];
    if (use_color_) {
      std::printf("\033[%dm%-9s\033[0m %s\n", color, task.name().c_str(), line.c_str());
    } else {
      std::printf("%-9s %s\n", task.name().c_str(), line.c_str());
    }
    std::fflush(stdout);
  }

  void Say(const std::string& text) {
    std::printf(use_color_ ? "\033[1mlaunch\033[0m    %s\n" : "launch    %s\n", text.c_str());
    std::fflush(stdout);
  }

  static int Complain(const Status& status) {
    std::fprintf(stderr, "tandem launch: %s\n", std::string(status.message()).c_str());
    return 1;
  }

  static int64_t NowMs() { return MonotonicNanos() / 1'000'000; }

  const LaunchOptions options_;
  bool use_color_ = false;
  std::vector<Task> tasks_;
  int signals_ = -1;
  bool is_ending_ = false;
  int64_t kill_at_ms_ = 0;  // 0: not planned
  int exit_code_ = 0;
};

}  // namespace

void AddLaunchCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App* command = app.add_subcommand("launch", "run a program as a whole cluster on this machine");
  command->add_option("--ps", options->ps, "number of parameter servers")->check(CLI::Range(0, 1000))->capture_default_str();
  command->add_option("--workers", options->workers, "number of workers; worker 0 is the chief")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_flag("--restart", options->restart, "start a task again that died");
  command->add_option("--max_restarts", options->max_restarts, "how often, per task")->check(CLI::NonNegativeNumber)->capture_default_str();
  command->add_option("--color", options->color, "colour the names of the tasks")->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str();
  command->add_option("program", options->command, "the program and its flags, after --")->required();
  command->footer(
      "Each task runs the program with --job_name, --task_index, --ps_hosts and --worker_hosts added, and TF_CONFIG set. All end when the\n"
      "workers are done, or when a task fails (unless --restart). Ctrl-C ends all.");
  command->callback([options, exit_code] { *exit_code = Launcher(*options).Run(); });
}

}  // namespace tandem
