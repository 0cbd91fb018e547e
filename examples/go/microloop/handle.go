package microloop

import "runtime"

// owned is a handle of the library, which is freed when it is closed or collected. That it holds a pointer keeps it apart
// from other small values: Go collects small values without pointers only together with their neighbours.
type owned struct {
	number uint64
	free   func(uint64) error
}

func own(number uint64, free func(uint64) error) *owned {
	handle := &owned{number, free}
	// After close it frees a second time, which the library tells from every later handle and refuses.
	runtime.AddCleanup(handle, func(number uint64) { _ = free(number) }, number)
	return handle
}

func (o *owned) close() error {
	defer runtime.KeepAlive(o)
	return o.free(o.number)
}
