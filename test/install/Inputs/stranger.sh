# Run by chroot.sh as root of a Debian with nothing but apt. Prints 'ok NAME' or 'failed NAME' for each step.
export DEBIAN_FRONTEND=noninteractive
mkdir -p /work && cd /work || exit 1
step() {
  name="$1"
  shift
  start="$(date +%s.%N)"
  if "$@" > log 2>&1; then
    printf 'ok %s (%.1f s)\n' "$name" "$(echo "$start $(date +%s.%N)" | awk '{print $2 - $1}')"
  else
    echo "failed $name"
    cat log
  fi
}
install() { apt-get install -y -q --no-install-recommends "$@"; }
prints() { expected="$1" && shift && "$@" | grep -F "$expected"; }

# The compiler on its own, without a C compiler: it must run, and need nothing but the C library and zlib.
step install-hlo-compile install /in/hlo-compile_*.deb
step compile hlo-compile /in/examples/c/saxpy.hlo -o saxpy.o --header=saxpy.h
step hlo-run hlo-run /in/examples/c/saxpy.hlo
step install-libhlo-rt-dev install /in/libhlo-rt-dev_*.deb
step install-gcc install gcc libc6-dev pkg-config
step cc cc /in/examples/c/main.c saxpy.o -I. -lhlo_rt -lm -o shared
step run prints 'out[999] = 1999' ./shared
step cc-static cc /in/examples/c/main.c saxpy.o -I. /usr/lib/libhlo_rt.a -lm -o archive
step run-static prints 'out[999] = 1999' ./archive
step pkg-config sh -c 'cc /in/examples/c/main.c saxpy.o -I. $(pkg-config --cflags --libs hlo-runtime) -o with-pkg-config'
step run-pkg-config prints 'out[999] = 1999' ./with-pkg-config
step install-cmake install cmake make
step cmake sh -c 'cmake -S /in/examples/cmake -B build && cmake --build build'
step run-cmake prints 'out[999] = 1999' build/saxpy
step no-library sh -c '! pkg-config --exists hlo-compiler'
step install-libhlo-compiler-dev install /in/libhlo-compiler-dev_*.deb
cat > jit.c << 'EOF'
#include <hlo/compiler.h>
#include <stdio.h>
int main(void) {
  static const char text[] = "HloModule m\nENTRY e { x = f32[1] parameter(0) ROOT y = f32[1] add(x, x) }";
  hlo_compilation *compilation;
  if (hlo_jit_text(text, strlen(text), NULL, &compilation)) return 1;
  float x = 3, y = 0;
  const void *inputs[] = {&x};
  void *outputs[] = {&y};
  hlo_call call = hlo_call_init();
  hlo_status status = hlo_compilation_module(compilation)->run(&call, inputs, outputs);
  hlo_compilation_free(compilation);
  printf("jit %g\n", y);
  return status;
}
EOF
step cc-library sh -c 'cc jit.c $(pkg-config --cflags --libs hlo-compiler) -o jit'
step run-library prints 'jit 6' ./jit
step remove apt-get remove -y -q hlo-compile libhlo-rt-dev libhlo-compiler-dev
step removed sh -c '! ls /usr/bin/hlo-* /usr/include/hlo /usr/lib/libhlo*'
