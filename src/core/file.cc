#include "core/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/random.h"

namespace tandem {
namespace {

// One system call does not move more than this.
constexpr size_t kLargestTransfer = size_t{1} << 30;

StatusOr<int> OpenFile(const std::string& path, int flags) {
  // A zero byte would cut the name for the system: another file than the one that was meant.
  if (path.find('\0') != std::string::npos) return InvalidArgument("a file name contains a zero byte");
  int fd;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrnoToStatus(errno, path);
  return fd;
}

Status SyncDescriptor(int fd, const std::string& path) {
  int result;
  do {
    result = fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? OkStatus() : ErrnoToStatus(errno, path);
}

}  // namespace

// ---- writing ---------------------------------------------------------------------------------------------------------------

StatusOr<std::unique_ptr<WritableFile>> WritableFile::Create(absl::string_view path, size_t buffer_bytes) {
  std::string name(path);
  ASSIGN_OR_RETURN(int fd, OpenFile(name, O_WRONLY | O_CREAT | O_TRUNC));
  return std::unique_ptr<WritableFile>(new WritableFile(std::move(name), fd, buffer_bytes));
}

StatusOr<std::unique_ptr<WritableFile>> WritableFile::OpenToAppend(absl::string_view path, size_t buffer_bytes) {
  std::string name(path);
  ASSIGN_OR_RETURN(int fd, OpenFile(name, O_WRONLY | O_CREAT | O_APPEND));
  return std::unique_ptr<WritableFile>(new WritableFile(std::move(name), fd, buffer_bytes));
}

WritableFile::~WritableFile() {
  Close().IgnoreError();  // nobody is left to tell
}

Status WritableFile::Write(absl::string_view data) {
  while (!data.empty()) {
    ssize_t written = write(fd_, data.data(), std::min(data.size(), kLargestTransfer));
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoToStatus(errno, path_);
    }
    data.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status WritableFile::Append(absl::string_view data) {
  if (fd_ < 0) return FailedPrecondition(path_, " is closed");
  if (buffer_.size() + data.size() > buffer_bytes_) RETURN_IF_ERROR(Flush());
  if (data.size() >= buffer_bytes_) return Write(data);
  if (buffer_.empty()) buffer_.reserve(buffer_bytes_);
  buffer_.append(data.data(), data.size());
  return OkStatus();
}

Status WritableFile::Flush() {
  if (fd_ < 0) return FailedPrecondition(path_, " is closed");
  RETURN_IF_ERROR(Write(buffer_));
  buffer_.clear();
  return OkStatus();
}

Status WritableFile::Sync() {
  RETURN_IF_ERROR(Flush());
  return SyncDescriptor(fd_, path_);
}

Status WritableFile::Close() {
  if (fd_ < 0) return OkStatus();
  Status status = Flush();
  // The descriptor is gone whatever close says; what it says may be the only news of a failed write (NFS).
  if (close(fd_) != 0 && errno != EINTR && status.ok()) status = ErrnoToStatus(errno, path_);
  fd_ = -1;
  return status;
}

// ---- reading ---------------------------------------------------------------------------------------------------------------

StatusOr<std::unique_ptr<ReadableFile>> ReadableFile::Open(absl::string_view path) {
  std::string name(path);
  ASSIGN_OR_RETURN(int fd, OpenFile(name, O_RDONLY));
  return std::unique_ptr<ReadableFile>(new ReadableFile(std::move(name), fd));
}

ReadableFile::~ReadableFile() { close(fd_); }

StatusOr<uint64_t> ReadableFile::Size() const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return ErrnoToStatus(errno, path_);
  if (S_ISDIR(info.st_mode)) return ErrnoToStatus(EISDIR, path_);
  return static_cast<uint64_t>(info.st_size);
}

StatusOr<size_t> ReadableFile::Read(uint64_t offset, size_t size, void* to) const {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(fd_, static_cast<char*>(to) + done, std::min(size - done, kLargestTransfer), static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoToStatus(errno, path_);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status ReadableFile::ReadExactly(uint64_t offset, size_t size, void* to) const {
  ASSIGN_OR_RETURN(size_t got, Read(offset, size, to));
  if (got < size) return DataLoss(path_, " ends early: ", got, " of ", size, " bytes are left at ", offset);
  return OkStatus();
}

StatusOr<std::string> ReadWholeFile(absl::string_view path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, ReadableFile::Open(path));
  ASSIGN_OR_RETURN(uint64_t size, file->Size());
  std::string contents;
  // Files of /proc say they are empty; growing files have more than they said. So read until nothing comes.
  size_t step = std::max<size_t>(size, 4096);
  while (true) {
    size_t old_size = contents.size();
    contents.resize(old_size + step);
    ASSIGN_OR_RETURN(size_t got, file->Read(old_size, step, contents.data() + old_size));
    contents.resize(old_size + got);
    if (got < step) return contents;
    step = std::min<size_t>(std::max<size_t>(contents.size() / 2, 4096), size_t{8} << 20);
  }
}

Status WriteWholeFile(absl::string_view path, absl::string_view contents) {
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Create(path));
  RETURN_IF_ERROR(file->Append(contents));
  return file->Close();
}

Status WriteFileAtomically(absl::string_view path, absl::string_view contents) {
  std::string temporary = absl::StrFormat("%s.tmp%016x", path, RandomUint64());
  Status status = [&]() -> Status {
    ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Create(temporary));
    RETURN_IF_ERROR(file->Append(contents));
    RETURN_IF_ERROR(file->Sync());
    RETURN_IF_ERROR(file->Close());
    return RenameFile(temporary, path);
  }();
  if (!status.ok()) {
    RemoveFile(temporary).IgnoreError();  // the first error is the one to report
    return status;
  }
  return SyncDirectory(DirectoryOf(path));
}

// ---- names -----------------------------------------------------------------------------------------------------------------

bool FileExists(absl::string_view path) { return access(std::string(path).c_str(), F_OK) == 0; }

bool IsDirectory(absl::string_view path) {
  struct stat info;
  return stat(std::string(path).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

StatusOr<uint64_t> FileSize(absl::string_view path) {
  std::string name(path);
  struct stat info;
  if (stat(name.c_str(), &info) != 0) return ErrnoToStatus(errno, name);
  return static_cast<uint64_t>(info.st_size);
}

Status RenameFile(absl::string_view from, absl::string_view to) {
  std::string source(from), target(to);
  return rename(source.c_str(), target.c_str()) == 0 ? OkStatus() : ErrnoToStatus(errno, source);
}

Status RemoveFile(absl::string_view path) {
  std::string name(path);
  return unlink(name.c_str()) == 0 ? OkStatus() : ErrnoToStatus(errno, name);
}

Status RemoveEmptyDirectory(absl::string_view path) {
  std::string name(path);
  return rmdir(name.c_str()) == 0 ? OkStatus() : ErrnoToStatus(errno, name);
}

Status CreateDirectory(absl::string_view path) {
  std::string name(path);
  if (mkdir(name.c_str(), 0777) == 0) return OkStatus();
  int error_number = errno;
  if (error_number == EEXIST && IsDirectory(name)) return OkStatus();
  return ErrnoToStatus(error_number, name);
}

Status CreateDirectories(absl::string_view path) {
  if (path.empty() || IsDirectory(path)) return OkStatus();
  absl::string_view parent = DirectoryOf(path);
  if (parent != path) RETURN_IF_ERROR(CreateDirectories(parent));
  return CreateDirectory(path);
}

StatusOr<std::vector<std::string>> ListDirectory(absl::string_view path) {
  std::string name(path.empty() ? "." : path);
  DIR* directory = opendir(name.c_str());
  if (directory == nullptr) return ErrnoToStatus(errno, name);
  std::vector<std::string> names;
  errno = 0;
  while (dirent* entry = readdir(directory)) {
    absl::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  int error_number = errno;
  closedir(directory);
  if (error_number != 0) return ErrnoToStatus(error_number, name);
  std::sort(names.begin(), names.end());
  return names;
}

Status SyncDirectory(absl::string_view path) {
  std::string name(path.empty() ? "." : path);
  ASSIGN_OR_RETURN(int fd, OpenFile(name, O_RDONLY | O_DIRECTORY));
  Status status = SyncDescriptor(fd, name);
  close(fd);
  // Some file systems cannot sync a directory; there is nothing to gain from failing then.
  return status.code() == absl::StatusCode::kInvalidArgument ? OkStatus() : status;
}

absl::string_view DirectoryOf(absl::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == absl::string_view::npos) return "";
  return path.substr(0, std::max<size_t>(slash, 1));
}

absl::string_view BaseName(absl::string_view path) {
  size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? path : path.substr(slash + 1);
}

std::string JoinPath(absl::string_view directory, absl::string_view name) {
  if (directory.empty() || absl::StartsWith(name, "/")) return std::string(name);
  return absl::StrCat(directory, absl::EndsWith(directory, "/") ? "" : "/", name);
}

}  // namespace tandem
