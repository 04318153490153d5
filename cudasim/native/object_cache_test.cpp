// What is found of a folder of objects, and what is not.
#include "cudasim/native/object_cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cudasim::native {
namespace {

namespace fs = std::filesystem;

class ObjectCacheTest : public ::testing::Test {
 protected:
  ObjectCacheTest() {
    std::string path = ::testing::TempDir() + "/cache-XXXXXX";
    folder_ = std::string(mkdtemp(path.data())) + "/inner/native";
  }
  /// The only object.
  fs::path file() const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_TRUE(found.empty());
      found = entry.path();
    }
    return found;
  }
  std::string folder_;
};

TEST_F(ObjectCacheTest, FindsWhatWasPut) {
  ObjectCache cache(folder_);
  EXPECT_FALSE(cache.find("text").has_value());
  EXPECT_FALSE(cache.has_objects());
  const std::string object("\0object\xff", 8);
  cache.put("text", object);
  EXPECT_TRUE(cache.has_objects());
  EXPECT_EQ(ObjectCache(folder_).find("text"), object);
  EXPECT_FALSE(cache.find("texT").has_value());
  cache.put("text", "other");
  EXPECT_EQ(cache.find("text"), "other");
  struct stat made{};
  ASSERT_EQ(stat(folder_.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
}

TEST_F(ObjectCacheTest, KeepsNothingWithoutFolder) {
  ObjectCache cache("");
  cache.put("text", "object");
  EXPECT_FALSE(cache.find("text").has_value());
  EXPECT_FALSE(cache.has_objects());
}

TEST_F(ObjectCacheTest, TakesNothingThatIsDamaged) {
  ObjectCache cache(folder_);
  const std::string object(1000, 'x');
  cache.put("text", object);
  const fs::path path = file();
  const auto size = static_cast<std::streamoff>(fs::file_size(path));
  for (std::streamoff at = 0; at < size; at += 7) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const auto before = static_cast<char>(stream.get());
    stream.seekp(at);
    stream.put(static_cast<char>(before ^ 4));
    stream.close();
    EXPECT_FALSE(cache.find("text").has_value()) << at;
    std::fstream again(path, std::ios::in | std::ios::out | std::ios::binary);
    again.seekp(at);
    again.put(before);
  }
  EXPECT_EQ(cache.find("text"), object);
  for (const std::uintmax_t bytes : {999u, 100u, 10u, 0u}) {
    fs::resize_file(path, bytes);
    EXPECT_FALSE(cache.find("text").has_value()) << bytes;
  }
  cache.put("text", object); // written anew
  EXPECT_EQ(cache.find("text"), object);
}

TEST_F(ObjectCacheTest, TakesNothingOfAnotherText) {
  ObjectCache cache(folder_);
  cache.put("one", "object");
  const fs::path one = file();
  cache.put("two", "object of two");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path() != one) {
      fs::copy_file(one, entry.path(), fs::copy_options::overwrite_existing);
    }
  }
  EXPECT_FALSE(cache.find("two").has_value());
}

TEST_F(ObjectCacheTest, TakesNothingThatOthersMayWrite) {
  ObjectCache cache(folder_);
  cache.put("text", "object");
  const fs::path path = file();
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find("text").has_value());
  fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(cache.find("text").has_value());
  fs::permissions(folder_, fs::perms::group_write, fs::perm_options::add);
  EXPECT_FALSE(cache.find("text").has_value());
  cache.put("more", "object");
  fs::permissions(folder_, fs::perms::group_write, fs::perm_options::remove);
  EXPECT_FALSE(cache.find("more").has_value());
  fs::rename(path, path.string() + ".away");
  fs::create_symlink(path.string() + ".away", path);
  EXPECT_FALSE(cache.find("text").has_value());
}

TEST_F(ObjectCacheTest, RemovesWhatWasUsedLongestAgo) {
  ObjectCache cache(folder_, 10000);
  for (int i = 0; i < 8; ++i) {
    cache.put(std::to_string(i), std::string(1000, 'x'));
    for (const auto& entry : fs::directory_iterator(folder_)) {
      fs::last_write_time(
          entry.path(),
          fs::last_write_time(entry.path()) - std::chrono::seconds(10));
    }
  }
  EXPECT_TRUE(cache.find("0").has_value()); // used now
  cache.put("big", std::string(2500, 'x'));
  EXPECT_TRUE(cache.find("0").has_value());
  EXPECT_FALSE(cache.find("1").has_value());
  EXPECT_TRUE(cache.find("7").has_value());
  EXPECT_TRUE(cache.find("big").has_value());
}

TEST_F(ObjectCacheTest, LeavesWhatIsNotItsOwn) {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::owner_all);
  for (const char* const name :
       {"thesis.o", "notes", "draft-123456", "0123456789abcdef.o"}) {
    std::ofstream(folder_ + "/" + name) << std::string(10000, 'x');
  }
  ObjectCache cache(folder_, 5000);
  for (int i = 0; i < 5; ++i) {
    cache.put(std::to_string(i), std::string(1500, 'x'));
  }
  EXPECT_FALSE(cache.find("0").has_value());
  EXPECT_TRUE(cache.find("4").has_value());
  for (const char* const name :
       {"thesis.o", "notes", "draft-123456", "0123456789abcdef.o"}) {
    EXPECT_EQ(fs::file_size(folder_ + "/" + name), 10000u) << name;
  }
}

TEST_F(ObjectCacheTest, LeavesNothingWhereTheDiskIsFull) {
  ObjectCache cache(folder_);
  cache.put("small", "object");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit most{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &most);
    std::signal(SIGXFSZ, SIG_IGN);
    cache.put("large", std::string(100000, 'x'));
    _exit(cache.find("large").has_value() ? 1 : 0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cache.find("small"), "object");
  file(); // it alone
}

TEST_F(ObjectCacheTest, IsSharedByProcesses) {
  constexpr int kProcesses = 4;
  constexpr int kObjects = 40;
  const auto object_of = [](int i) {
    return std::string(
        static_cast<std::size_t>(i * 997), static_cast<char>('a' + i % 26));
  };
  for (int process = 0; process < kProcesses; ++process) {
    if (fork() == 0) {
      ObjectCache cache(folder_);
      for (int i = 0; i < kObjects; ++i) {
        const auto found = cache.find(std::to_string(i));
        if (found.has_value() && *found != object_of(i)) {
          _exit(1);
        }
        cache.put(std::to_string(i), object_of(i));
      }
      _exit(0);
    }
  }
  for (int process = 0; process < kProcesses; ++process) {
    int status = 1;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  for (int i = 0; i < kObjects; ++i) {
    EXPECT_EQ(ObjectCache(folder_).find(std::to_string(i)), object_of(i));
  }
}

TEST(CacheFolder, IsWhereTheUserSays) {
  unsetenv("CUDASIM_NATIVE_CACHE");
  setenv("HOME", "/somewhere", 1);
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(cache_folder(), "/caches/torch_cuda/native");
  setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored, says the standard
  EXPECT_EQ(cache_folder(), "/somewhere/.cache/torch_cuda/native");
  setenv("CUDASIM_NATIVE_CACHE", "/chosen", 1);
  EXPECT_EQ(cache_folder(), "/chosen");
  setenv("CUDASIM_NATIVE_CACHE", "off", 1);
  EXPECT_EQ(cache_folder(), "");
  unsetenv("CUDASIM_NATIVE_CACHE");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(cache_folder(), "");
}

} // namespace
} // namespace cudasim::native
