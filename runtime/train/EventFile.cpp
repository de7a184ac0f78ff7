//===- EventFile.cpp - event files as TensorBoard reads them --------------===//
#include "runtime/train/EventFile.h"
#include "support/Json.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/Path.h"
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <unistd.h>

using namespace llvm;

namespace mp {

//===----------------------------------------------------------------------===//
// TFRecord: length, its checksum, data, its checksum
//===----------------------------------------------------------------------===//

/// The table of CRC-32C (Castagnoli), by bytes.
static constexpr std::array<uint32_t, 256> crcTable() {
  std::array<uint32_t, 256> table = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    table[byte] = crc;
  }
  return table;
}

/// The checksum as a TFRecord has it: rotated and shifted, as a checksum of
/// data that holds checksums would be weak.
static uint32_t maskedCrc(StringRef bytes) {
  static constexpr std::array<uint32_t, 256> table = crcTable();
  uint32_t crc = ~0u;
  for (unsigned char byte : bytes)
    crc = table[(crc ^ byte) & 255] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xA282EAD8;
}

template <typename T> static std::string littleEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  support::endian::write(bytes.data(), value, endianness::little);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Protocol buffers: a tag of field number and wire type, and the value
//===----------------------------------------------------------------------===//

namespace {
enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

class Message {
public:
  Message &number(unsigned field, uint64_t value) {
    tag(field, Varint);
    varint(value);
    return *this;
  }
  Message &real(unsigned field, double value) {
    tag(field, Fixed64);
    text += littleEndian(std::bit_cast<uint64_t>(value));
    return *this;
  }
  Message &real(unsigned field, float value) {
    tag(field, Fixed32);
    text += littleEndian(std::bit_cast<uint32_t>(value));
    return *this;
  }
  Message &bytes(unsigned field, StringRef value) {
    tag(field, Bytes);
    varint(value.size());
    text += value;
    return *this;
  }
  const std::string &str() const { return text; }

private:
  void tag(unsigned field, WireType type) { varint(field << 3 | type); }
  void varint(uint64_t value) {
    uint8_t bytes[10];
    unsigned length = encodeULEB128(value, bytes);
    text.append(reinterpret_cast<char *>(bytes), length);
  }
  std::string text;
};

// Field numbers of event.proto and summary.proto.
namespace event {
enum : unsigned {
  WallTime = 1,
  Step = 2,
  FileVersion = 3,
  Summary = 5,
  SessionLog = 7
};
}
namespace session {
enum : unsigned { Status = 1, Start = 1 };
}
namespace summary {
enum : unsigned { Value = 1, Tag = 1, SimpleValue = 2 };
}
} // namespace

static double wallTime() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

static std::string hostName() {
  char name[256] = "host";
  gethostname(name, sizeof(name) - 1);
  return name;
}

Expected<EventFile> EventFile::create(StringRef folder, int64_t firstStep) {
  static std::atomic<unsigned> count = 0;
  SmallString<256> path(folder);
  sys::path::append(path, formatv("events.out.tfevents.{0}.{1}.{2}.{3}",
                                  static_cast<int64_t>(wallTime()), hostName(),
                                  getpid(), count++)
                              .str());
  auto made = OutputFile::createNew(path, path);
  if (!made)
    return made.takeError();
  EventFile file(std::move(*made));
  file.addRecord(Message()
                     .real(event::WallTime, wallTime())
                     .bytes(event::FileVersion, "brain.Event:2")
                     .str());
  file.addRecord(
      Message()
          .real(event::WallTime, wallTime())
          .number(event::Step, firstStep)
          .bytes(event::SessionLog,
                 Message().number(session::Status, session::Start).str())
          .str());
  if (Error error = file.flush())
    return std::move(error);
  return file;
}

void EventFile::addRecord(StringRef data) {
  std::string length = littleEndian<uint64_t>(data.size());
  pending += length + littleEndian(maskedCrc(length));
  pending += data;
  pending += littleEndian(maskedCrc(data));
}

void EventFile::add(int64_t step, const NamedNumbers &scalars) {
  Message values;
  for (const auto &[tag, value] : scalars)
    values.bytes(summary::Value,
                 Message()
                     .bytes(summary::Tag, validUtf8(tag))
                     .real(summary::SimpleValue, static_cast<float>(value))
                     .str());
  addRecord(Message()
                .real(event::WallTime, wallTime())
                .number(event::Step, step)
                .bytes(event::Summary, values.str())
                .str());
}

Error EventFile::flush() {
  if (Error error = file.writeWhole(pending))
    return error;
  pending.clear();
  return Error::success();
}

} // namespace mp
