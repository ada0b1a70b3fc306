package export

import (
	"time"

	"github.com/bindery-docs/bindery/shared/render/check"
)

// Limits of an export.
const (
	// MaxPages keeps the site's index, which every step holds, within a
	// function's memory.
	MaxPages = 200_000
	// MaxBundleBytes is what still downloads in an hour, the life of a link,
	// at 50 Mbit/s: of the archive, compressed as it is kept.
	MaxBundleBytes = 20 << 30
	// MaxShards keeps the list of shard numbers far under the limit of a
	// state's payload (256 KiB), and the markers of a job few enough to sum at
	// every look at its progress.
	MaxShards = 2000
	// MaxDiagnostics bounds the bundle's list; the counts go on.
	MaxDiagnostics = check.MaxFindings
	// highlightCacheBytes is what a process keeps of highlighted code. Pages
	// that repeat each other's code are near each other.
	highlightCacheBytes = 12 << 20
	// MaxPageBytes is the most that a page's source may have. A larger one is
	// shown as a notice; no author wrote it.
	MaxPageBytes = check.MaxPageBytes
)

// How a large bundle is written.
const (
	// assembleReserve is what a call leaves of its time: for the parts on their
	// way, the note, and S3's end of an upload.
	assembleReserve = 2 * time.Minute
)

// How a site is cut. These change the bytes of bundles.
const (
	// unitPages is the most pages of a unit: few enough that a unit is
	// rendered in memory.
	unitPages = 64
	// unitCut is how many small pages a unit has on average: a unit ends after a
	// page whose path's hash is divisible by it, so that one new page moves
	// borders up to the next such page, and no others.
	unitCut = 40
	// heavyBytes is how many bytes of sources a unit has after which one page in
	// heavyCut ends it: a change of one page then costs few others. Units of less
	// would make bundles larger, since pages are compressed against those before
	// them: a third for pages of a few lines, under one per cent for real ones.
	heavyBytes = 64 << 10
	heavyCut   = 5
	// unitBytes is how many bytes of sources a unit has at most, unless one
	// file alone has more.
	unitBytes = 4 << 20

	// pageWeight is what rendering a page costs besides its bytes, in bytes.
	pageWeight = 4 << 10
	// fileDivisor is how much less a byte of a static file costs than one of
	// a page.
	fileDivisor = 32
	// shardWeight is the weight of a shard: about three hundred pages, which
	// take a slow function under a minute of its fifteen, also where each of
	// them has a diagram.
	shardWeight = 3 << 20
	// fewestShards is how many shards a site has at least, if it has as many
	// units, so that work spreads and progress moves.
	fewestShards = 8
)
