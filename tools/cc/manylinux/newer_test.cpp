// What newer.c and newer.cpp replace does what the machine's own does.
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gtest/gtest.h>

extern "C" int torch_cuda_wait_in_pieces(
    pthread_cond_t* condition,
    pthread_mutex_t* mutex,
    clockid_t clock,
    const timespec* until);
extern "C" int __isoc23_sscanf(const char* text, const char* format, ...);

namespace {

// The system's, where it has one, and that of older systems.
constexpr auto kWaits = {&pthread_cond_clockwait, &torch_cuda_wait_in_pieces};

timespec in(clockid_t clock, std::chrono::milliseconds delay) {
  timespec when{};
  clock_gettime(clock, &when);
  const long long nanoseconds = when.tv_nsec + delay.count() * 1'000'000LL;
  when.tv_sec += nanoseconds / 1'000'000'000;
  when.tv_nsec = nanoseconds % 1'000'000'000;
  return when;
}

TEST(NewerTest, ExceptionPointersCountTheirCopies) {
  struct Counted {
    explicit Counted(int& alive) : alive(alive) {
      ++alive;
    }
    Counted(const Counted& other) : alive(other.alive) {
      ++alive;
    }
    ~Counted() {
      --alive;
    }
    int& alive;
  };
  int alive = 0;
  {
    std::exception_ptr first = std::make_exception_ptr(Counted(alive));
    EXPECT_EQ(alive, 1);
    std::exception_ptr second = first;
    first = nullptr;
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(second != nullptr);
    EXPECT_THROW(std::rethrow_exception(second), Counted);
  }
  EXPECT_EQ(alive, 0);
}

TEST(NewerTest, WaitsEndInTimeAndWhenTheyAreWoken) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(changed.wait_for(
      lock, std::chrono::milliseconds(250), [&] { return done; }));
  EXPECT_GE(
      std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(250));
  std::thread waker([&] {
    const std::lock_guard guard(mutex);
    done = true;
    changed.notify_all();
  });
  EXPECT_TRUE(
      changed.wait_for(lock, std::chrono::hours(1), [&] { return done; }));
  lock.unlock();
  waker.join();
}

TEST(NewerTest, WaitsByEitherClockTimeOut) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  for (auto* const wait : kWaits) {
    for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
      for (const int delay : {-5, 0, 150}) {
        const timespec until = in(clock, std::chrono::milliseconds(delay));
        pthread_mutex_lock(&mutex);
        int status = 0;
        while (status == 0) {
          status = wait(&condition, &mutex, clock, &until);
        }
        EXPECT_EQ(status, ETIMEDOUT);
        pthread_mutex_unlock(&mutex);
        timespec now{};
        clock_gettime(clock, &now);
        EXPECT_TRUE(
            now.tv_sec > until.tv_sec ||
            (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
      }
    }
  }
}

// Who is woken waits for the mutex, for longer than any part of the wait.
TEST(NewerTest, WakingUpIsNotLostWhileTheMutexIsHeld) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  bool done = false;
  const timespec until = in(CLOCK_MONOTONIC, std::chrono::seconds(10));
  pthread_mutex_lock(&mutex);
  std::thread waker([&] {
    pthread_mutex_lock(&mutex); // the other waits
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    done = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  });
  while (!done) {
    ASSERT_EQ(
        torch_cuda_wait_in_pieces(&condition, &mutex, CLOCK_MONOTONIC, &until),
        0);
  }
  pthread_mutex_unlock(&mutex);
  waker.join();
}

TEST(NewerTest, FilesAreWhatTheyAre) {
  const std::string path = testing::TempDir() + "newer_test";
  std::ofstream(path) << "12345";
  struct stat found{};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_size, 5);
  const std::string link = path + ".link";
  unlink(link.c_str());
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  ASSERT_EQ(lstat(link.c_str(), &found), 0);
  EXPECT_TRUE(S_ISLNK(found.st_mode));
  EXPECT_EQ(stat("/nowhere/at/all", &found), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(NewerTest, NumbersAreRead) {
  int number = 0;
  char word[8] = "";
  EXPECT_EQ(__isoc23_sscanf("17 abc", "%d %7s", &number, word), 2);
  EXPECT_EQ(number, 17);
  EXPECT_STREQ(word, "abc");
  EXPECT_EQ(std::stoul("ff", nullptr, 16), 255u);
  EXPECT_THROW(std::stol("x"), std::invalid_argument);
}

TEST(NewerTest, LengthsThatAreTooLargeAreRefused) {
  volatile std::size_t many = SIZE_MAX;
  std::allocator<int> allocator;
  EXPECT_THROW(
      allocator.deallocate(allocator.allocate(many), many),
      std::bad_array_new_length);
}

} // namespace
