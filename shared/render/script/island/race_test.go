//go:build race

package island

// raceDetector reports whether the race detector runs, which makes a script's
// work several times longer.
const raceDetector = true
