// Between elements of a queue and batches of them.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "core/status.h"
#include "ops/queue/element_store.h"

namespace tandem {

// Row `row` of each component; shares the buffers.
Tuple ElementAt(const Tuple& batch, int64_t row);

// One tensor per component with the elements as rows. Where elements differ in size, each dimension is as long as the longest, and the
// rest is filled with zeros or empty strings. Without elements, unknown sizes are 0.
StatusOr<Tuple> StackElements(absl::Span<const Tuple> elements, absl::Span<const DataType> types, absl::Span<const PartialShape> shapes);

}  // namespace tandem
