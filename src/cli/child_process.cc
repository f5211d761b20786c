#include "cli/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace tandem {
namespace {

// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void BecomeProgram(char* const* words, char* const* environment, int output, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing stays behind if the launcher itself is killed
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvpe(words[0], words, environment);
  const int error = errno;
  // If even this fails the parent sees a program that ended with 127.
  (void)!write(report, &error, sizeof error);
  _exit(127);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

StatusOr<ChildProcess> ChildProcess::Start(std::string name, const std::vector<std::string>& words,
                                           const std::vector<std::pair<std::string, std::string>>& environment) {
  std::vector<std::string> arguments = words, variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const absl::string_view text(*entry);
    bool is_replaced = false;
    for (const auto& [key, value] : environment) is_replaced |= text.substr(0, text.find('=')) == key;
    if (!is_replaced) variables.emplace_back(text);
  }
  for (const auto& [key, value] : environment) variables.push_back(absl::StrCat(key, "=", value));
  std::vector<char*> argument_pointers = Pointers(arguments), variable_pointers = Pointers(variables);

  int output[2], report[2];
  if (pipe2(output, O_CLOEXEC) != 0) return ErrnoToStatus(errno, "pipe");
  if (pipe2(report, O_CLOEXEC) != 0) {
    const Status status = ErrnoToStatus(errno, "pipe");
    close(output[0]);
    close(output[1]);
    return status;
  }
  const pid_t pid = fork();
  if (pid == 0) BecomeProgram(argument_pointers.data(), variable_pointers.data(), output[1], report[1]);
  const int fork_error = errno;
  close(output[1]);
  close(report[1]);
  int exec_error = 0;
  const bool is_exec_failed = pid > 0 && read(report[0], &exec_error, sizeof exec_error) == sizeof exec_error;
  close(report[0]);
  if (pid < 0 || is_exec_failed) {
    close(output[0]);
    return ErrnoToStatus(pid < 0 ? fork_error : exec_error, absl::StrCat("cannot run ", words[0]));
  }
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  ChildProcess child;
  child.name_ = std::move(name);
  child.pid_ = pid;
  child.output_ = output[0];
  return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (output_ >= 0) close(output_);
  name_ = std::move(other.name_);
  pid_ = std::exchange(other.pid_, -1);
  output_ = std::exchange(other.output_, -1);
  unfinished_ = std::move(other.unfinished_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (output_ >= 0) close(output_);
}

std::vector<std::string> ChildProcess::ReadLines() {
  std::vector<std::string> lines;
  char chunk[16 << 10];
  while (output_ >= 0) {
    const ssize_t count = read(output_, chunk, sizeof chunk);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      close(output_);
      output_ = -1;
      if (!unfinished_.empty()) lines.push_back(std::move(unfinished_));
      unfinished_.clear();
      break;
    }
    unfinished_.append(chunk, static_cast<size_t>(count));
    size_t begin = 0;
    for (size_t end; (end = unfinished_.find('\n', begin)) != std::string::npos; begin = end + 1) lines.push_back(unfinished_.substr(begin, end - begin));
    unfinished_.erase(0, begin);
  }
  return lines;
}

void ChildProcess::Signal(int number) const {
  // The group is gone if the process has ended and left nobody: then there is nobody to tell.
  if (pid_ > 0) (void)kill(-pid_, number);
}

}  // namespace tandem
