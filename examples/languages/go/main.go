// Trains a linear regression by gradient descent: the compiled regression.hlo is one step of it.
package main

/*
#cgo LDFLAGS: -lregression
#include "regression.h"
*/
import "C"

import (
	"fmt"
	"os"
)

func train() error {
	// 8 points of y = 3 a - 2 b, and the weights of a and b, which every step updates in place.
	var arrays [5]*Array[float32]
	for i, n := range []int{16, 8, 2, 1, 7} {
		array, err := NewArray[float32](n)
		if err != nil {
			return err
		}
		defer array.Free()
		arrays[i] = array
	}
	x, y, w, loss, short := arrays[0], arrays[1], arrays[2], arrays[3], arrays[4]
	for i := range y.Data {
		a, b := float32(i%3), float32(i%2)
		x.Data[2*i], x.Data[2*i+1] = a, b
		y.Data[i] = 3*a - 2*b
	}

	step, err := NewModel(C.regression_describe())
	if err != nil {
		return err
	}
	defer step.Close()
	for i := 1; i <= 100; i++ {
		if err := step.Run([]Buffer{x, y, w}, []Buffer{w, loss}); err != nil {
			return err
		}
		if i%50 == 0 {
			fmt.Printf("step %d: loss %.6f, w = %.4f %.4f\n", i, loss.Data[0], w.Data[0], w.Data[1])
		}
	}
	fmt.Println("error:", step.Run([]Buffer{x, short, w}, []Buffer{w, loss}))
	return nil
}

func main() {
	if err := train(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
