// Joins the checkpoints that the tasks of a sharded save have written into one.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/status.h"

namespace tandem {

// Renames the parts' data files to those of `destination`, writes its index and removes the parts'. The files stay where they are on
// the disk: all must be on one file system. With `delete_old_directories` the parts' directories go too, if they are empty by then
// and not the destination's. NotFound, naming the part, if one is not there, unless `allow_missing` and another one is.
Status MergeBundles(absl::Span<const std::string> prefixes, absl::string_view destination, bool delete_old_directories, bool allow_missing);

}  // namespace tandem
