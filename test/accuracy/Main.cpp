//===- Main.cpp - Worst errors of compiled element-wise functions ---------===//
//
// accuracy --modules=DIR writes a module per opcode and element type; run.sh compiles them, for one
// or more CPUs, into shared objects. accuracy [options] NAME=OBJECT... runs them over many
// arguments, compares with references of higher precision, and prints the worst error of each in
// units of the last place. Objects after --caller=COMMAND are called by it (caller.c).
//
//===----------------------------------------------------------------------===//
#include "Caller.h"
#include "Modules.h"
#include "Samples.h"
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <limits>
#include <mutex>
#include <regex>
#include <thread>

using namespace accuracy;

namespace {

struct Options {
  Effort effort;
  std::regex filter{""};
  unsigned jobs = 1;
  int list = 0; ///< how many arguments beyond the bound to print
};

/// The results so far of one case on one CPU.
struct Finding {
  double worst = -1;
  std::string where;
  uint64_t wrong = 0;   ///< results beyond the bound
  double worstPart = 0; ///< complex: of a part, in its own units
};

std::string textOf(const Format &format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", format.bytes == 8 ? 17 : 9, value);
  return text;
}

class Sweep {
public:
  Sweep(const Case &tested, const Options &options, const std::vector<Library> &libraries)
      : c(tested), options(options), libraries(libraries), findings(libraries.size()) {
    size_t bytes = arraySize * c.parts() * c.format->bytes;
    for (std::vector<char> &operand : operands) {
      operand.resize(bytes);
    }
    result.resize(bytes);
    for (const Library &library : libraries) {
      runs.emplace_back(library, c.name() + "_run_buffers",
                        std::array{bytes, c.operands() == 2 ? bytes : size_t(0)},
                        bytes / c.parts() * c.resultParts());
    }
    exact.resize(arraySize);
  }

  void run() {
    if (c.complex != nullptr) {
      Samples samples = complexSamples(*c.format, *c.complex, options.effort);
      sweepArrays(samples, {});
      return;
    }
    Samples samples = realSamples(*c.format, *c.real, options.effort);
    std::vector<uint64_t> hard;
    if (c.operands() == 1) {
      hard = hardArguments(*c.format, *c.real);
    }
    sweepArrays(samples, hard);
    if (c.operands() == 1 && c.format->bytes == 4) {
      sweepPatterns();
    }
  }

  double bound() const {
    if (c.complex != nullptr) {
      return c.format->bytes == 4 ? c.complex->boundFloat : c.complex->bound;
    }
    if (c.format->bytes == 2) {
      // f16 results are computed in f32 and rounded again: a few results next to a tie are rounded
      // the other way.
      return std::min(c.real->bound, c.format->precision == 8 ? 0.5 : 0.5005);
    }
    return c.format->bytes == 4 ? c.real->bound : c.real->boundDouble;
  }

  uint64_t count() const { return tried; }
  const std::vector<Finding> &found() const { return findings; }

private:
  /// Runs all samples. The last elements of each array are hard arguments, a different choice in
  /// each array.
  void sweepArrays(const Samples &samples, const std::vector<uint64_t> &hard) {
    size_t parts = c.parts(), total = samples.x.size() / parts, nextHard = 0;
    size_t room = hard.empty() ? arraySize : arraySize - leftOver;
    for (size_t first = 0; first < total || nextHard < hard.size(); first += room) {
      for (size_t i = 0; i < arraySize; ++i) {
        bool isHard = i >= room;
        for (size_t part = 0; part < parts; ++part) {
          size_t at = std::min(first + i, total - 1) * parts + part;
          put(0, i * parts + part,
              isHard ? hard[(nextHard + i - room) % hard.size()] : samples.x[at]);
          if (c.operands() == 2) {
            put(1, i * parts + part, samples.y[at]);
          }
        }
      }
      nextHard += leftOver;
      check(/*quick=*/false, first < total ? 0 : room);
    }
  }

  /// Every stride-th bit pattern of f32.
  void sweepPatterns() {
    uint64_t end = uint64_t(1) << 32;
    for (uint64_t first = 0; first < end; first += arraySize * options.effort.stride) {
      for (size_t i = 0; i < arraySize; ++i) {
        put(0, i, std::min(first + i * options.effort.stride, end - 1));
      }
      check(/*quick=*/true, 0);
    }
  }

  void put(int operand, size_t index, uint64_t bits) {
    storeBits(*c.format, bits, &operands[operand][index * c.format->bytes]);
  }
  double get(const std::vector<char> &array, size_t index) const {
    return fromBits(*c.format, loadBits(*c.format, &array[index * c.format->bytes]));
  }
  Value valueAt(int operand, size_t i) const {
    if (c.complex == nullptr) {
      return {get(operands[operand], i), 0};
    }
    return {get(operands[operand], 2 * i), get(operands[operand], 2 * i + 1)};
  }

  /// Runs the arrays through every object and checks the elements from `begin` on.
  void check(bool quick, size_t begin) {
    tried += arraySize - begin;
    if (!quick) {
      for (size_t i = begin; i < arraySize; ++i) {
        Value x = valueAt(0, i), y = c.operands() == 2 ? valueAt(1, i) : Value();
        exact[i] =
            c.complex != nullptr ? c.complex->exact(x, y) : Value{c.real->exact(x.re, y.re), 0};
      }
    } else {
      quickExact.resize(arraySize);
      for (size_t i = begin; i < arraySize; ++i) {
        quickExact[i] = c.real->quick(get(operands[0], i), 0);
      }
    }
    for (size_t r = 0; r < runs.size(); ++r) {
      if (!runs[r](operands, result)) {
        findings[r].worst = std::numeric_limits<double>::infinity();
        findings[r].where = "the call failed";
        findings[r].wrong += 1;
        continue;
      }
      for (size_t i = begin; i < arraySize; ++i) {
        if (quick) {
          // Errors near the bound, and new maxima, are computed again in __float128.
          if (ulpErrorQuick(*c.format, get(result, i), quickExact[i]) >
              std::min(0.9 * bound(), findings[r].worst * 0.999)) {
            Value x = valueAt(0, i);
            record(findings[r], i, {c.real->exact(x.re, 0), 0});
          }
        } else {
          record(findings[r], i, exact[i]);
        }
      }
    }
  }

  void record(Finding &finding, size_t i, Value want) {
    double error, slack = 1;
    if (c.complex != nullptr && c.complex->slack != nullptr) {
      Value y = c.operands() == 2 ? valueAt(1, i) : Value();
      // Errors are divided by the slack, so that they compare with the bound.
      slack = c.complex->slack(valueAt(0, i), y, c.format->maxExponent);
      if (std::isinf(slack)) {
        return;
      }
    }
    if (c.resultParts() == 1) {
      error = ulpError(*c.format, get(result, i), want.re, want.re);
    } else {
      error = complexError(finding, get(result, 2 * i), get(result, 2 * i + 1), want);
    }
    error /= slack;
    bool wrong = !(error <= bound());
    finding.wrong += wrong;
    if (!(error <= finding.worst)) {
      finding.worst = error;
      finding.where = describe(i, want);
    }
    if (wrong && static_cast<int>(finding.wrong) <= options.list) {
      std::string line =
          "    " + c.name() + ": " + std::to_string(error) + " ulp: " + describe(i, want);
      std::puts(line.c_str());
    }
  }

  /// In units of the last place of the modulus if that is finite, else each part in its own.
  double complexError(Finding &finding, double re, double im, Value want) const {
    const Format &format = *c.format;
    if (want.anySign) {
      auto withSign = [](double &part, Quad exactPart) {
        if (part == 0 || (std::isinf(part) && isinfq(exactPart))) {
          part = std::copysign(part, signbitq(exactPart) ? -1.0 : 1.0);
        }
      };
      withSign(re, want.re);
      withSign(im, want.im);
    }
    double own =
        std::max(ulpError(format, re, want.re, want.re), ulpError(format, im, want.im, want.im));
    bool anyNaN = isnanq(want.re) || isnanq(want.im);
    if (anyNaN || (c.complex->slack == nullptr && (isinfq(want.re) || isinfq(want.im)))) {
      return own;
    }
    if (std::isfinite(own)) {
      finding.worstPart = std::max(finding.worstPart, own);
    }
    Quad scale = fmaxq(fabsq(want.re), fabsq(want.im));
    // A part smaller than the last place of the modulus may have either sign.
    auto lost = [&](double part, Quad exactPart) {
      double error = ulpError(format, part, exactPart, scale);
      bool signOfZero = part == 0 && exactPart != 0 && std::isinf(error);
      return signOfZero ? ulpError(format, std::copysign(0.0, exactPart < 0 ? -1.0 : 1.0),
                                   exactPart, scale)
                        : error;
    };
    return std::max(lost(re, want.re), lost(im, want.im));
  }

  std::string describe(size_t i, Value want) const {
    std::string text;
    auto number = [&](Quad value) { return textOf(*c.format, static_cast<double>(value)); };
    auto value = [&](Value z) {
      return c.complex != nullptr ? "(" + number(z.re) + ", " + number(z.im) + ")" : number(z.re);
    };
    for (int operand = 0; operand < c.operands(); ++operand) {
      text += (operand != 0 ? ", " : "") + value(valueAt(operand, i));
    }
    Value got = c.resultParts() == 2 ? Value{get(result, 2 * i), get(result, 2 * i + 1)}
                                     : Value{get(result, i), 0};
    return text + " gives " + value(got) + ", not " + value(want);
  }

  const Case &c;
  const Options &options;
  const std::vector<Library> &libraries;
  std::vector<Caller> runs;
  std::vector<Finding> findings;
  std::array<std::vector<char>, 2> operands;
  std::vector<char> result;
  std::vector<Value> exact;
  std::vector<double> quickExact;
  uint64_t tried = 0;
};

int writeModules(const std::string &folder, const std::regex &filter) {
  for (const Case &c : allCases()) {
    if (std::regex_search(c.name(), filter)) {
      std::ofstream file(folder + "/" + c.name() + ".hlo");
      file << c.module();
      if (!file.flush()) {
        std::fprintf(stderr, "cannot write %s/%s.hlo\n", folder.c_str(), c.name().c_str());
        return 1;
      }
    }
  }
  return 0;
}

int usage() {
  std::fputs("usage: accuracy --modules=DIR [--filter=REGEX]\n"
             "       accuracy [--filter=REGEX] [--full | --exhaustive] [--jobs=N] [--list=N] "
             "[--caller=COMMAND] CPU=OBJECT.so ...\n",
             stderr);
  return 2;
}

void print(const Case &c, const Sweep &sweep, const std::vector<Library> &libraries) {
  for (size_t i = 0; i < libraries.size(); ++i) {
    const Finding &finding = sweep.found()[i];
    std::string part =
        c.resultParts() == 2
            ? " (part " + textOf(f32, std::round(finding.worstPart * 100) / 100) + ")"
            : "";
    std::printf("%-22s %-4s %-9s %10llu  %8.3f%s  %s%s\n", c.opcode().c_str(), c.type().c_str(),
                libraries[i].cpu.c_str(), static_cast<unsigned long long>(sweep.count()),
                finding.worst, part.c_str(), finding.where.c_str(),
                finding.wrong == 0 ? "" : ("  WRONG: " + std::to_string(finding.wrong)).c_str());
  }
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<Library> libraries;
  std::string modules, caller;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    std::string key = argument.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (key == "--modules") {
      modules = value;
    } else if (key == "--caller") {
      caller = value;
    } else if (key == "--filter") {
      options.filter = std::regex(value);
    } else if (key == "--jobs") {
      options.jobs = static_cast<unsigned>(std::max(1, std::atoi(value.c_str())));
    } else if (key == "--list") {
      options.list = std::atoi(value.c_str());
    } else if (key == "--full" || key == "--exhaustive") {
      options.effort = {key == "--full" ? 251u : 1u, 256, 1 << 18, 1 << 18, 1 << 16};
    } else if (key.starts_with("-") || value.empty()) {
      return usage();
    } else {
      libraries.push_back({key, value, caller});
      Library &library = libraries.back();
      if (caller.empty()) {
        library.handle = dlopen(value.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle == nullptr) {
          std::fprintf(stderr, "%s\n", dlerror());
          return 2;
        }
      }
    }
  }
  if (!modules.empty()) {
    return writeModules(modules, options.filter);
  }
  if (libraries.empty()) {
    return usage();
  }
  std::vector<Case> cases;
  for (const Case &c : allCases()) {
    if (std::regex_search(c.name(), options.filter)) {
      cases.push_back(c);
    }
  }
  std::printf("%-22s %-4s %-9s %10s  %8s\n", "opcode", "type", "cpu", "arguments", "ulp");
  std::atomic<size_t> next = 0, passed = 0, failed = 0;
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      Sweep sweep(cases[i], options, libraries);
      sweep.run();
      for (const Finding &finding : sweep.found()) {
        (finding.wrong == 0 ? passed : failed) += 1;
      }
      std::lock_guard lock(mutex);
      print(cases[i], sweep, libraries);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < options.jobs; ++i) {
    threads.emplace_back(work);
  }
  work();
  threads.clear();
  std::printf("%zu passed, %zu failed\n", passed.load(), failed.load());
  return failed == 0 ? 0 : 1;
}
