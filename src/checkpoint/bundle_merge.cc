#include "checkpoint/bundle_merge.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "checkpoint/bundle_format.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "core/file.h"

namespace tandem {
namespace {

struct Merged {
  BundleHeader header;
  std::map<std::string, BundleEntry> entries;
  std::vector<std::string> data_files;  // the new shard i is this file
  absl::flat_hash_map<std::string, int> shards;

  int ShardOf(const std::string& data_file) {
    auto [at, is_new] = shards.try_emplace(data_file, static_cast<int>(data_files.size()));
    if (is_new) data_files.push_back(data_file);
    return at->second;
  }
};

Status AddPart(const BundleReader& part, bool is_first, Merged* merged) {
  const std::string& prefix = part.prefix();
  if (is_first) {
    merged->header.is_big_endian = part.header().is_big_endian;
  } else if (merged->header.is_big_endian != part.header().is_big_endian) {
    return InvalidArgument("Merging bundles with conflicting endianness; inputs corrupted? At ", prefix);
  }
  for (const auto& [key, entry] : part.entries()) {
    bool has_bytes = entry.slices.empty();
    auto [at, is_new] = merged->entries.try_emplace(key, entry);
    BundleEntry& kept = at->second;
    if (!is_new) {
      if (has_bytes || kept.slices.empty()) {
        return InvalidArgument("Duplicate tensor keyed by ", key, " encountered, when merging prefix: ", prefix);
      }
      if (kept.dtype != entry.dtype || kept.shape != entry.shape) {
        return InvalidArgument("the slices of ", key, " do not fit together: ", DataTypeName(kept.dtype), kept.shape.ToString(), " and ",
                               DataTypeName(entry.dtype), entry.shape.ToString(), " in ", prefix);
      }
      kept.slices.insert(kept.slices.end(), entry.slices.begin(), entry.slices.end());
      continue;
    }
    if (has_bytes) {
      if (entry.shard >= part.header().shard_count) return DataLoss(prefix, ": ", key, " is in data file ", entry.shard, " of ", part.header().shard_count);
      kept.shard = merged->ShardOf(DataFileName(prefix, entry.shard, part.header().shard_count));
    }
  }
  // Data files that no entry names.
  for (int shard = 0; shard < part.header().shard_count; ++shard) merged->ShardOf(DataFileName(prefix, shard, part.header().shard_count));
  return OkStatus();
}

// A crash on the way leaves a destination without an index: not a checkpoint.
Status MoveInPlace(const Merged& merged, absl::string_view destination) {
  int count = static_cast<int>(merged.data_files.size());
  // Checked first: a part whose data is elsewhere must not cost the other parts.
  for (const std::string& file : merged.data_files) {
    if (!FileExists(file)) return NotFound(file, "; No such file or directory");
  }
  absl::string_view directory = DirectoryOf(destination);
  if (!directory.empty()) RETURN_IF_ERROR(CreateDirectory(directory));
  Status removed = RemoveFile(IndexFileName(destination));
  if (!removed.ok() && removed.code() != absl::StatusCode::kNotFound) return removed;
  for (int shard = 0; shard < count; ++shard) {
    RETURN_IF_ERROR(RenameFile(merged.data_files[static_cast<size_t>(shard)], DataFileName(destination, shard, count)));
  }
  return WriteBundleIndex(destination, {count, merged.header.is_big_endian}, merged.entries);
}

}  // namespace

Status MergeBundles(absl::Span<const std::string> prefixes, absl::string_view destination, bool delete_old_directories, bool allow_missing) {
  Merged merged;
  std::vector<std::string> found;
  for (const std::string& prefix : prefixes) {
    StatusOr<std::unique_ptr<BundleReader>> part = BundleReader::Open(prefix);
    if (part.status().code() == absl::StatusCode::kNotFound) {
      if (allow_missing) continue;
      return NotFound(part.status().message(), " (a part of the sharded checkpoint ", destination,
                      "; the tasks that save it and the one that merges it need one file system)");
    }
    RETURN_IF_ERROR(part.status());
    RETURN_IF_ERROR(AddPart(**part, found.empty(), &merged));
    found.push_back(prefix);
  }
  if (found.empty()) return InvalidArgument("At least one prefix checkpoint file must exist, but none existed.");
  RETURN_IF_ERROR(MoveInPlace(merged, destination));
  // The checkpoint is there; what is left over of the parts harms nobody.
  for (const std::string& prefix : found) {
    if (prefix != destination) RemoveFile(IndexFileName(prefix)).IgnoreError();
  }
  if (!delete_old_directories) return OkStatus();
  for (const std::string& prefix : found) {
    absl::string_view directory = DirectoryOf(prefix);
    if (!directory.empty() && directory != DirectoryOf(destination)) RemoveEmptyDirectory(directory).IgnoreError();
  }
  return OkStatus();
}

}  // namespace tandem
