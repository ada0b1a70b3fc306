package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// External asks whether links to other sites lead anywhere. It can be used by several
// checks, one after another, which don't ask for an address twice.
type External struct {
	// Prober asks.
	Prober *remote.Prober
	// Cache is a file in which it is kept for a day that an address was reached; with
	// "", nothing is kept.
	Cache string
	// Timeout bounds the time of all requests of one check; 0 means DefaultTimeout.
	Timeout time.Duration
	// Known asks for nothing that an earlier check has not asked for.
	Known bool

	answers map[string]remote.Answer
}

// DefaultTimeout is how long a check asks other hosts.
const DefaultTimeout = 2 * time.Minute

// remembered is how long it is kept that an address was reached.
const remembered = 24 * time.Hour

// reached is an entry of the cache, which names addresses by their digests: some of
// them are secrets.
type reached struct {
	At time.Time `json:"at"`
	To string    `json:"to,omitempty"`
}

// ask asks for addresses, each of which is there once, as far as they are not known.
// What is not known afterwards was not asked for in time. The error is that of ctx.
func (e *External) ask(ctx context.Context, addresses []string, log *slog.Logger) error {
	if e.Known {
		return nil
	}
	if e.answers == nil {
		e.answers = map[string]remote.Answer{}
	}
	kept := e.load()
	limited, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, DefaultTimeout))
	defer cancel()
	var unknown []string
	for _, address := range addresses {
		if _, known := e.answers[address]; known {
			continue
		}
		k, ok := kept[digestOf(address)]
		switch {
		case !ok:
			unknown = append(unknown, address)
		case k.To == "":
			e.answers[address] = remote.Answer{Outcome: remote.Reached}
		default:
			e.answers[address] = remote.Answer{Outcome: remote.MovedOn, Reason: "has moved", To: k.To}
		}
	}
	var mu sync.Mutex // of answers and kept
	var asking sync.WaitGroup
	for _, address := range unknown {
		asking.Go(func() {
			answer, err := e.Prober.Probe(limited, address)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			e.answers[address] = answer
			if answer.Outcome == remote.Reached || answer.Outcome == remote.MovedOn {
				kept[digestOf(address)] = reached{time.Now().UTC(), answer.To}
			}
		})
	}
	asking.Wait()
	if err := e.save(kept); err != nil {
		log.WarnContext(ctx, "the addresses that were reached could not be kept", "error", err)
	}
	return ctx.Err()
}

func digestOf(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:])
}

// load reads what is kept and not too old. A file that can't be read has nothing.
func (e *External) load() map[string]reached {
	all := map[string]reached{}
	if e.Cache == "" {
		return all
	}
	data, err := os.ReadFile(e.Cache)
	if err != nil || stdjson.Unmarshal(data, &all) != nil {
		return map[string]reached{}
	}
	for key, r := range all {
		if age := time.Since(r.At); age < 0 || age > remembered {
			delete(all, key)
		}
	}
	return all
}

// save replaces what is kept.
func (e *External) save(all map[string]reached) error {
	if e.Cache == "" {
		return nil
	}
	data, err := stdjson.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(e.Cache), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(e.Cache), ".links-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), e.Cache)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// outsideLink is a link to another site, and its place.
type outsideLink struct {
	address, file string
	line, column  int
}

// external adds the findings about links to other sites, and returns how many
// addresses were not asked for in time.
func (c *checker) external(ctx context.Context, list *List) (late int, err error) {
	if c.External == nil {
		return 0, nil
	}
	links, err := c.configLinks()
	if err != nil {
		return 0, err
	}
	for i := range c.facts {
		for _, l := range c.facts[i].outside {
			links = append(links, outsideLink{l.Path, l.File, l.Line, l.Column})
		}
	}
	var addresses []string
	known := map[string]bool{}
	for i := range links {
		links[i].address, _, _ = strings.Cut(links[i].address, "#")
		a := links[i].address
		if known[a] || slices.ContainsFunc(c.ignored, func(p *regexp.Regexp) bool { return p.MatchString(a) }) {
			continue
		}
		known[a] = true
		addresses = append(addresses, a)
	}
	if err := c.External.ask(ctx, addresses, c.Log); err != nil {
		return 0, err
	}
	for _, a := range addresses {
		if _, ok := c.External.answers[a]; !ok {
			late++
		}
	}
	for _, l := range links {
		answer, ok := c.External.answers[l.address]
		if !ok || !known[l.address] {
			continue
		}
		d := mdx.Diagnostic{File: l.file, Line: l.line, Column: l.column}
		switch answer.Outcome {
		case remote.Gone:
			d.Severity, d.Code = mdx.Warning, "external-missing"
			d.Message = fmt.Sprintf("the link to %s %s", l.address, answer.Reason)
		case remote.MovedOn:
			d.Severity, d.Code = mdx.Notice, "external-moved"
			d.Message = fmt.Sprintf("what the link to %s leads to has moved for good to %s", l.address, answer.To)
		case remote.Unsure:
			d.Severity, d.Code = mdx.Notice, "external-unsure"
			d.Message = fmt.Sprintf("the link to %s %s", l.address, answer.Reason)
		default:
			continue
		}
		list.Add(d)
	}
	return late, nil
}

// configLinks returns the links of the configuration to other sites.
func (c *checker) configLinks() ([]outsideLink, error) {
	file := c.site.ConfigFile
	src, err := fs.ReadFile(c.fs, file)
	if err != nil {
		return nil, err
	}
	root, err := json.Parse(src, json.Options{Depth: maxNesting, Lenient: true})
	if err != nil {
		return nil, nil // a finding says so
	}
	var links []outsideLink
	var walk func(v *json.Value, within string)
	walk = func(v *json.Value, within string) {
		for _, i := range v.Items {
			walk(i, within)
		}
		for _, m := range v.Members {
			if m.Value.Kind == json.String && (m.Name == "href" || m.Name == "url" || within == "socials") {
				if to := c.site.Resolve(-1, m.Value.Text); to.Kind == site.External {
					links = append(links, outsideLink{to.Href, file, m.Value.Line, m.Value.Column})
				}
			}
			walk(m.Value, m.Name)
		}
	}
	walk(root, "")
	return links, nil
}
