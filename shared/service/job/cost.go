package job

import (
	"cmp"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Asks is what an export asks of AWS, in the units that AWS charges for. Write
// units count twice in transactions.
type Asks struct {
	WriteUnits, ReadUnits     int // of DynamoDB
	ObjectWrites, ObjectReads int // of S3
	Transitions               int // of Step Functions
	Calls                     int // of Lambda
}

// AsksOf returns what an export with that many shards asks, from the call that
// starts it to its end, without its callers' polls, the parts of large objects
// and what an export before it adds (AfterAsks). Tests hold it against exports
// that are counted.
func AsksOf(shards int) Asks {
	once := Asks{WriteUnits: 25, ReadUnits: 20, ObjectWrites: 10, ObjectReads: 11, Transitions: 6, Calls: 3}
	each := Asks{WriteUnits: 2, ReadUnits: 6, ObjectWrites: 7, ObjectReads: 7, Transitions: 2, Calls: 1}
	return Asks{
		WriteUnits: once.WriteUnits + shards*each.WriteUnits, ReadUnits: once.ReadUnits + shards*each.ReadUnits,
		ObjectWrites: once.ObjectWrites + shards*each.ObjectWrites, ObjectReads: once.ObjectReads + shards*each.ObjectReads,
		Transitions: once.Transitions + shards*each.Transitions, Calls: once.Calls + shards*each.Calls,
	}
}

// AfterAsks returns what an export before it adds to one with that many shards, at
// most: the bundles' lists and both bundles twice, to compare them, and what was kept,
// of which each shard reads a few pieces.
func AfterAsks(shards int) Asks {
	return Asks{WriteUnits: 2, ReadUnits: 1, ObjectWrites: 2, ObjectReads: 12 + 4*shards}
}

// ReusedAsks returns what an export asks that renders nothing. The copy of a bundle
// above 5 GiB asks one more write for each GiB, and each pack of kept values above three
// one more read.
func ReusedAsks() Asks {
	return Asks{WriteUnits: 22, ReadUnits: 20, ObjectWrites: 5, ObjectReads: 10, Transitions: 6, Calls: 3}
}

// LiveAsks returns what an export asks more that goes live: a row of the list of
// deployments, and the move at its end.
func LiveAsks() Asks { return Asks{WriteUnits: 18, ReadUnits: 7} }

// Prices are in US dollars. See DefaultPrices for what each is for.
type Prices struct {
	GBSecond    float64 `json:"gbSecond"`    // Lambda, arm64: a gigabyte for a second
	Call        float64 `json:"call"`        // Lambda
	Transition  float64 `json:"transition"`  // Step Functions, standard
	WriteUnit   float64 `json:"writeUnit"`   // DynamoDB, on demand
	ReadUnit    float64 `json:"readUnit"`    // DynamoDB, on demand
	ObjectWrite float64 `json:"objectWrite"` // S3
	ObjectRead  float64 `json:"objectRead"`  // S3
	GBMonth     float64 `json:"gbMonth"`     // S3: a gigabyte for a month
	Request     float64 `json:"request"`     // API Gateway, REST
	GBOut       float64 `json:"gbOut"`       // a gigabyte to the internet
	Trace       float64 `json:"trace"`       // X-Ray: a call that is traced
	GBLog       float64 `json:"gbLog"`       // CloudWatch: a gigabyte of logs
}

// DefaultPrices are those that AWS lists for us-east-1, without the free tier.
func DefaultPrices() Prices {
	return Prices{
		GBSecond: 0.0000133334, Call: 0.20e-6, Transition: 0.025e-3, WriteUnit: 0.625e-6, ReadUnit: 0.125e-6,
		ObjectWrite: 0.005e-3, ObjectRead: 0.0004e-3, GBMonth: 0.023, Request: 3.50e-6, GBOut: 0.09, Trace: 5e-6, GBLog: 0.50,
	}
}

// Run is what the price of an export follows from.
type Run struct {
	Pages, Shards int
	// Reused reports that it rendered nothing, and Compared that its bundle was
	// read beside that of the export before it.
	Reused, Compared bool
	// GoLive reports that it was made to go live.
	GoLive bool
	// Steps is how long its steps ran, one after another, and GBSeconds that
	// time in gigabytes (of 1,024 MB) times seconds.
	Steps     time.Duration
	GBSeconds float64
	// Bundle is the size of its archive, in bytes.
	Bundle int64
	// Requests is how many requests of the API belong to it: its start, polls
	// and links.
	Requests int
}

// keptPage is how many bytes are kept of a page that was rendered, for later exports.
const keptPage = 100_000

// Stored returns how many bytes an export stores for a month: its archive, and what it
// keeps for later exports, by the part of a month for which that is there.
func (r Run) Stored() int64 {
	if r.Reused {
		return r.Bundle
	}
	const month = 30 * 24 * time.Hour
	return r.Bundle + int64(float64(r.Pages*keptPage)*(admin.KeptFor.Hours()/month.Hours()))
}

// stepMemory is the memory of a step's function, in MB: on Lambda one processor.
const stepMemory = 1769

// RunOf returns the run of a finished job from its own records. Steps of which
// nothing was noted, those of jobs of earlier programs, are missing in Steps.
func RunOf(j admin.ExportJob, steps []admin.StepTime, requests int) Run {
	r := Run{Pages: j.PageCount(), Shards: j.Plan.Shards, Reused: j.Reused != "", GoLive: j.GoLive != nil, Requests: requests}
	r.Compared = j.Bundle != nil && j.Bundle.Changes.Listed
	for _, s := range steps {
		memory := cmp.Or(s.MemoryMB, stepMemory) // on a laptop nothing is paid for: as if on Lambda
		r.Steps += s.Took()
		r.GBSeconds += s.Took().Seconds() * float64(memory) / 1024
	}
	if j.Bundle != nil {
		r.Bundle = j.Bundle.Size
	}
	return r
}

// Line is one part of a price.
type Line struct {
	Name    string  `json:"name"`
	About   string  `json:"about"`
	Dollars float64 `json:"dollars"`
}

// Bill is the price of a job: of making it, and for an export of storing what it made
// for a month and of downloading its archive once to the internet.
type Bill struct {
	Lines    []Line  `json:"lines"`
	Made     float64 `json:"made"`
	Kept     float64 `json:"keptAMonth"`
	Download float64 `json:"downloadedOnce"`
}

// How a bundle of several parts is written.
const (
	// BundlePart is the size of its parts, in bytes: few enough for one record of
	// the largest bundle, and small enough for three of them in memory.
	BundlePart = 32 << 20
	// PartsANote is how many parts are written between two notes of how far the
	// bundle is: what a process that dies costs.
	PartsANote = 8
)

// BundleAsks returns what writing a bundle of n bytes asks beyond one write: its
// parts, in requests, and the notes of how far it is, in units. A test holds it
// against bundles that are counted.
func BundleAsks(n, part int64) (a Asks) {
	if n < part {
		return a
	}
	const noteBytes = 300                    // of a note,
	partBytes := 131 + len(fmt.Sprint(part)) // and of each part in it
	full := int(n / part)
	note := func(parts int) { a.WriteUnits += (noteBytes+partBytes*parts)/1024 + 1 }
	note(0)
	for parts := PartsANote; parts <= full; parts += PartsANote {
		note(parts)
	}
	note(full)
	// Whether there is a note, and before each that the job still runs.
	a.ReadUnits = 1 + full/PartsANote + 2
	a.ObjectWrites = int((n+part-1)/part) + 1 // begin and complete, less the one that a small bundle takes
	return a
}

// partBytes is the size of the parts in which other large objects are written.
const partBytes = 8 << 20

// parts is how many requests more than one it takes to write n bytes.
func parts(n int64) int {
	if n <= partBytes {
		return 0
	}
	return int((n+partBytes-1)/partBytes) + 1 // begin and complete, less the one that a small object takes
}

// Bill returns the price of a run.
func (p Prices) Bill(r Run) Bill {
	a := AsksOf(r.Shards)
	if r.Reused {
		a = ReusedAsks()
	}
	if c := AfterAsks(r.Shards); r.Compared {
		a.ReadUnits += c.ReadUnits
		a.ObjectWrites += c.ObjectWrites
		a.ObjectReads += c.ObjectReads
	}
	if r.GoLive {
		a.WriteUnits += LiveAsks().WriteUnits
		a.ReadUnits += LiveAsks().ReadUnits
	}
	a.ReadUnits += r.Requests
	switch large := BundleAsks(r.Bundle, BundlePart); {
	case r.Reused: // S3 copies it
	case r.Bundle < BundlePart:
		a.ObjectWrites += parts(r.Bundle)
	default:
		a.WriteUnits += large.WriteUnits
		a.ReadUnits += large.ReadUnits
		a.ObjectWrites += large.ObjectWrites
	}
	if r.Shards > 0 {
		shards := int64(r.Shards)
		a.ObjectWrites += r.Shards * (parts(r.Bundle/shards) + int(int64(r.Pages)*keptPage/shards/partBytes))
	}
	b := billOf(p.steps(r.Steps, r.GBSeconds, a), p.workflow(fmt.Sprintf("%d shards", r.Shards), a), p.records(a), p.objects(a), p.requests(r.Requests), p.watching(a.Calls+r.Requests))
	b.Kept, b.Download = float64(r.Stored())/1e9*p.GBMonth, float64(r.Bundle)/1e9*p.GBOut
	return b
}

// billOf is the bill of what was made.
func billOf(lines ...Line) Bill {
	b := Bill{Lines: lines}
	for _, l := range lines {
		b.Made += l.Dollars
	}
	return b
}

func (p Prices) steps(took time.Duration, gbSeconds float64, a Asks) Line {
	return Line{"steps", fmt.Sprintf("%s, %.1f GB-seconds", took.Round(100*time.Millisecond), gbSeconds), gbSeconds*p.GBSecond + float64(a.Calls)*p.Call}
}

func (p Prices) workflow(of string, a Asks) Line {
	return Line{"workflow", fmt.Sprintf("%s, %d transitions", of, a.Transitions), float64(a.Transitions) * p.Transition}
}

func (p Prices) records(a Asks) Line {
	return Line{"records", fmt.Sprintf("%d write and %d read units", a.WriteUnits, a.ReadUnits), float64(a.WriteUnits)*p.WriteUnit + float64(a.ReadUnits)*p.ReadUnit}
}

func (p Prices) objects(a Asks) Line {
	return Line{"objects", fmt.Sprintf("%d writes and %d reads", a.ObjectWrites, a.ObjectReads), float64(a.ObjectWrites)*p.ObjectWrite + float64(a.ObjectReads)*p.ObjectRead}
}

func (p Prices) requests(n int) Line {
	return Line{"requests", fmt.Sprintf("%d, metered", n), float64(n) * (p.Request + p.Call + callWriteUnits*p.WriteUnit)}
}

// logBytes is what a call writes into its log, with the lines of Lambda itself.
const logBytes = 1100

// watching is what so many calls of functions are noted with. Above one call a
// second fewer are traced.
func (p Prices) watching(calls int) Line {
	return Line{"watching", fmt.Sprintf("%d calls, traced and logged", calls), float64(calls) * (p.Trace + logBytes/1e9*p.GBLog)}
}

// callWriteUnits is what it takes to meter a request: one unit to note it, and
// two to remove the note in the transaction that counts it.
const callWriteUnits = 3
