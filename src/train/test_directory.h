// A fresh directory for one test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tandem {

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tandem_train_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tandem
