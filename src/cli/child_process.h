// A task that `tandem launch` started: a process of its own group, whose output comes through a pipe.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/status.h"

namespace tandem {

class ChildProcess {
 public:
  // `name` is for messages. `environment` is added to that of this process. NotFound if there is no such program.
  static StatusOr<ChildProcess> Start(std::string name, const std::vector<std::string>& words, const std::vector<std::pair<std::string, std::string>>& environment);
  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // closes the pipe; does not end the process

  const std::string& name() const { return name_; }
  pid_t pid() const { return pid_; }
  int output() const { return output_; }  // to be polled; -1 after the end of the output

  // What has come since the last call, as whole lines; the rest of an unfinished line once the output has ended.
  std::vector<std::string> ReadLines();
  // To the process and all that it has started.
  void Signal(int number) const;

 private:
  ChildProcess() = default;
  std::string name_;
  pid_t pid_ = -1;
  int output_ = -1;
  std::string unfinished_;
};

}  // namespace tandem
