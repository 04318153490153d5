#include "device/nvidia/code/ptx_variables.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace accelerator::nvidia {
namespace {

// The text less comments; strings become empty.
std::string strip(const std::string& ptx) {
  std::string plain;
  for (std::size_t at = 0; at < ptx.size();) {
    if (ptx.compare(at, 2, "//") == 0) {
      at = std::min(ptx.find('\n', at), ptx.size());
    } else if (ptx.compare(at, 2, "/*") == 0) {
      const std::size_t end = ptx.find("*/", at + 2);
      at = end == std::string::npos ? ptx.size() : end + 2;
      plain += ' ';
    } else if (ptx[at] == '"') {
      ++at;
      while (at < ptx.size() && ptx[at] != '"') {
        at += ptx[at] == '\\' ? 2 : 1;
      }
      ++at;
      plain += "\"\"";
    } else {
      plain += ptx[at++];
    }
  }
  return plain;
}

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
      letter == '_' || letter == '$' || letter == '.' || letter == '%';
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) {
      ++end;
    }
    if (end > at) {
      words.push_back(text.substr(at, end - at));
    }
    at = std::max(end, at + 1);
  }
  return words;
}

// A declaration up to its initializer and its brackets: the name is its last
// word.
void take(const std::string& declaration, std::vector<PtxVariable>& found) {
  const std::string head =
      declaration.substr(0, declaration.find_first_of("=["));
  const auto words = words_of(head);
  // Lines such as `.version 8.0` have no semicolon: the declaration begins
  // behind them.
  const auto space =
      std::find_if(words.rbegin(), words.rend(), [](const std::string& word) {
        return word == ".global" || word == ".const";
      });
  if (space == words.rend() || words.back()[0] == '.') {
    return;
  }
  const std::size_t at =
      words.size() - 1 - static_cast<std::size_t>(space - words.rbegin());
  if (at > 0 && words[at - 1] == ".extern") {
    return;
  }
  found.push_back({words.back(), *space == ".const"});
}

} // namespace

std::vector<PtxVariable> find_variables(const std::string& ptx) {
  std::vector<PtxVariable> found;
  std::string current;
  int depth = 0;
  for (const char letter : strip(ptx)) {
    if (letter == '{') {
      ++depth;
    } else if (letter == '}') {
      --depth;
      // A function ends here; an initializer goes on to its semicolon.
      if (depth == 0 && current.find('=') == std::string::npos) {
        current.clear();
      }
    } else if (depth == 0 && letter == ';') {
      take(current, found);
      current.clear();
    } else if (depth == 0) {
      current += letter;
    }
  }
  return found;
}

} // namespace accelerator::nvidia
