//go:build !race

package outside

// raceDetector reports whether the race detector is on.
const raceDetector = false
