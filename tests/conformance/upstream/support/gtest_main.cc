// main() of upstream's googletest suite. It writes one line per event to the
// file named by $FERRITE_RECORD, each with a single write(2), so that the
// results up to a crash are kept.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

class Recorder : public ::testing::EmptyTestEventListener {
 public:
  explicit Recorder(const char* path)
      : fd_(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {}

  void OnTestStart(const ::testing::TestInfo& info) override {
    Put("start\t" + Name(info));
  }
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const ::testing::TestResult& result = *info.result();
    const char* status = result.Failed() ? "failed" : result.Skipped() ? "skipped" : "passed";
    Put("end\t" + Name(info) + "\t" + status + "\t" + std::to_string(result.elapsed_time()));
  }
  void OnTestProgramEnd(const ::testing::UnitTest&) override { Put("finish"); }

 private:
  static std::string Name(const ::testing::TestInfo& info) {
    return std::string(info.test_suite_name()) + "." + info.name();
  }
  void Put(std::string line) {
    line += '\n';
    if (fd_ >= 0 && ::write(fd_, line.data(), line.size()) < 0) std::abort();
  }
  int fd_;
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (const char* path = std::getenv("FERRITE_RECORD")) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
  }
  return RUN_ALL_TESTS();
}
