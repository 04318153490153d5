// Runs a fuzz target without libFuzzer: on each file of a corpus, then on a
// fixed number of inputs made from these by changes that are the same in each
// run. The sanitizers that it is compiled with end it at the first mistake.
//
//   TARGET [--runs=N] [--random=BYTES] [--start=S] FILE…
//                                 N changed inputs in all (default 20000), or
//                                 inputs of so many random bytes; S chooses
//                                 which
//   TARGET --write=FOLDER FILE…   only writes the seeds, for libFuzzer
//
// A file that ends in ".hex" holds pairs of hexadecimal digits, with blanks
// anywhere and comments from "#" to the end of the line; a word in quotes
// stands for its characters and @N for zeros up to a multiple of N.
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size);

namespace {

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(2);
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() &&
      text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string from_hex(const std::string& text, const std::string& path) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    if (std::isspace(c) != 0) {
      ++i;
    } else if (c == '#') {
      i = text.find('\n', i);
    } else if (c == '"') {
      std::size_t end = text.find('"', i + 1);
      if (end == std::string::npos) {
        stop(path + ": found no closing '\"'");
      }
      bytes += text.substr(i + 1, end - i - 1);
      i = end + 1;
    } else if (c == '@') {
      std::size_t used = 0;
      std::size_t multiple = std::stoul(text.substr(i + 1), &used);
      bytes.resize((bytes.size() + multiple - 1) / multiple * multiple);
      i += 1 + used;
    } else {
      std::string pair = text.substr(i, 2);
      std::size_t used = 0;
      if (std::isxdigit(c) != 0) {
        bytes += static_cast<char>(std::stoul(pair, &used, 16));
      }
      if (used != 2) {
        stop(path + ": found '" + pair + "', needed two hexadecimal digits");
      }
      i += 2;
    }
  }
  return bytes;
}

std::string read_seed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    stop(path + ": cannot be read");
  }
  std::string text{std::istreambuf_iterator<char>(file), {}};
  return ends_with(path, ".hex") ? from_hex(text, path) : text;
}

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(
      reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& seeds, std::size_t start)
      : seeds_(seeds), random_(start) {}

  std::string random(std::size_t bytes) {
    std::string input(bytes, '\0');
    for (char& byte : input) {
      byte = static_cast<char>(below(256));
    }
    return input;
  }

  std::string next() {
    std::string input = seeds_[below(seeds_.size())];
    for (std::size_t changes = 1 + below(6); changes > 0; --changes) {
      change(input);
    }
    return input;
  }

 private:
  // Some number below `limit`, the same on every machine.
  std::size_t below(std::size_t limit) {
    return limit == 0 ? 0 : random_() % limit;
  }

  void change(std::string& input) {
    std::size_t at = below(input.size() + 1);
    std::size_t length = below(below(2) == 0 ? 4 : 64) + 1;
    switch (below(7)) {
      case 0:
        flip(input, at, 1u << below(8));
        break;
      case 1:
        flip(input, at, 1 + below(255));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3: // twice the same
        input.insert(at, input.substr(at, length));
        break;
      case 4: { // a piece of another seed
        const std::string& other = seeds_[below(seeds_.size())];
        input.insert(at, other.substr(below(other.size()), length));
        break;
      }
      case 5: { // what means something in PTX or as a size
        static const std::string kPieces[] = {
            "{",
            "}",
            "(",
            "[",
            "]",
            "\"",
            "/*",
            "//",
            "\n",
            "%",
            "<",
            "0x",
            "-",
            ".5e9",
            "|",
            "@",
            ";",
            ".f",
            "::",
            "0f",
            "_",
            std::string(8, '\0'),
            std::string(4, '\xff'),
            std::string(8, '\x7f')};
        input.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      }
      default:
        input.resize(at);
    }
  }

  static void flip(std::string& input, std::size_t at, std::size_t bits) {
    if (at < input.size()) {
      input[at] = static_cast<char>(input[at] ^ static_cast<char>(bits));
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

void write_seeds(
    const std::string& folder,
    const std::vector<std::string>& seeds) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(folder + "/seed" + std::to_string(i), std::ios::binary);
    file << seeds[i];
    if (!file) {
      stop(folder + ": cannot be written to");
    }
  }
}

} // namespace

int main(int count, char** arguments) {
  std::vector<std::string> seeds;
  std::size_t runs = 20000;
  std::size_t random = 0;
  std::size_t start = 20240229;
  std::string folder;
  const std::string kRuns = "--runs=";
  const std::string kRandom = "--random=";
  const std::string kStart = "--start=";
  const std::string kWrite = "--write=";
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument.rfind(kRuns, 0) == 0) {
      runs = std::stoul(argument.substr(kRuns.size()));
    } else if (argument.rfind(kRandom, 0) == 0) {
      random = std::stoul(argument.substr(kRandom.size()));
    } else if (argument.rfind(kStart, 0) == 0) {
      start = std::stoul(argument.substr(kStart.size()));
    } else if (argument.rfind(kWrite, 0) == 0) {
      folder = argument.substr(kWrite.size());
    } else {
      seeds.push_back(read_seed(argument));
    }
  }
  if (seeds.empty()) {
    stop("found no seed, needed the files of a corpus as arguments");
  }
  if (!folder.empty()) {
    write_seeds(folder, seeds);
    return 0;
  }
  for (const std::string& seed : seeds) {
    run(seed);
  }
  Mutator mutator(seeds, start);
  for (std::size_t i = 0; i < runs; ++i) {
    run(random != 0 ? mutator.random(random) : mutator.next());
  }
  std::printf("%zu seeds, %zu changed inputs\n", seeds.size(), runs);
}
