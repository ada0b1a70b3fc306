package kills

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/bindery-docs/bindery/tests/harness"
)

// Variables of the environment that ask for kills: how many, and the seed of their
// schedule, 0 for any. The same seed makes the same sites and the same
// schedule; when exactly a process dies depends on the machine too.
const (
	envKills     = "BINDERY_KILLS"
	envKillsSeed = "BINDERY_KILLS_SEED"
)

// killsAFolder is how many kills one data folder lives through.
const killsAFolder = 20

// TestKills kills `bindery up` in the midst of all that it does, again and again,
// starts it again, and looks for what is lost, stuck or different. What was asked
// for is done in folders of their own, two at once; one of them alone runs again
// with -run and its name.
func TestKills(t *testing.T) {
	if os.Getenv(envKills) == "" {
		t.Skip("not run: make test-kills does")
	}
	run := &kills{table: map[string]*tally{}}
	var err error
	if run.total, err = strconv.Atoi(os.Getenv(envKills)); err != nil || run.total < 1 {
		t.Fatalf("%s must be a number of kills", envKills)
	}
	if run.seed, err = strconv.ParseUint(cmp.Or(os.Getenv(envKillsSeed), "0"), 10, 64); err != nil {
		t.Fatalf("%s must be a number", envKillsSeed)
	}
	if run.seed == 0 {
		run.seed = rand.Uint64()
	}
	run.program = harness.Bindery(t)
	run.large = noise(rand.New(rand.NewPCG(run.seed, 0)), 1700)
	t.Logf("%d kills of the seed %d", run.total, run.seed)
	each := min(killsAFolder, (run.total+1)/2)
	t.Run("folder", func(t *testing.T) {
		for n, from := 1, 0; from < run.total; n, from = n+1, from+each {
			t.Run(fmt.Sprintf("%04d", n), func(t *testing.T) {
				t.Parallel()
				run.folder(t, n, min(each, run.total-from))
			})
		}
	})
	t.Run("leftovers", run.leftovers)
	t.Logf("seed %d\n%s", run.seed, run.report())
}

// kills is a run of TestKills.
type kills struct {
	seed    uint64
	total   int
	program string
	large   []byte // a picture

	mu    sync.Mutex
	table map[string]*tally
}

// tally is what became of the kills of one phase of work.
type tally struct {
	kills int
	// resumed counts those after which all work under way was done to its end
	// without anybody asking again; ended those after which an export failed
	// because its process had been killed alone twice, as it must.
	resumed, ended         int
	lost, stuck, different int
}

// killPhases is the order of the table.
var killPhases = []string{
	"start", "start, exports under way",
	"request of an export", "export queued", "planning", "rendering", "assembling", "export completed",
	"child: planning", "child: rendering", "child: assembling", "child: between", "child: the next one too",
	"both: planning", "both: rendering", "both: assembling", "both: between",
	"publish: before the upload", "publish: during the upload", "publish: after the upload", "publish: published",
	"download", "download: both ends", "download: all sent", "promote",
}

// count changes the tally of a phase.
func (r *kills) count(phase string, change func(*tally)) {
	if !slices.Contains(killPhases, phase) {
		panic(phase)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.table[phase] == nil {
		r.table[phase] = &tally{}
	}
	change(r.table[phase])
}

// report is the table.
func (r *kills) report() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', tabwriter.Debug)
	row := func(name string, c tally) {
		fmt.Fprintf(w, "| %s\t %d\t %d\t %d\t %d\t %d\t %d\t\n", name, c.kills, c.resumed, c.ended, c.lost, c.stuck, c.different)
	}
	fmt.Fprintln(w, "| phase\t kills\t resumed\t failed by rule\t lost\t stuck\t different\t")
	fmt.Fprintln(w, "|---\t---\t---\t---\t---\t---\t---\t")
	var all tally
	for _, name := range killPhases {
		c := r.table[name]
		if c == nil {
			continue
		}
		row(name, *c)
		all.kills, all.resumed, all.ended = all.kills+c.kills, all.resumed+c.resumed, all.ended+c.ended
		all.lost, all.stuck, all.different = all.lost+c.lost, all.stuck+c.stuck, all.different+c.different
	}
	row("all", all)
	_ = w.Flush() // a builder takes all
	return b.String()
}
