/* Eigenvalues and singular values as JAX computes them, without JAX: the modules call LAPACK
 * through libhlo_lapack. */
#include <hlo/lapack.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "eigh.h"
#include "svd.h"

enum { N = 40, BATCH = 3, ROWS = 30, COLUMNS = 20 };

static float a[N][N], w[N], v[N][N];
static float b[BATCH][ROWS][COLUMNS], u[BATCH][ROWS][COLUMNS], s[BATCH][COLUMNS],
    vt[BATCH][COLUMNS][COLUMNS];

static double larger(double x, double y) { return x > y || x != x ? x : y; }

/* The largest element of a v - v w. */
static double error_of_eigh(void) {
  double worst = 0;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < N; ++k) {
        sum += (double)a[i][k] * v[k][j];
      }
      worst = larger(fabs(sum - (double)v[i][j] * w[j]), worst);
    }
  }
  return worst;
}

/* The largest element of b - u s vt. */
static double error_of_svd(void) {
  double worst = 0;
  for (int m = 0; m < BATCH; ++m) {
    for (int i = 0; i < ROWS; ++i) {
      for (int j = 0; j < COLUMNS; ++j) {
        double sum = 0;
        for (int k = 0; k < COLUMNS; ++k) {
          sum += (double)u[m][i][k] * s[m][k] * vt[m][k][j];
        }
        worst = larger(fabs(sum - b[m][i][j]), worst);
      }
    }
  }
  return worst;
}

int main(void) {
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j <= i; ++j) {
      a[i][j] = a[j][i] = sinf((float)(i * i + 3 * j));
    }
  }
  for (int m = 0; m < BATCH; ++m) {
    for (int i = 0; i < ROWS; ++i) {
      for (int j = 0; j < COLUMNS; ++j) {
        b[m][i][j] = cosf((float)(m + i * j + i));
      }
    }
  }
  char message[256] = "";
  hlo_call call = hlo_call_init();
  call.message = message, call.message_bytes = sizeof message;
  call.custom_calls = hlo_lapack_custom_calls();

  eigh_args e = EIGH_ARGS_INIT;
  e.a = &a[0][0], e.out_0 = w, e.out_1 = &v[0][0];
  call.arena_bytes = EIGH_ARENA_BYTES;
  call.arena = aligned_alloc(EIGH_ARENA_ALIGN, EIGH_ARENA_BYTES);
  hlo_status status = eigh_run(&call, &e);
  free(call.arena);
  if (status != HLO_OK) {
    return printf("%s: %s\n", hlo_status_name(status), message), 1;
  }

  svd_args d = SVD_ARGS_INIT;
  d.a = &b[0][0][0], d.out_0 = &u[0][0][0], d.out_1 = &s[0][0], d.out_2 = &vt[0][0][0];
  call.arena_bytes = SVD_ARENA_BYTES;
  call.arena = aligned_alloc(SVD_ARENA_ALIGN, SVD_ARENA_BYTES);
  status = svd_run(&call, &d);
  free(call.arena);
  if (status != HLO_OK) {
    return printf("%s: %s\n", hlo_status_name(status), message), 1;
  }

  double of_eigh = error_of_eigh(), of_svd = error_of_svd();
  printf("eigh: values from %.4f to %.4f, largest error %.1e\n", w[0], w[N - 1], of_eigh);
  printf("svd: values from %.4f to %.4f, largest error %.1e\n", s[0][COLUMNS - 1], s[0][0], of_svd);
  return !(of_eigh < 1e-4 && of_svd < 1e-4);
}
