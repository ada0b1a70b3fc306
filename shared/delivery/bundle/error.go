package bundle

import "fmt"

// Fault is what is wrong with a bundle.
type Fault string

// Faults.
const (
	// Truncated: the bundle ends too early.
	Truncated Fault = "truncated"
	// Corrupt: the bytes are not what was written: a bad gzip member or tar
	// entry, or a file or list with another digest than stated.
	Corrupt Fault = "corrupt"
	// Mismatch: the files are not those of the list.
	Mismatch Fault = "mismatch"
	// Unsafe: a name or a kind of entry that must not be unpacked.
	Unsafe Fault = "unsafe"
	// TooLarge: a limit was passed.
	TooLarge Fault = "too-large"
	// Unknown: the bundle has a form that this program does not know.
	Unknown Fault = "unknown-format"
)

// Error says why a bundle can't be used.
type Error struct {
	Fault Fault
	// Path is the entry it is about, or empty.
	Path string
	// Message says what was found and what was expected.
	Message string
	// Err is the error below, if any.
	Err error
}

func (e *Error) Error() string {
	s := "bundle: "
	if e.Path != "" {
		s += fmt.Sprintf("%q: ", e.Path)
	}
	s += e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }
