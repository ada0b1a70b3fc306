package highlight

// limits bound the work on hostile code. Some of chroma's expressions take a
// number of steps that doubles with each character (a string that is never
// closed, with many backslashes), others the square of the length. Steps are
// counted, by the engine (see backtrack.Matcher.Match) and by the machine: one
// for each rule that is tried and one for each character that a simple
// expression passes. No clock is asked, so the same code always ends at the
// same place: it is plain from there on.
type limits struct {
	// attempt is for one expression at one position.
	attempt int
	// block and character are for a whole block: so many steps, and so many
	// more for each of its characters.
	block, character int
}

// defaultLimits are far above what real code needs, and low enough for a server.
//
// The mean over the blocks of real sites and chroma's samples is 39 steps a
// character, and the most is 700, but for Svelte, whose expressions look at the
// whole block from each brace: about 1.6 steps times the square of the length,
// so the first 4,000 characters have classes. The longest attempt of a block of
// some pages takes 20,000 steps, of one repeated up to [MaxBytes] 100,000.
//
// A million steps take some milliseconds: an expression that backtracks
// exponentially costs that much once a block, and the longest block with the
// most hostile code about a second.
func defaultLimits() limits {
	return limits{attempt: 1_000_000, block: 20_000_000, character: 1_000}
}

// steps is how many steps a block of so many characters has.
func (l limits) steps(length int) int { return l.block + l.character*length }
