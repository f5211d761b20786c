// AudioSummary, AudioSummaryV2: sounds as WAV files of 16-bit samples.
#include <algorithm>
#include <cmath>

#include "ops/summary/summary_output.h"
#include "proto/summary.pb.h"

namespace tandem {
namespace {

void AppendLittleEndian(uint32_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

// A sample in [-1, 1]; beyond that it is cut off.
int16_t ToSample(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int16_t>(std::clamp(std::round(value * 32768.0f), -32768.0f, 32767.0f));
}

// `samples`: frame by frame, in each one sample per channel.
std::string EncodeWav(absl::Span<const float> samples, uint32_t channels, uint32_t sample_rate) {
  constexpr uint32_t kSampleBytes = 2;
  uint32_t data_bytes = static_cast<uint32_t>(samples.size()) * kSampleBytes;
  std::string wav = "RIFF";
  AppendLittleEndian(36 + data_bytes, 4, &wav);
  wav += "WAVEfmt ";
  AppendLittleEndian(16, 4, &wav);  // bytes of this chunk
  AppendLittleEndian(1, 2, &wav);   // PCM
  AppendLittleEndian(channels, 2, &wav);
  AppendLittleEndian(sample_rate, 4, &wav);
  AppendLittleEndian(sample_rate * channels * kSampleBytes, 4, &wav);
  AppendLittleEndian(channels * kSampleBytes, 2, &wav);
  AppendLittleEndian(8 * kSampleBytes, 2, &wav);
  wav += "data";
  AppendLittleEndian(data_bytes, 4, &wav);
  wav.reserve(wav.size() + data_bytes);
  for (float sample : samples) AppendLittleEndian(static_cast<uint16_t>(ToSample(sample)), 2, &wav);
  return wav;
}

// Tensor [batch, frames, channels], or [batch, frames] of one channel.
Status SummarizeAudio(KernelContext& ctx, float sample_rate, int64_t max_outputs) {
  if (!ctx.input(0).shape().is_scalar()) return InvalidArgument("Tag must be a scalar");
  const Tensor& tensor = ctx.input(1);
  const Shape& shape = tensor.shape();
  if (shape.rank() != 2 && shape.rank() != 3) return InvalidArgument("Tensor must be 3-D or 2-D, got: ", shape.ToString());
  if (!(sample_rate > 0) || sample_rate > 4e9f) return InvalidArgument("sample_rate must be > 0, got ", sample_rate);
  int64_t frames = shape.dim(1), channels = shape.rank() == 3 ? shape.dim(2) : 1;
  if (channels < 1 || channels > 0xffff) return InvalidArgument("audio must have 1 to 65535 channels, got ", channels);
  // A WAV file says its size in 32 bits.
  if (frames > (int64_t{1} << 30) / channels) return InvalidArgument("audio of ", frames, " frames is too long");
  tensorflow::Summary summary;
  for (int64_t i = 0; i < std::min(max_outputs, shape.dim(0)); ++i) {
    auto* value = summary.add_value();
    value->set_tag(NumberedTag(ctx.input(0).scalar<std::string>(), "audio", i, max_outputs));
    auto* audio = value->mutable_audio();
    audio->set_sample_rate(sample_rate);
    audio->set_num_channels(channels);
    audio->set_length_frames(frames);
    audio->set_content_type("audio/wav");
    absl::Span<const float> samples = tensor.values<float>().subspan(static_cast<size_t>(i * frames * channels), static_cast<size_t>(frames * channels));
    audio->set_encoded_audio_string(EncodeWav(samples, static_cast<uint32_t>(channels), static_cast<uint32_t>(std::lrint(sample_rate))));
  }
  return SetSummaryOutput(ctx, summary);
}

struct AudioSummary {
  explicit AudioSummary(const Attrs& attrs) : sample_rate(attrs.GetFloat("sample_rate")), max_outputs(attrs.GetInt("max_outputs")) {}
  Status Run(KernelContext& ctx) const { return SummarizeAudio(ctx, sample_rate, max_outputs); }

  float sample_rate;
  int64_t max_outputs;
};

struct AudioSummaryV2 {
  explicit AudioSummaryV2(const Attrs& attrs) : max_outputs(attrs.GetInt("max_outputs")) {}
  Status Run(KernelContext& ctx) const {
    if (ctx.input(2).num_elements() != 1) return InvalidArgument("sample_rate must be a scalar, got shape ", ctx.input(2).shape().ToString());
    return SummarizeAudio(ctx, ctx.input(2).data<float>()[0], max_outputs);
  }

  int64_t max_outputs;
};

DEFINE_OP("AudioSummary")
    .Input("tag: string")
    .Input("tensor: float")
    .Output("summary: string")
    .Attr("sample_rate: float")
    .Attr("max_outputs: int >= 1 = 3")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<AudioSummary>())
    .NoGradient();

DEFINE_OP("AudioSummaryV2")
    .Input("tag: string")
    .Input("tensor: float")
    .Input("sample_rate: float")
    .Output("summary: string")
    .Attr("max_outputs: int >= 1 = 3")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<AudioSummaryV2>())
    .NoGradient();

}  // namespace
}  // namespace tandem
