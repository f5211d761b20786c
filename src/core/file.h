// Files of this machine. Errors name the path as "<path>; No such file or directory". Paths are plain: nothing in them is a pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/status.h"

namespace tandem {

// Writes from the start to the end. One thread at a time. The destructor closes without a word: Close() to know that all was written.
class WritableFile {
 public:
  // Small appends are gathered in `buffer_bytes`; larger ones go to the system as they are.
  static constexpr size_t kDefaultBufferBytes = 64 << 10;
  static StatusOr<std::unique_ptr<WritableFile>> Create(absl::string_view path, size_t buffer_bytes = kDefaultBufferBytes);  // cuts an existing file
  static StatusOr<std::unique_ptr<WritableFile>> OpenToAppend(absl::string_view path, size_t buffer_bytes = kDefaultBufferBytes);  // creates a missing one
  ~WritableFile();
  WritableFile(const WritableFile&) = delete;

  const std::string& path() const { return path_; }
  Status Append(absl::string_view data);
  // Hands everything to the system: others can read it.
  Status Flush();
  // Waits until it is on the disk.
  Status Sync();
  // Flushes. Nothing may follow; a second Close does nothing.
  Status Close();

 private:
  WritableFile(std::string path, int fd, size_t buffer_bytes) : path_(std::move(path)), fd_(fd), buffer_bytes_(buffer_bytes) {}
  Status Write(absl::string_view data);

  const std::string path_;
  int fd_;  // -1 once closed
  const size_t buffer_bytes_;
  std::string buffer_;
};

// Reads anywhere. Any thread.
class ReadableFile {
 public:
  static StatusOr<std::unique_ptr<ReadableFile>> Open(absl::string_view path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;

  const std::string& path() const { return path_; }
  StatusOr<uint64_t> Size() const;
  // How many of the `size` bytes from `offset` on there were: fewer only at the end of the file.
  StatusOr<size_t> Read(uint64_t offset, size_t size, void* to) const;
  // DataLoss if the file ends before.
  Status ReadExactly(uint64_t offset, size_t size, void* to) const;

 private:
  ReadableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  const std::string path_;
  const int fd_;
};

StatusOr<std::string> ReadWholeFile(absl::string_view path);
// Not atomic.
Status WriteWholeFile(absl::string_view path, absl::string_view contents);
// Readers see the old file or the new one, also after a crash.
Status WriteFileAtomically(absl::string_view path, absl::string_view contents);

bool FileExists(absl::string_view path);
bool IsDirectory(absl::string_view path);
StatusOr<uint64_t> FileSize(absl::string_view path);
Status RenameFile(absl::string_view from, absl::string_view to);  // replaces `to`
Status RemoveFile(absl::string_view path);
Status RemoveEmptyDirectory(absl::string_view path);
// One level; OK if it is there already.
Status CreateDirectory(absl::string_view path);
// With its parents; OK if it is there already.
Status CreateDirectories(absl::string_view path);
// Names, without the directory, "." and "..", in order.
StatusOr<std::vector<std::string>> ListDirectory(absl::string_view path);
// Makes renames and new files in it survive a crash of the machine.
Status SyncDirectory(absl::string_view path);

// "a/b" of "a/b/c", "" of "c", "/" of "/c".
absl::string_view DirectoryOf(absl::string_view path);
// "c" of "a/b/c".
absl::string_view BaseName(absl::string_view path);
// `name` itself if it is absolute or `directory` is empty.
std::string JoinPath(absl::string_view directory, absl::string_view name);

}  // namespace tandem
