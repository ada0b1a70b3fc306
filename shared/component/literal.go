package component

import (
	"strconv"
	"strings"
)

// evalLiteral reads the source of a scalar.
func evalLiteral(s string) (any, bool) {
	s = strings.TrimSpace(s)
	switch s {
	case "true", "false":
		return s == "true", true
	case "null", "undefined":
		return nil, true
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f, true
	}
	if v, err := strconv.Unquote(s); err == nil {
		return v, true
	}
	return nil, false
}
