// For the tests of this folder: fresh directories, and the checkpoints that TensorFlow wrote.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/file.h"
#include "core/random.h"

namespace tandem {

inline std::string FreshDirectory() {
  std::string path = absl::StrCat(testing::TempDir(), "checkpoint_test_", RandomUint64());
  EXPECT_TRUE(CreateDirectory(path).ok());
  return path;
}

inline std::string GoldenCheckpoint(absl::string_view name) { return absl::StrCat(TANDEM_GOLDEN_DIR, "/checkpoints/", name); }

inline std::string Bytes(absl::string_view path) {
  StatusOr<std::string> bytes = ReadWholeFile(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

inline std::string HexOf(absl::string_view path) { return absl::BytesToHexString(Bytes(path)); }

}  // namespace tandem
