#include "runtime/local_rendezvous.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr char kDevice[] = "/job:ps/replica:0/task:0/device:CPU:0";

EdgeKey Key(const std::string& edge) { return EdgeKey::Make(kDevice, 7, kDevice, edge); }

struct Received {
  int count = 0;
  Status status;
  float value = 0;
  Rendezvous::RecvDone Callback() {
    return [this](const Status& s, const Tensor& v, bool) {
      ++count;
      status = s;
      if (v.has_value()) value = v.scalar<float>();
    };
  }
};

TEST(LocalRendezvous, RecvBeforeSendWaits) {
  LocalRendezvous rendezvous;
  Received got;
  rendezvous.Recv(Key("a"), got.Callback());
  EXPECT_EQ(got.count, 0);
  ASSERT_TRUE(rendezvous.Send(Key("a"), 3.0f, false).ok());
  EXPECT_EQ(got.count, 1);
  EXPECT_EQ(got.value, 3.0f);
}

TEST(LocalRendezvous, SendBeforeRecvIsKept) {
  LocalRendezvous rendezvous;
  ASSERT_TRUE(rendezvous.Send(Key("a"), 3.0f, false).ok());
  Received got;
  rendezvous.Recv(Key("a"), got.Callback());
  EXPECT_EQ(got.value, 3.0f);
  EXPECT_TRUE(rendezvous.is_empty());
}

TEST(LocalRendezvous, SecondSendOfAKeyIsRefused) {
  LocalRendezvous rendezvous;
  ASSERT_TRUE(rendezvous.Send(Key("a"), 3.0f, false).ok());
  EXPECT_EQ(rendezvous.Send(Key("a"), 3.0f, false).code(), absl::StatusCode::kAlreadyExists);
}

TEST(LocalRendezvous, AbortEndsThoseWhoWaitAndAllWhoComeLater) {
  LocalRendezvous rendezvous;
  Received waiting, late;
  rendezvous.Recv(Key("a"), waiting.Callback());
  rendezvous.Abort(Aborted("the ps has gone"));
  rendezvous.Recv(Key("b"), late.Callback());
  EXPECT_EQ(waiting.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(late.status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(waiting.count + late.count, 2);
  EXPECT_EQ(rendezvous.Send(Key("a"), 1.0f, false).code(), absl::StatusCode::kAborted);
}

TEST(EdgeKey, FullNameIsTensorFlows) {
  EdgeKey key = EdgeKey::Make(kDevice, 0x123456789abcdef, kDevice, "edge_12_W/read");
  EXPECT_EQ(key.full, std::string(kDevice) + ";0123456789abcdef;" + kDevice + ";edge_12_W/read;0:0");
  StatusOr<EdgeKey> parsed = EdgeKey::Parse(key.full);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->hash, key.hash);
  EXPECT_EQ(parsed->src_incarnation, 0x123456789abcdefu);
}

TEST(EdgeKey, MalformedNamesAreRefused) {
  for (const char* text : {"", "a;b;c;d", "/job:ps;0;x;y;0:0", "/job:ps/replica:0/task:0/device:CPU:0;zz;/job:ps/replica:0/task:0/device:CPU:0;e;0:0"}) {
    StatusOr<EdgeKey> parsed = EdgeKey::Parse(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace tandem
