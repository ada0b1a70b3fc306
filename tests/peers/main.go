// Command peers exports one set of pages with Bindery and builds it with other
// tools, in turn, and writes how many pages each makes a CPU second, as ratios,
// into the documentation's page of figures.
//
//	main.go    flags, and the rounds
//	corpus.go  the sets of pages
//	tools.go   the tools, and what a command takes
//	page.go    the page of figures
//
// It needs Go and Python, Hugo (.ci/tools peers installs it), and the folder
// peers of the shared folder, which has the corpus and the others' templates.
// What is missing of Pagefind, Docusaurus, Starlight and VitePress is named on
// the page and left out. Nothing in it is a test: a machine's load changes
// what is measured, and only rounds in turn and their ratios say something.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	var b bench
	flag.StringVar(&b.shared, "shared", "../shared", "the shared folder, with peers and corpora")
	flag.StringVar(&b.work, "work", ".cache/peers", "where corpora, sites and output go; node's tools in npm/TOOL")
	flag.StringVar(&b.tools, "tools", ".cache/bin", "where hugo is")
	flag.StringVar(&b.page, "page", "infra/docs/contribute/figures.mdx", "the page of figures")
	only := flag.String("only", ".*", "a regular expression of the sets to measure")
	node := flag.String("node", "1x", "a regular expression of those that the tools on Node build, too: some take ten minutes for 4x")
	flag.IntVar(&b.rounds, "rounds", 3, "how often each is measured")
	flag.Parse()
	b.only, b.node = regexp.MustCompile("^("+*only+")$"), regexp.MustCompile("^("+*node+")$")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// bench is one run of the command.
type bench struct {
	shared, work, tools, page string
	only, node                *regexp.Regexp
	rounds                    int

	bindery string          // the program
	kept    map[string]took // rounds that a run before this one measured, which did not come to its end
	rows    []row
	skipped []string // why something was not measured
}

// row is what one set of pages took in all rounds.
type row struct {
	set     set
	hugo    []took
	bindery []took
	// same is Hugo with what else an export does: Pagefind, and the site packed
	// and compressed. Nil without Pagefind.
	same []took
	// others are the tools on Node, by name.
	others map[string][]took
}

// took is one measured command, or several after each other.
type took struct{ CPU, Wall time.Duration }

func (t took) plus(o took) took { return took{t.CPU + o.CPU, t.Wall + o.Wall} }

func (b *bench) run(ctx context.Context) error {
	for _, path := range []*string{&b.shared, &b.work, &b.tools, &b.page} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	if _, err := os.Stat(filepath.Join(b.shared, "peers", "make_corpus.py")); err != nil {
		return fmt.Errorf("the corpus is made by the shared folder: %w", err)
	}
	if _, err := os.Stat(b.hugo()); err != nil {
		return fmt.Errorf("hugo is not there; .ci/tools peers installs it: %w", err)
	}
	if err := os.MkdirAll(b.work, 0o755); err != nil {
		return err
	}
	if err := b.build(ctx); err != nil {
		return err
	}
	sets, err := b.sets(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(b.pagefind()); err != nil {
		b.skip("the same work", errors.New("no Pagefind: .ci/tools peers installs it"))
	}
	if err := b.readRounds(); err != nil {
		return err
	}
	for _, s := range sets {
		if !b.only.MatchString(s.name) {
			b.skip(s.name, errors.New("not asked for"))
			continue
		}
		if err := b.measure(ctx, s); err != nil {
			return err
		}
	}
	return errors.Join(b.write(ctx), os.Remove(b.roundsFile()))
}

func (b *bench) skip(what string, why error) {
	line := fmt.Sprintf("%s: %v", what, why)
	fmt.Println("left out:", line)
	b.skipped = append(b.skipped, line)
}

// build builds the program as it is released.
func (b *bench) build(ctx context.Context) error {
	b.bindery = filepath.Join(b.work, "bindery")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.bindery, "./infra/cmd/bindery")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// measure runs all tools on one set, in turn, as many rounds as were asked for.
func (b *bench) measure(ctx context.Context, s set) error {
	r := row{set: s, others: map[string][]took{}}
	site := filepath.Join(b.work, "sites", "hugo-"+s.name)
	nodes := b.nodeTools(ctx, s)
	for n := range b.rounds {
		hugo, err := b.once(s, n, "hugo", func() (took, error) {
			if err := b.hugoSite(ctx, s, site); err != nil {
				return took{}, err
			}
			return b.runHugo(ctx, site)
		})
		if err != nil {
			return err
		}
		r.hugo = append(r.hugo, hugo)
		ours, err := b.once(s, n, "bindery", func() (took, error) { return b.runBindery(ctx, s) })
		if err != nil {
			return err
		}
		r.bindery = append(r.bindery, ours)
		fmt.Printf("%s, round %d: Hugo %.1f, Bindery %.1f CPU s, ratio %.2f\n", s.name, n+1, hugo.CPU.Seconds(), ours.CPU.Seconds(), hugo.CPU.Seconds()/ours.CPU.Seconds())
		if _, err := os.Stat(b.pagefind()); err == nil && s.name == "1x" {
			more, err := b.once(s, n, "rest", func() (took, error) { return b.runRest(ctx, site) })
			if err != nil {
				return err
			}
			r.same = append(r.same, hugo.plus(more))
			fmt.Printf("    Hugo, Pagefind and tar | gzip: %.1f CPU s, ratio %.2f\n", hugo.plus(more).CPU.Seconds(), hugo.plus(more).CPU.Seconds()/ours.CPU.Seconds())
		}
		for _, name := range nodes {
			t, err := b.once(s, n, name, func() (took, error) { return b.runNode(ctx, name, s) })
			if err != nil {
				b.skip(name+" on "+s.name, err)
				continue
			}
			r.others[name] = append(r.others[name], t)
			fmt.Printf("    %s: %.1f CPU s\n", name, t.CPU.Seconds())
		}
	}
	b.rows = append(b.rows, r)
	return nil
}

func (b *bench) roundsFile() string { return filepath.Join(b.work, "rounds.json") }

// readRounds reads what a run before this one had measured when it was stopped.
func (b *bench) readRounds() error {
	b.kept = map[string]took{}
	data, err := os.ReadFile(b.roundsFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &b.kept)
	}
	return err
}

// once measures a tool in a round, unless that was done, and keeps what it took.
func (b *bench) once(s set, round int, tool string, measure func() (took, error)) (took, error) {
	key := fmt.Sprintf("%s %d %s", s.name, round+1, tool)
	if t, done := b.kept[key]; done {
		return t, nil
	}
	t, err := measure()
	if err != nil {
		return took{}, err
	}
	b.kept[key] = t
	data, err := json.MarshalIndent(b.kept, "", "  ")
	if err != nil {
		return took{}, err
	}
	return t, os.WriteFile(b.roundsFile(), data, 0o644)
}
