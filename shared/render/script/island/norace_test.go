//go:build !race

package island

const raceDetector = false
