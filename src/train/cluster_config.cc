#include "tandem/cluster_config.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cluster/cluster_spec.h"
#include "core/file.h"
#include "core/log.h"
#include "core/status.h"
#include "tandem/error.h"
#include "train/stop_signal.h"

namespace tandem {
namespace {

constexpr int kUsageError = 2;

const std::vector<ProgramFlag>& JobFlags() {
  static const auto* const kFlags = new std::vector<ProgramFlag>{
      {"job_name", "", "what this process is: ps or worker"},
      {"task_index", "0", "which one of them, from 0; worker 0 is the chief"},
      {"ps_hosts", "", "host:port of every ps, with commas between them"},
      {"worker_hosts", "", "host:port of every worker, with commas between them"},
      {"wait_s", "0", "seconds to wait for other tasks before giving up; 0: for ever"},
  };
  return *kFlags;
}

struct FlagValues {
  std::map<std::string, std::string> values;  // with defaults
  std::map<std::string, bool> given;
};

const ProgramFlag* FindFlag(const std::vector<ProgramFlag>& flags, absl::string_view name) {
  for (const ProgramFlag& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

StatusOr<FlagValues> ParseFlags(const std::vector<std::string>& words, const std::vector<ProgramFlag>& flags) {
  FlagValues parsed;
  for (const std::vector<ProgramFlag>* list : {&JobFlags(), &flags}) {
    for (const ProgramFlag& flag : *list) parsed.values[flag.name] = flag.default_value;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    absl::string_view word = words[i];
    if (!absl::ConsumePrefix(&word, "-")) return InvalidArgument("'", words[i], "' is not a flag; see --help");
    absl::ConsumePrefix(&word, "-");
    const size_t equals = word.find('=');
    const std::string name(word.substr(0, equals));
    if (FindFlag(JobFlags(), name) == nullptr && FindFlag(flags, name) == nullptr) return InvalidArgument("unknown flag --", name, "; see --help");
    if (equals == absl::string_view::npos && i + 1 == words.size()) return InvalidArgument("flag --", name, " needs a value");
    parsed.values[name] = equals != absl::string_view::npos ? std::string(word.substr(equals + 1)) : words[++i];
    parsed.given[name] = true;
  }
  return parsed;
}

StatusOr<TaskConfig> ChooseTask(const FlagValues& flags, absl::string_view tf_config) {
  const bool has_cluster = flags.given.contains("ps_hosts") || flags.given.contains("worker_hosts");
  if (!has_cluster && !flags.given.contains("job_name") && !flags.given.contains("task_index")) return TaskConfigFromJson(tf_config);
  for (const char* needed : {"job_name", "ps_hosts", "worker_hosts"}) {
    if (!flags.given.contains(needed)) return InvalidArgument("flag --", needed, " is missing: a task of a cluster needs --job_name, --task_index, --ps_hosts and --worker_hosts");
  }
  int index = 0;
  const std::string& text = flags.values.at("task_index");
  if (!absl::SimpleAtoi(text, &index) || index < 0) return InvalidArgument("--task_index=", text, " is not a task number");
  return TaskConfigFromFlags(flags.values.at("job_name"), index, flags.values.at("ps_hosts"), flags.values.at("worker_hosts"));
}

void PrintHelp(const std::string& program, const std::vector<ProgramFlag>& flags) {
  std::cout << "usage: " << program << " [--flag=value …]\n";
  for (const std::vector<ProgramFlag>* list : {&flags, &JobFlags()}) {
    if (list->empty()) continue;
    std::cout << (list == &flags ? "\nflags:\n" : "\nflags of the job; without them TF_CONFIG is read, and without that all runs in this process:\n");
    for (const ProgramFlag& flag : *list) {
      std::cout << "  --" << flag.name << "  " << flag.help;
      if (!flag.default_value.empty()) std::cout << " (" << flag.default_value << ")";
      std::cout << "\n";
    }
  }
}

[[noreturn]] void EndWithUsageError(const std::string& text) {
  std::cerr << text << std::endl;
  std::exit(kUsageError);
}

std::string program_name;  // for the last line of a process that ends with an error

// An Error that nobody catches is the user's to read: one line instead of a core file.
[[noreturn]] void OnTerminate() {
  if (std::exception_ptr current = std::current_exception()) {
    try {
      std::rethrow_exception(current);
    } catch (const Error& error) {
      const Status& status = error.status();
      // Errors name their node and task on lines of their own, as TensorFlow's do; here one line is wanted.
      std::vector<std::string> lines = absl::StrSplit(status.ToString(), '\n', absl::SkipWhitespace());
      for (std::string& line : lines) absl::StripAsciiWhitespace(&line);
      std::cerr << program_name << ": " << absl::StrJoin(lines, " ") << std::endl;
      const bool is_interrupted = absl::IsCancelled(status) || absl::IsAborted(status) || absl::IsUnavailable(status);
      std::_Exit(is_interrupted && StopSignal::WasRaised() ? kEndedBySignal : 1);
    } catch (const std::exception& error) {
      std::cerr << program_name << ": " << error.what() << std::endl;
    } catch (...) {
    }
  }
  std::abort();
}

}  // namespace

ClusterConfig::ClusterConfig() : task_(std::make_shared<const TaskConfig>()) {}

StatusOr<ClusterConfig> ClusterConfig::Parse(const std::vector<std::string>& words, absl::string_view tf_config, const std::vector<ProgramFlag>& flags) {
  ASSIGN_OR_RETURN(FlagValues parsed, ParseFlags(words, flags));
  ASSIGN_OR_RETURN(TaskConfig task, ChooseTask(parsed, tf_config));
  ClusterConfig config;
  const std::string& wait = parsed.values.at("wait_s");
  if (!absl::SimpleAtod(wait, &config.wait_s_) || !(config.wait_s_ >= 0)) return InvalidArgument("--wait_s=", wait, " is not a number of seconds");
  config.task_ = std::make_shared<const TaskConfig>(std::move(task));
  config.flags_ = std::move(parsed.values);
  return config;
}

ClusterConfig ClusterConfig::FromArgs(int argc, char** argv, const std::vector<ProgramFlag>& flags) {
  program_name = argc > 0 ? std::string(BaseName(argv[0])) : "program";
  std::set_terminate(OnTerminate);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  for (const std::string& word : words) {
    if (word == "--help" || word == "-help" || word == "-h") {
      PrintHelp(program_name, flags);
      std::exit(0);
    }
  }
  const char* tf_config = std::getenv("TF_CONFIG");
  StatusOr<ClusterConfig> config = Parse(words, tf_config == nullptr ? "" : tf_config, flags);
  if (!config.ok()) EndWithUsageError(absl::StrCat(program_name, ": ", config.status().message()));
  if (config->has_cluster()) SetLogTask(absl::StrCat(config->job_name(), "/", config->task_index()));
  return *std::move(config);
}

bool ClusterConfig::has_cluster() const { return !task_->cluster.empty(); }
bool ClusterConfig::is_ps() const { return has_cluster() && task_->task.job == "ps"; }
bool ClusterConfig::is_chief() const { return task_->is_chief; }
const std::string& ClusterConfig::job_name() const { return task_->task.job; }
int ClusterConfig::task_index() const { return task_->task.index; }
int ClusterConfig::ps_count() const { return task_->cluster.task_count("ps"); }
int ClusterConfig::worker_count() const {
  if (!has_cluster()) return 1;
  return task_->cluster.task_count("worker") + task_->cluster.task_count("chief") + task_->cluster.task_count("master");
}

const std::string& ClusterConfig::flag(const std::string& name) const {
  auto found = flags_.find(name);
  if (found == flags_.end()) throw Error(InvalidArgument("the program asks for its flag --", name, " but does not declare it"));
  return found->second;
}

int64_t ClusterConfig::int_flag(const std::string& name) const {
  int64_t value = 0;
  if (!absl::SimpleAtoi(flag(name), &value)) EndWithUsageError(absl::StrCat(program_name, ": --", name, "=", flag(name), " is not a whole number"));
  return value;
}

double ClusterConfig::float_flag(const std::string& name) const {
  double value = 0;
  if (!absl::SimpleAtod(flag(name), &value)) EndWithUsageError(absl::StrCat(program_name, ": --", name, "=", flag(name), " is not a number"));
  return value;
}

}  // namespace tandem
