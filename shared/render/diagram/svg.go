package diagram

import (
	"math"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// ownColor is a colour of an author's.
var ownColor = lazy.Regexp(`^(?:#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,25}|(?:rgb|hsl)a?\([\d\s.,%/]+\))$`)

func ceil(v float64) int { return int(math.Ceil(v)) }
