package snapshot

// CheckPath says why path can't be the path of a file in a snapshot, as a
// *PathError, or returns nil. A path is relative to the site's root, with
// slashes.
func CheckPath(path string) error {
	if reason := pathFault(path); reason != "" {
		return &PathError{Path: path, Reason: reason}
	}
	return nil
}
