package sitefolder

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// configNames are the files, at the root of a folder, one of which makes it a
// documentation site.
var configNames = [...]string{"docs.json", "mint.json"}

// Config returns why a folder is no site: its root has no configuration. It is nil for a
// site. has reports whether a file is published.
func Config(has func(name string) bool) *snapshot.PathError {
	if slices.ContainsFunc(configNames[:], has) {
		return nil
	}
	return &snapshot.PathError{Path: configNames[0], Reason: "the folder has no " + strings.Join(configNames[:], " and no ") + ", so it is not a documentation site"}
}

// Name returns the path in a snapshot of a file of a disk, whatever bytes its name
// has: each that is not UTF-8 becomes U+FFFD.
func Name(disk string) string { return norm.NFC.String(string([]rune(disk))) }

// Names returns the paths in a snapshot of files of a disk, in their order. A file with the
// name of one before it gets none: "", and is among refused.
func Names(disk []string) (names []string, refused snapshot.PathErrors) {
	names = make([]string, len(disk))
	have := make(map[string]bool, len(disk))
	for i, one := range disk {
		name := Name(one)
		if have[name] {
			refused = append(refused, &snapshot.PathError{Path: one, Reason: "another file has the same name in Unicode normal form C"})
			continue
		}
		have[name] = true
		names[i] = name
	}
	return names, refused
}

// Bytes returns the size of all files together, and an error if that is more than a
// snapshot may have.
func Bytes(files []snapshot.File) (int64, error) {
	var sum int64
	for _, f := range files {
		if sum += f.Size; sum > snapshot.MaxBytes {
			return 0, fmt.Errorf("the files have more than %d bytes together", int64(snapshot.MaxBytes))
		}
	}
	return sum, nil
}
