// SPDX-License-Identifier: MIT
// Works for a while in each of several ways and writes its own profile of that to the file that is named: a leaf without a
// frame, the runtime on the thread's stack, stacks that grow, many goroutines that switch. For go_stacks.py.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

const each = 600 * time.Millisecond

var sink uint64

//go:noinline
func hash(n uint64) uint64 {
	x := n
	for i := uint64(0); i < 100000; i++ {
		x = x*6364136223846793005 + i
	}
	return x
}

//go:noinline
func leaf() {
	for end := time.Now().Add(each); time.Now().Before(end); {
		sink += hash(sink)
	}
}

//go:noinline
func callers() {
	pcs := make([]uintptr, 32)
	for end := time.Now().Add(each); time.Now().Before(end); {
		for i := 0; i < 200; i++ {
			runtime.Callers(0, pcs)
		}
	}
}

//go:noinline
func deep(n int) uint64 {
	var room [512]byte
	room[n%512] = byte(n)
	if n == 0 {
		return uint64(room[sink%512])
	}
	return deep(n-1) + uint64(room[(n+1)%512])
}

//go:noinline
func grow() {
	done := make(chan uint64)
	for end := time.Now().Add(each); time.Now().Before(end); {
		go func() { done <- deep(90) }()
		sink += <-done
	}
}

//go:noinline
func clock() {
	for end := time.Now().Add(each); time.Now().Before(end); {
	}
}

//go:noinline
func talk() {
	to, from := make(chan uint64), make(chan uint64)
	go func() {
		for n := range to {
			from <- n + 1
		}
		close(from)
	}()
	for end := time.Now().Add(each); time.Now().Before(end); {
		for i := 0; i < 1000; i++ {
			to <- sink
			sink = <-from
		}
	}
	close(to)
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(file)
	defer pprof.StopCPUProfile()
	done := make(chan bool)
	go func() { leaf(); done <- true }()
	<-done
	callers()
	grow()
	clock()
	talk()
	more()
}
