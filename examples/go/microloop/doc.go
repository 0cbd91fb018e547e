// Package microloop decides before every tool call of an agent whether it may run, and watches what came back.
//
// A [Policy] says what is wanted, a [Session] is one run of one agent. Each call is judged by [Session.Check] before it
// runs; what was let through ends once, with [Session.Record] or [Session.Cancel].
//
// The package is a thin layer over the C ABI of libmicroloop and holds no decisions of its own. Policies and sessions may
// be used from any goroutine. Close them; one that is forgotten is freed when it is collected.
package microloop
