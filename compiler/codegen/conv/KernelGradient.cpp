//===- KernelGradient.cpp - Convolutions whose window is an image ---------===//
//
// Emits a convolution of few positions with a large window, such as the gradient with respect to
// a kernel. For each task (some rows of positions, some channels, some features):
//
//   for each piece of the sums: some rows of an image, or some images
//     copy the input: channels innermost, zeros around it; usually once per position
//       along a row, so that the rows of an image are contiguous
//     pack the window in panels of a tile's features
//     for each position, each panel, each tile of channels
//       for each image, for each step along the rows inside the input: multiply in registers
//   give the sums to the epilogue
//
// All positions of a column share the input, and all positions share the panels. A matrix of
// patches would write each element once per position.
//
//===----------------------------------------------------------------------===//
#include "compiler/codegen/conv/KernelGradient.h"
#include "compiler/codegen/contraction/Kernel.h"
#include "compiler/codegen/contraction/Loops.h"
#include "compiler/codegen/contraction/Pack.h"

using namespace mlir;

namespace hlo::codegen {

namespace {
class GradientEmitter {
public:
  GradientEmitter(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                  const GradientPlan &plan)
      : kernel(kernel), e(kernel.e), operands(operands), g(operands.g), epilogue(epilogue), p(plan),
        buffers(e, operands.element) {}
  void emit();

private:
  using Values = SmallVector<Value>;
  struct Task {
    Value group, c0, n0, n1, h0, h1;
  };
  /// Images, rows and steps of a piece.
  struct Chunk {
    Value image0, images, y0, y1, x0, xs;
  };
  struct Panel {
    Value n;
    int64_t vectors;
  };

  void forEachChunk(function_ref<void(const Chunk &)> body);
  void copyInput(const Task &task, const Chunk &chunk);
  void copyRow(const Task &task, Value image, Value y, Value at, Value firstX, int64_t stepX,
               Value count);
  void packWindow(const Task &task, const Chunk &chunk);
  void multiply(const Task &task, const Chunk &chunk);
  void tile(const Task &task, const Chunk &chunk, const Panel &panel, Value position, Value input,
            Value y, Value ys, Value firstRow, Value m, int64_t rows);
  void finish(const Task &task);
  void forEachPanel(const Task &task, function_ref<void(const Panel &)> body);
  Value channelOf(const Task &task, Value c);
  Index featureOf(const Task &task, Value n, int64_t stride);
  Value below(Value limit) { return lanesBelow(e, limit, p.lanes); }
  Elem zeros() { return zeroElem(e, operands.element, p.lanes); }

  KernelBuilder &kernel;
  Emission &e;
  const ConvOperands &operands;
  const ConvGeometry &g;
  Epilogue &epilogue;
  const GradientPlan &p;
  Buffers buffers;
  Value inputBuffer, panelBuffer, sumBuffer;
};
} // namespace

void GradientEmitter::emit() {
  inputBuffer = stackBuffer(e, p.inputBytes());
  panelBuffer = stackBuffer(e, p.panelBytes());
  sumBuffer = stackBuffer(e, p.sumBytes());
  SmallVector<int64_t> sizes{g.groups(), p.hBlocks(), p.channelBlocks(), p.featureBlocks()};
  emitTasks(kernel, llvm::product_of(sizes), [&](Value number) {
    Values place = delinearize(e, number, sizes);
    Task task{place[0], mulI(e, place[2], p.channelBlock)};
    std::tie(task.n0, task.n1) = pieceAt(e, place[3], p.features, p.featureBlock);
    std::tie(task.h0, task.h1) = pieceAt(e, place[1], p.h.output, p.hBlock);
    Value zero = constI64(e, 0);
    buffers.fill(sumBuffer, zero, zero, constI64(e, p.sumBytes() / p.bytes), zeros());
    forEachChunk([&](const Chunk &chunk) {
      copyInput(task, chunk);
      packWindow(task, chunk);
      multiply(task, chunk);
    });
    finish(task);
  });
}

void GradientEmitter::forEachChunk(function_ref<void(const Chunk &)> body) {
  Value zero = constI64(e, 0);
  emitFor(e, zero, constI64(e, p.images), p.imageChunk, [&](Value image) {
    emitFor(e, zero, constI64(e, p.h.kernel), p.yChunk, [&](Value y) {
      emitFor(e, zero, constI64(e, p.w.kernel), p.xChunk, [&](Value x) {
        Chunk chunk{image, {}, y, {}, x, {}};
        chunk.images = minI(e, subI(e, constI64(e, p.images), image), p.imageChunk);
        chunk.y1 = minI(e, addI(e, y, p.yChunk), p.h.kernel);
        chunk.xs = p.w.kernel % p.xChunk == 0
                       ? constI64(e, p.xChunk)
                       : minI(e, subI(e, constI64(e, p.w.kernel), x), p.xChunk);
        body(chunk);
      });
    });
  });
}

Value GradientEmitter::channelOf(const Task &task, Value c) {
  return g.groups() > 1 ? addI(e, c, mulI(e, task.group, p.channels)) : c;
}

Index GradientEmitter::featureOf(const Task &task, Value n, int64_t stride) {
  Index feature(n, stride, stride == 0 ? 1 : p.lanes);
  return g.groups() > 1 ? addIndex(e, feature, mulIndex(e, Index(task.group), p.features), p.lanes)
                        : feature;
}

void GradientEmitter::copyInput(const Task &task, const Chunk &chunk) {
  const SpatialDim &h = p.h, &w = p.w;
  Value zero = constI64(e, 0);
  Value top =
      addI(e, addI(e, mulI(e, chunk.y0, h.kernelDilation), mulI(e, task.h0, h.stride)), -h.padLow);
  emitFor(e, zero, constI64(e, p.copies), 1, [&](Value copy) {
    // The input index of a row's first pixel.
    Value left = addI(e, mulI(e, chunk.x0, w.kernelDilation), -w.padLow);
    left = addI(e, left, mulI(e, copy, w.stride));
    int64_t stepX = p.copies > 1 ? w.kernelDilation : 1;
    Value count = chunk.xs;
    if (p.copies == 1) {
      count =
          addI(e, mulI(e, addI(e, chunk.xs, -1), w.kernelDilation), (w.output - 1) * w.stride + 1);
    }
    Value from = minI(e, stepsBelow(e, subI(e, zero, left), stepX), count);
    Value to =
        maxI(e, minI(e, stepsBelow(e, subI(e, constI64(e, w.input), left), stepX), count), from);
    emitFor(e, zero, chunk.images, 1, [&](Value image) {
      emitFor(e, zero, constI64(e, p.inputRows()), 1, [&](Value row) {
        Value y = addI(e, top, row);
        Value at = addI(e, mulI(e, copy, p.copyPitch()), mulI(e, image, p.imagePitch()));
        at = addI(e, at, mulI(e, row, p.rowPitch()));
        auto fill = [&](Value first, Value last) {
          buffers.fill(inputBuffer, at, mulI(e, first, p.pixel()), mulI(e, last, p.pixel()),
                       zeros());
        };
        emitIf(e, compareI(e, arith::CmpIPredicate::ult, y, h.input), [&] {
          fill(zero, from);
          Value x = addI(e, left, mulI(e, from, stepX));
          copyRow(task, addI(e, chunk.image0, image), y, addI(e, at, mulI(e, from, p.pixel())), x,
                  stepX, subI(e, to, from));
          fill(to, count);
        });
      });
    });
  });
}

/// Copies pixels firstX, firstX + stepX, ... of a row, with the task's channels, to the buffer at
/// `at`.
void GradientEmitter::copyRow(const Task &task, Value image, Value y, Value at, Value firstX,
                              int64_t stepX, Value count) {
  SmallVector<Index> index(g.spatial.size() + 2);
  index[g.inputFeatureDim] = Index(image);
  if (p.hasH) {
    index[p.h.inputDim] = Index(y);
  }
  index[p.w.inputDim] = Index(firstX);
  index[g.inputBatchDim] = Index(channelOf(task, task.c0));
  Value zero = constI64(e, 0);
  if (p.flat) {
    // Pixels are contiguous in memory.
    copyRun(buffers, *operands.input, offsetOf(e, index, operands.input->strides()),
            mulI(e, count, p.channels), p.lanes, inputBuffer, at);
    return;
  }
  Value limit = subI(e, constI64(e, p.channels), task.c0);
  bool whole = p.channels % p.channelBlock == 0 && p.channelBlock % p.lanes == 0;
  if (operands.input->strides()[g.inputBatchDim] == 1) {
    emitFor(e, zero, count, 1, [&](Value x) {
      SmallVector<Index> here(index);
      here[p.w.inputDim] = Index(addI(e, firstX, mulI(e, x, stepX)));
      Value to = addI(e, at, mulI(e, x, p.pixel()));
      emitFor(e, zero, constI64(e, p.pixel()), p.lanes, [&](Value c) {
        here[g.inputBatchDim] = Index(addI(e, index[g.inputBatchDim].base, c), 1);
        Value mask = whole ? Value() : below(subI(e, limit, c));
        Elem value = operands.input->at(here, p.lanes, mask);
        buffers.store(buffers.address(inputBuffer, addI(e, to, c)), value);
      });
    });
    return;
  }
  emitFor(e, zero, count, p.lanes, [&](Value x) {
    Value mask = below(subI(e, count, x));
    emitFor(e, zero, constI64(e, p.pixel()), p.lanes, [&](Value c) {
      SmallVector<Elem> square = transposed(e, p.lanes, [&](int64_t i) {
        SmallVector<Index> here(index);
        here[p.w.inputDim] = Index(addI(e, firstX, x), 1);
        Value channel = addI(e, c, i);
        channel = whole ? channel : minI(e, channel, addI(e, limit, -1));
        here[g.inputBatchDim] = Index(addI(e, index[g.inputBatchDim].base, channel));
        return operands.input->at(here, p.lanes, mask);
      });
      Value to = addI(e, at, addI(e, mulI(e, x, p.pixel()), c));
      for (int64_t i = 0; i < p.lanes; ++i) {
        buffers.store(buffers.address(inputBuffer, to, i * p.pixel()), square[i]);
      }
    });
  });
}

void GradientEmitter::forEachPanel(const Task &task, function_ref<void(const Panel &)> body) {
  forEachPiece(e, task.n0, task.n1, p.features, p.columns(), [&](Value n, int64_t count) {
    body(Panel{n, static_cast<int64_t>(llvm::divideCeil(count, p.lanes))});
  });
}

void GradientEmitter::packWindow(const Task &task, const Chunk &chunk) {
  bool featuresInside = operands.kernel->strides()[g.kernelOutputDim] == 1;
  bool whole = p.features % p.lanes == 0;
  Value zero = constI64(e, 0);
  emitFor(e, zero, chunk.images, 1, [&](Value image) {
    emitFor(e, chunk.y0, chunk.y1, 1, [&](Value y) {
      Value step = mulI(e, image, p.yChunk * p.xChunk);
      step = addI(e, step, mulI(e, subI(e, y, chunk.y0), p.xChunk));
      SmallVector<Index> tap;
      if (p.hasH) {
        tap.push_back(Index(y));
      }
      tap.push_back({});
      auto place = [&](const Panel &panel, Value x, int64_t v) {
        Value at = mulI(e, divI(e, subI(e, panel.n, task.n0), p.columns()), p.panelPitch());
        return buffers.address(panelBuffer, addI(e, at, mulI(e, addI(e, step, x), p.columns())),
                               v * p.lanes);
      };
      Index from(addI(e, chunk.image0, image));
      emitFor(e, zero, chunk.xs, featuresInside ? 1 : p.lanes, [&](Value x) {
        forEachPanel(task, [&](const Panel &panel) {
          for (int64_t v = 0; v < panel.vectors; ++v) {
            Value n = addI(e, panel.n, v * p.lanes);
            Value rest = subI(e, constI64(e, p.features), n);
            if (featuresInside) {
              tap.back() = Index(addI(e, chunk.x0, x));
              Value mask = whole ? Value() : below(rest);
              Elem value = operands.readKernel(e, from, featureOf(task, n, 1), tap, p.lanes, mask);
              buffers.store(place(panel, x, v), value);
              continue;
            }
            Value mask = below(subI(e, chunk.xs, x));
            tap.back() = Index(addI(e, chunk.x0, x), 1);
            SmallVector<Elem> square = transposed(e, p.lanes, [&](int64_t i) {
              Value feature = addI(e, n, i);
              feature = whole ? feature : minI(e, feature, p.features - 1);
              return operands.readKernel(e, from, featureOf(task, feature, 0), tap, p.lanes, mask);
            });
            for (int64_t i = 0; i < p.lanes; ++i) {
              buffers.store(buffers.address(place(panel, x, v), zero, i * p.columns()), square[i]);
            }
          }
        });
      });
    });
  });
}

void GradientEmitter::multiply(const Task &task, const Chunk &chunk) {
  const SpatialDim &h = p.h;
  Value zero = constI64(e, 0);
  emitFor(e, task.h0, task.h1, 1, [&](Value py) {
    // The rows of the window that read the input at this position.
    Value first = addI(e, mulI(e, py, h.stride), -h.padLow);
    Value y = maxI(e, stepsBelow(e, subI(e, zero, first), h.kernelDilation), chunk.y0);
    Value yEnd =
        minI(e, stepsBelow(e, subI(e, constI64(e, h.input), first), h.kernelDilation), chunk.y1);
    Value ys = maxI(e, subI(e, yEnd, y), zero);
    Value local = subI(e, y, chunk.y0), down = subI(e, py, task.h0);
    Value firstRow = addI(e, mulI(e, local, h.kernelDilation), mulI(e, down, h.stride));
    emitFor(e, zero, constI64(e, p.flat ? 1 : p.w.output), 1, [&](Value px) {
      Value position = p.flat ? down : addI(e, mulI(e, down, p.w.output), px);
      Value input = mulI(e, px, p.positionPitch());
      forEachPanel(task, [&](const Panel &panel) {
        forEachPiece(e, p.sumRows(), p.rows, [&](Value m, int64_t rows) {
          tile(task, chunk, panel, position, input, local, ys, firstRow, m, rows);
        });
      });
    });
  });
}

/// Adds a piece's products to the sums of `rows` rows from `m` on, at a position. `y`: the first of
/// `ys` rows of the window in the piece; `firstRow`: the row of the copy that it is multiplied
/// with.
void GradientEmitter::tile(const Task &task, const Chunk &chunk, const Panel &panel, Value position,
                           Value input, Value y, Value ys, Value firstRow, Value m, int64_t rows) {
  Value local = subI(e, panel.n, task.n0);
  int64_t width = p.panels() * p.columns();
  Value slot = addI(e, mulI(e, addI(e, mulI(e, position, p.sumRows()), m), width), local);
  slot = buffers.address(sumBuffer, slot);
  auto sumAt = [&](int64_t i) {
    return buffers.address(slot, constI64(e, 0),
                           i / panel.vectors * width + i % panel.vectors * p.lanes);
  };
  Sums sums;
  for (int64_t i = 0; i < rows * panel.vectors; ++i) {
    sums.push_back(buffers.load(sumAt(i), p.lanes));
  }
  Value from = addI(e, addI(e, input, m), mulI(e, firstRow, p.rowPitch()));
  Value weights = mulI(e, divI(e, local, p.columns()), p.panelPitch());
  weights = addI(e, weights, mulI(e, y, p.xChunk * p.columns()));
  Value zero = constI64(e, 0);
  auto run = [&](Value in, Value row, Value length, Sums &outer) {
    carrySums(e, zero, length, 1, outer, [&](Value i, Sums &inner) {
      Value inHere = buffers.address(in, mulI(e, i, p.stepPitch()));
      Value rowHere = buffers.address(row, mulI(e, i, p.columns()));
      multiplyStep(
          e, Multiplier{e, operands.element}, rows, panel.vectors,
          [&](int64_t r) { return buffers.load(buffers.address(inHere, zero, r), 1); },
          [&](int64_t v) {
            return buffers.load(buffers.address(rowHere, zero, v * p.lanes), p.lanes);
          },
          inner);
    });
  };
  carrySums(e, zero, chunk.images, 1, sums, [&](Value image, Sums &outer) {
    Value in = buffers.address(inputBuffer, addI(e, from, mulI(e, image, p.imagePitch())));
    Value row = buffers.address(
        panelBuffer, addI(e, weights, mulI(e, image, p.yChunk * p.xChunk * p.columns())));
    if (p.merged() && p.xChunk == p.w.kernel) {
      run(in, row, mulI(e, ys, p.xChunk), outer);
      return;
    }
    carrySums(e, zero, ys, 1, outer, [&](Value r, Sums &inner) {
      run(buffers.address(in, mulI(e, r, p.h.kernelDilation * p.rowPitch())),
          buffers.address(row, mulI(e, r, p.xChunk * p.columns())), chunk.xs, inner);
    });
  });
  for (int64_t i = 0; i < rows * panel.vectors; ++i) {
    buffers.store(sumAt(i), sums[i]);
  }
}

void GradientEmitter::finish(const Task &task) {
  Value zero = constI64(e, 0);
  int64_t width = p.panels() * p.columns();
  Value rows = p.flat ? constI64(e, p.sumRows())
                      : minI(e, subI(e, constI64(e, p.channels), task.c0), p.channelBlock);
  Value features = subI(e, task.n1, task.n0);
  emitFor(e, task.h0, task.h1, 1, [&](Value py) {
    emitFor(e, zero, constI64(e, p.flat ? 1 : p.w.output), 1, [&](Value px) {
      Value down = subI(e, py, task.h0);
      Value position = p.flat ? down : addI(e, mulI(e, down, p.w.output), px);
      emitFor(e, zero, rows, 1, [&](Value m) {
        SmallVector<Index> full(g.spatial.size() + 2);
        full[g.outputBatchDim] = Index(p.flat ? remI(e, m, p.channels) : addI(e, task.c0, m));
        full[p.w.outputDim] = Index(p.flat ? divI(e, m, p.channels) : px);
        if (p.hasH) {
          full[p.h.outputDim] = Index(py);
        }
        Value row = mulI(e, addI(e, mulI(e, position, p.sumRows()), m), width);
        emitFor(e, zero, features, p.lanes, [&](Value n) {
          full[g.outputFeatureDim] = featureOf(task, addI(e, task.n0, n), 1);
          Value mask = p.features % p.lanes == 0 ? Value() : below(subI(e, features, n));
          epilogue.store(operands.element,
                         buffers.load(buffers.address(sumBuffer, addI(e, row, n)), p.lanes), full,
                         p.lanes, mask);
        });
      });
    });
  });
}

void emitGradient(KernelBuilder &kernel, const ConvOperands &operands, Epilogue &epilogue,
                  const GradientPlan &plan) {
  GradientEmitter(kernel, operands, epilogue, plan).emit();
}

} // namespace hlo::codegen
