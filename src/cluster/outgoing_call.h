#pragma once

namespace tandem {

// A call to another task. Cancel may come at any time, from any thread, also after the end.
class OutgoingCall {
 public:
  virtual ~OutgoingCall() = default;
  virtual void Cancel() = 0;
};

}  // namespace tandem
