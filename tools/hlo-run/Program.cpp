//===- Program.cpp - Calling a compiled module ----------------------------===//
//
// Owns the resources that the ABI leaves to the caller: a buffer per leaf, the arena, the thread
// pool. Memory is touched before the first timed run. Inputs whose buffer an output shares are
// overwritten by each run; they are restored before the next one, outside of the measured time.
//
//===----------------------------------------------------------------------===//
#include "tools/hlo-run/Program.h"
#include "tools/hlo-run/Error.h"
#include "tools/hlo-run/report/Print.h"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace hlo::run;

namespace {
using Clock = std::chrono::steady_clock;
constexpr size_t mostRuns = 1000000; // bounds the list of times

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Expected<Memory> take(uint64_t bytes, const Twine &what, GuardSide guard = GuardSide::None,
                      uint64_t align = 64) {
  Memory memory = Memory::guarded(bytes, align, guard, what.str());
  if (!memory) {
    return makeError(ExitRun, "not enough memory: " + formatBytes(bytes) + " for " + what);
  }
  return std::move(memory);
}
/// Objects of this compiler always have these fields.
uint64_t preparedBytesOf(const hlo_module_desc &desc) { return desc.prepared_bytes; }
/// For runs and for preparing, on this many threads.
uint64_t mostArenaBytes(const hlo_module_desc &desc, uint32_t threads) {
  return std::max(hlo_arena_bytes(&desc, threads), hlo_prepare_arena_bytes(&desc, threads));
}
/// Error if a call needs more memory than this machine has: otherwise the kernel would kill some
/// process later.
Error checkMemory(const hlo_module_desc &desc, uint32_t threads) {
  uint64_t needed = mostArenaBytes(desc, threads) + desc.state_bytes + preparedBytesOf(desc);
  for (uint32_t i = 0; i < desc.num_inputs; ++i) {
    needed += hlo_input_at(&desc, i)->bytes;
  }
  for (uint32_t i = 0; i < desc.num_outputs; ++i) {
    needed += hlo_output_at(&desc, i)->alias >= 0 ? 0 : hlo_output_at(&desc, i)->bytes;
  }
  uint64_t has =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (needed <= has) {
    return Error::success();
  }
  return makeError(ExitRun, "not enough memory: a run needs " + formatBytes(needed) +
                                ", this machine has " + formatBytes(has));
}
/// Memory for a leaf's elements with a byte each, if its buffer packs them; else none.
Error takeUnpacked(const hlo_buffer_desc &leaf, std::vector<Memory> &list) {
  list.emplace_back();
  if (!isPacked(leaf)) {
    return Error::success();
  }
  auto memory = take(static_cast<uint64_t>(countOf(leaf)), StringRef(leaf.name));
  if (!memory) {
    return memory.takeError();
  }
  list.back() = std::move(*memory);
  return Error::success();
}
} // namespace

Program::~Program() { hlo_pool_destroy(pool); }

Program::Program(Program &&other)
    : desc(other.desc), remote(other.remote), guard(other.guard), rank(other.rank),
      pool(std::exchange(other.pool, nullptr)), deadline(other.deadline), rngSeed(other.rngSeed),
      streams(std::move(other.streams)), customCalls(other.customCalls), comm(other.comm),
      arena(std::move(other.arena)), state(std::move(other.state)),
      prepared(std::move(other.prepared)), inputs(std::move(other.inputs)),
      outputs(std::move(other.outputs)), view(std::move(other.view)),
      profile(std::move(other.profile)), unpackedInputs(std::move(other.unpackedInputs)),
      unpackedOutputs(std::move(other.unpackedOutputs)), kept(std::move(other.kept)),
      fresh(other.fresh), inputPointers(std::move(other.inputPointers)),
      outputPointers(std::move(other.outputPointers)), inputViews(std::move(other.inputViews)),
      outputViews(std::move(other.outputViews)) {}

/// All facts about a buffer, which hlo_run_checked compares with the leaf's description.
static hlo_view viewOf(const hlo_buffer_desc &leaf, const Memory &memory) {
  // The dimensions of a dense buffer are those of a call.
  return {sizeof(hlo_view),
          leaf.type,
          memory.data(),
          memory.size(),
          hlo_is_dense(&leaf) ? nullptr : leaf.dims,
          leaf.minor_to_major,
          leaf.rank,
          0};
}

void Program::addInput(const hlo_buffer_desc &leaf, const Memory &memory) {
  inputPointers.push_back(memory.data());
  inputViews.push_back(viewOf(leaf, memory));
}

void Program::addOutput(const hlo_buffer_desc &leaf, const Memory &memory) {
  outputPointers.push_back(memory.data());
  outputViews.push_back(viewOf(leaf, memory));
}

/// Arena, prepared block and state, for calls in this process.
Error Program::takeScratch(uint32_t threads, GuardSide guard) {
  auto newArena =
      take(mostArenaBytes(*desc, threads), "the arena", guard, std::max(desc->arena_align, 64u));
  if (!newArena) {
    return newArena.takeError();
  }
  arena = std::move(*newArena);
  std::memset(arena.data(), 0, arena.size());
  auto newPrepared = take(preparedBytesOf(*desc), "the prepared block", guard);
  if (!newPrepared) {
    return newPrepared.takeError();
  }
  prepared = std::move(*newPrepared);
  auto newState = take(desc->state_bytes, "the state", guard, 16);
  if (!newState) {
    return newState.takeError();
  }
  state = std::move(*newState);
  std::memset(state.data(), 0, desc->state_bytes);
  return Error::success();
}

Expected<Program> Program::create(const hlo_module_desc &desc, uint32_t threads, GuardSide guard,
                                  Remote *remote, uint32_t rank) {
  Program program;
  program.desc = &desc;
  program.remote = remote;
  program.guard = guard;
  program.rank = rank;
  program.view = UnpackedView(desc);
  if (threads != 1 && !remote) {
    program.pool = hlo_pool_create(threads);
    if (!program.pool) {
      return makeError(ExitRun, "cannot start " + Twine(threads) + " threads");
    }
    // 0 stands for one thread per CPU.
    threads = hlo_pool_executor(program.pool)->num_threads;
  }
  if (Error e = checkMemory(desc, threads)) {
    return std::move(e);
  }
  if (Error e = remote ? Error::success() : program.takeScratch(threads, guard)) {
    return std::move(e);
  }
  for (uint32_t i = 0; i < desc.num_inputs; ++i) {
    auto memory = take(hlo_input_at(&desc, i)->bytes, "input " + Twine(i), guard,
                       hlo_input_at(&desc, i)->align);
    if (!memory) {
      return memory.takeError();
    }
    program.addInput(*hlo_input_at(&desc, i), *memory);
    program.inputs.push_back(std::move(*memory));
    if (Error e = takeUnpacked(*hlo_input_at(&desc, i), program.unpackedInputs)) {
      return std::move(e);
    }
  }
  for (uint32_t i = 0; i < desc.num_outputs; ++i) {
    const hlo_buffer_desc &output = *hlo_output_at(&desc, i);
    if (Error e = takeUnpacked(output, program.unpackedOutputs)) {
      return std::move(e);
    }
    uint32_t shared = static_cast<uint32_t>(output.alias);
    if (output.alias >= 0 && shared < desc.num_inputs &&
        hlo_input_at(&desc, shared)->bytes == output.bytes) {
      program.addOutput(output, program.inputs[shared]);
      program.kept.emplace_back(shared, Memory());
      continue;
    }
    auto memory = take(output.bytes, "output " + Twine(i), guard, output.align);
    if (!memory) {
      return memory.takeError();
    }
    std::memset(memory->data(), 0, output.bytes);
    program.addOutput(output, *memory);
    program.outputs.push_back(std::move(*memory));
  }
  return std::move(program);
}

/// Scratch memory for custom calls.
static const hlo_allocator allocator = {sizeof(hlo_allocator), 0, nullptr,
                                        [](void *, size_t bytes, size_t align) -> void * {
                                          align = std::max(align, alignof(std::max_align_t));
                                          return std::aligned_alloc(align, (bytes + align - 1) /
                                                                               align * align);
                                        },
                                        [](void *, void *memory, size_t) { std::free(memory); }};

void Program::packInputs() {
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    if (unpackedInputs[i]) {
      pack(*hlo_input_at(desc, i), unpackedInputs[i].data(), inputs[i].data());
    }
  }
}

void Program::setInputsWritable(bool writable) {
  for (auto [i, input] : enumerate(inputs)) {
    if (llvm::none_of(kept, [&](const auto &pair) { return pair.first == i; })) {
      input.setWritable(writable);
    }
  }
}

Error Program::keepInputs() {
  packInputs();
  for (auto &[input, copy] : kept) {
    auto memory = take(inputs[input].size(), "a copy of input " + Twine(input));
    if (!memory) {
      return memory.takeError();
    }
    copy = std::move(*memory);
    std::memcpy(copy.data(), inputs[input].data(), copy.size());
  }
  return Error::success();
}

std::vector<int64_t> Program::sizes() const {
  std::vector<int64_t> values(hlo_num_sizes(desc));
  for (auto [i, value] : llvm::enumerate(values)) {
    std::memcpy(&value, inputPointers[desc->num_inputs - values.size() + i], sizeof(value));
  }
  return values;
}

uint64_t Program::arenaBytes(uint32_t threads) const {
  return remote ? hlo_arena_bytes(desc, threads)
                : hlo_sized_arena_bytes(desc, threads, sizes().data());
}

void Program::placeDense() {
  if (remote || guard != GuardSide::After) {
    return;
  }
  std::vector<int64_t> values = sizes(), dims;
  auto move = [&](const hlo_buffer_desc &leaf, bool isInput, uint32_t i, const Memory &memory,
                  hlo_view &view) {
    dims.assign(leaf.dims, leaf.dims + leaf.rank);
    if (!hlo_is_dense(&leaf) || leaf.alias >= 0) {
      return;
    }
    if (isInput) {
      hlo_input_dims(desc, i, values.data(), dims.data());
    } else if (!hlo_output_dims(desc, i, values.data(), dims.data())) {
      return;
    }
    size_t bytes = hlo_type_bytes(leaf.type);
    for (int64_t dim : dims) {
      bytes *= dim;
    }
    view.data = memory.data() + (memory.size() - bytes);
    view.bytes = bytes;
    if (isInput) {
      std::memmove(view.data, memory.data(), bytes);
    }
  };
  for (uint32_t i = 0; i < desc->num_inputs; ++i) {
    move(*hlo_input_at(desc, i), true, i, inputs[i], inputViews[i]);
    inputPointers[i] = inputViews[i].data;
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    move(*hlo_output_at(desc, i), false, i, outputs[i], outputViews[i]);
    outputPointers[i] = outputViews[i].data;
  }
}

/// A call with all services set; error texts go to `message`.
hlo_call Program::makeCall(char *message, size_t bytes, bool prepares) {
  hlo_call call = hlo_call_init();
  // With sizes, only what this call needs.
  uint32_t threads = pool ? hlo_pool_executor(pool)->num_threads : 1;
  uint64_t need =
      prepares || remote ? arena.size() : std::min<uint64_t>(arenaBytes(threads), arena.size());
  call.arena = arena.data() + (guard == GuardSide::After ? arena.size() - need : 0);
  call.arena_bytes = need;
  call.exec = pool ? hlo_pool_executor(pool) : nullptr;
  call.state = desc->state_bytes ? reinterpret_cast<hlo_state *>(state.data()) : nullptr;
  call.deadline_ns = deadline;
  call.rng_seed = rngSeed;
  call.cpu_level = cpuLevel;
  call.alloc = &allocator;
  call.custom_calls = customCalls ? customCalls->table() : nullptr;
  call.comm = comm;
  streams.attach(call);
  call.message = message;
  call.message_bytes = bytes;
  call.profile = profile.operations.empty() ? nullptr : profile.operations.data();
  call.profile_count = static_cast<uint32_t>(profile.operations.size());
  call.profile_stride = sizeof(hlo_profile);
  call.prepared = prepared.size() ? prepared.data() : nullptr;
  call.prepared_bytes = prepared.size();
  return call;
}

/// The error of a status that a call returned.
static Error statusError(hlo_status status, const char *message) {
  int code = hlo_status_code(status) == HLO_DEADLINE ? ExitTimeout : ExitRun;
  return makeError(code, Twine(hlo_status_name(status)) + ": " + message);
}

Expected<double> Program::prepare() {
  if (!desc->prepared_bytes) {
    return 0.0;
  }
  packInputs();
  char message[1024] = "";
  hlo_call call = makeCall(message, sizeof(message), /*prepares=*/true);
  if (remote) {
    double seconds = 0;
    Expected<hlo_status> status = remote->prepare(rank, call, inputViews, seconds);
    if (!status) {
      return status.takeError();
    }
    return *status == HLO_OK ? Expected<double>(seconds) : statusError(*status, message);
  }
  setInputsWritable(false);
  Clock::time_point start = Clock::now();
  hlo_status status =
      hlo_prepare_checked(desc, &call, inputViews.data(), static_cast<uint32_t>(inputViews.size()),
                          prepared.data(), prepared.size());
  double seconds = secondsSince(start);
  setInputsWritable(true);
  if (status != HLO_OK) {
    return statusError(status, message);
  }
  if (!prepared.isIntact() || !arena.isIntact()) {
    return makeError(ExitInternal, "the program wrote past the end of a buffer");
  }
  return seconds;
}

void Program::startProfile() {
  profile = Profile();
  profile.operations.resize(desc->num_ops);
}

Expected<double> Program::runHere(const hlo_call &call, bool first) {
  // Reports every violation, not only the first, including versions of typed handlers.
  if (hlo_status status = hlo_check(desc, &call, call.message, call.message_bytes)) {
    if (comm) {
      comm->leave(comm->user, status, call.message);
    }
    return makeError(ExitRun, Twine(hlo_status_name(status)) + ": " + call.message);
  }
  setInputsWritable(false);
  prepared.setWritable(false);
  Clock::time_point start = Clock::now();
  // Later runs use the same buffers as the first.
  hlo_status status =
      first ? hlo_run_checked(desc, &call, inputViews.data(),
                              static_cast<uint32_t>(inputViews.size()), outputViews.data(),
                              static_cast<uint32_t>(outputViews.size()))
            : desc->run(&call, inputPointers.data(), outputPointers.data());
  double seconds = secondsSince(start);
  setInputsWritable(true);
  prepared.setWritable(true);
  if (status != HLO_OK) {
    return statusError(status, call.message);
  }
  return seconds;
}

Expected<double> Program::runThere(const hlo_call &call, bool first) {
  double seconds = 0;
  Expected<hlo_status> status = remote->run(rank, call, first, inputViews, outputViews, seconds);
  if (!status) {
    return status.takeError();
  }
  return *status == HLO_OK ? Expected<double>(seconds) : statusError(*status, call.message);
}

Expected<double> Program::run() {
  const bool first = fresh;
  if (first) {
    packInputs();
    placeDense();
  } else {
    for (auto &[input, copy] : kept) {
      assert(copy && "a second run needs keepInputs");
      std::memcpy(inputs[input].data(), copy.data(), copy.size());
    }
  }
  fresh = false;
  char message[1024] = "";
  hlo_call call = makeCall(message, sizeof(message), /*prepares=*/false);
  Expected<double> seconds = remote ? runThere(call, first) : runHere(call, first);
  if (!seconds) {
    return seconds.takeError();
  }
  profile.seconds += *seconds;
  ++profile.runs;
  auto intact = [](const Memory &memory) { return memory.isIntact(); };
  if (!llvm::all_of(inputs, intact) || !llvm::all_of(outputs, intact) || !intact(arena) ||
      !intact(state) || !intact(prepared)) {
    return makeError(ExitInternal, "the program wrote past the end of a buffer");
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i) {
    if (unpackedOutputs[i]) {
      unpack(*hlo_output_at(desc, i), static_cast<const char *>(outputPointers[i]),
             unpackedOutputs[i].data());
    }
  }
  return *seconds;
}

Expected<Timing> Program::bench(double seconds) {
  if (auto warm = run(); !warm) {
    return warm.takeError();
  }
  std::vector<double> times;
  Clock::time_point start = Clock::now();
  while (times.size() < 3 || (times.size() < mostRuns && secondsSince(start) < seconds)) {
    auto time = run();
    if (!time) {
      return time.takeError();
    }
    times.push_back(*time);
  }
  std::sort(times.begin(), times.end());
  return Timing{times.front(), times[times.size() / 2], times.size()};
}
