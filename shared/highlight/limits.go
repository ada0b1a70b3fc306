package highlight

import "time"

// limits are the guards that look at a clock. Some of chroma's expressions take
// time that doubles with each character of a hostile block (a string that is
// never closed, with many backslashes), others the square of its length, and
// the engine counts no steps; without a guard such a block would hold a page up
// for ever. Real code is through in microseconds an attempt and milliseconds a
// block, a thousand times less than the limits, so what the clock says decides
// nothing else: a machine under load gives the same output. A block that runs
// into a limit is plain as a whole, wherever it was stopped.
type limits struct {
	// attempt is for one expression at one position. An attempt that was stopped
	// is tried again, in case the whole process stood still.
	attempt time.Duration
	// block is for a whole block, looked at now and then.
	block time.Duration
}

func defaultLimits() limits {
	return limits{attempt: time.Second, block: 5 * time.Second}
}
