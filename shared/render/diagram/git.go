package diagram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/diagram/layout"
)

// Limits of a graph of commits: more is not read by anyone.
const (
	maxCommits  = 300
	maxBranches = 40
)

// gitGraph is what a graph of commits says.
type gitGraph struct {
	face
	settings
	direction layout.Direction
	branches  []gitBranch
	commits   []gitCommit
	byName    map[string]int
	byID      map[string]int
	current   int // branch
	said      []Line
}

type gitBranch struct {
	name  string
	order float64
	head  int // its last commit, -1 for none
	lane  int // from the top or the left
}

// gitCommit is a commit. Its parents come before it.
type gitCommit struct {
	label   string // the author's name for it, "" for none
	tags    []string
	kind    commitKind
	merge   bool
	branch  int
	parents []int
}

// commitKind is how a commit is drawn.
type commitKind uint8

const (
	commitNormal commitKind = iota
	commitReverse
	commitHighlight
	commitMerge
	commitPicked
)

const (
	gitName  = `("[^"]*"|[^\s:"]+)`
	gitParts = `((?:\s+(?:(?:id|msg|tag|parent):\s*)?"[^"]*"|\s+type:\s*\w+)*)`
)

var (
	gitHeader  = lazy.Regexp(`(?i)^gitGraph(?: ?(LR|TB|BT))? ?:?$`)
	gitCommand = lazy.Regexp(`^(commit|cherry-pick)` + gitParts + `$`)
	gitMerge   = lazy.Regexp(`^merge\s+` + gitName + gitParts + `$`)
	gitTurn    = lazy.Regexp(`^(?:checkout|switch)\s+` + gitName + `$`)
	gitFork    = lazy.Regexp(`^branch\s+` + gitName + `(?:\s+order:\s*(\d{1,6}))?$`)
	gitPart    = lazy.Regexp(`(?:(id|msg|tag|parent):\s*)?"([^"]*)"|type:\s*(\w+)`)
	gitKinds   = map[string]commitKind{"NORMAL": commitNormal, "REVERSE": commitReverse, "HIGHLIGHT": commitHighlight}
)

// commitWords is what a line says of a commit.
type commitWords struct {
	id, message, parent string
	tags                []string
	tagged              bool // the line has tags, which may be empty
	kind                commitKind
	typed               bool
}

func wordsOfCommit(s string) (w commitWords, ok bool) {
	for _, m := range gitPart().FindAllStringSubmatch(s, -1) {
		text := spoken(m[2])
		switch {
		case m[3] != "":
			if w.kind, ok = gitKinds[m[3]]; !ok {
				return w, false
			}
			w.typed = true
		case m[1] == "id":
			w.id = text
		case m[1] == "parent":
			w.parent = text
		case m[1] == "tag":
			w.tagged = true
			if text != "" {
				w.tags = append(w.tags, text)
			}
		default:
			w.message = text
		}
	}
	return w, true
}

func gitDiagram(src *source) (*Diagram, error) {
	g, err := parseGit(src)
	if err != nil {
		return nil, err
	}
	d := &Diagram{Lines: g.said}
	d.fill(g.draw())
	return d, nil
}

// parseGit reads a graph of commits by the rules of Mermaid, which knows no branch
// that is not made and no merge of a branch with itself.
func parseGit(src *source) (*gitGraph, error) {
	g := &gitGraph{face: src.face, settings: src.settings, direction: layout.Right, byName: map[string]int{}, byID: map[string]int{}}
	if m := gitHeader().FindStringSubmatch(src.header); m[1] != "" {
		g.direction = directions[strings.ToUpper(m[1])]
	}
	name := g.own("mainBranchName")
	if name == "" {
		name = "main"
	}
	g.fork(name, g.number("mainBranchOrder", 0, 1e6, 0))
	g.branches[0].head = -1
	for _, line := range src.lines {
		if !g.line(line) {
			return nil, errUnread{line}
		}
		if len(g.commits) > maxCommits || len(g.branches) > maxBranches {
			return nil, errLarge{fmt.Sprintf("more than %d commits or %d branches", maxCommits, maxBranches)}
		}
	}
	lanes := make([]int, len(g.branches))
	for i := range lanes {
		lanes[i] = i
	}
	slices.SortStableFunc(lanes, func(a, b int) int {
		switch x, y := g.branches[a].order, g.branches[b].order; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for lane, i := range lanes {
		g.branches[i].lane = lane
	}
	if len(g.said) == 0 {
		g.say("%s", name)
	}
	return g, nil
}

func (g *gitGraph) say(format string, args ...any) {
	g.said = append(g.said, Line{Text: strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")})
}

// line reads one line; it reports false for one that is not known or makes no sense.
func (g *gitGraph) line(line string) bool {
	if m := gitCommand().FindStringSubmatch(line); m != nil {
		w, ok := wordsOfCommit(m[2])
		if !ok {
			return false
		}
		if m[1] == "cherry-pick" {
			return g.pick(w)
		}
		c := gitCommit{kind: w.kind, tags: w.tags}
		if head := g.branches[g.current].head; head >= 0 {
			c.parents = []int{head}
		}
		if !g.add(c, w) {
			return false
		}
		g.say("%s: %s", g.branches[g.current].name, g.told(len(g.commits)-1))
		return true
	}
	if m := gitMerge().FindStringSubmatch(line); m != nil {
		w, ok := wordsOfCommit(m[2])
		return ok && g.merge(unquoted(m[1]), w)
	}
	if m := gitTurn().FindStringSubmatch(line); m != nil {
		to, ok := g.byName[unquoted(m[1])]
		g.current = to
		return ok
	}
	m := gitFork().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	name := unquoted(m[1])
	if _, there := g.byName[name]; there || name == "" {
		return false
	}
	order, err := strconv.ParseFloat(m[2], 64)
	if err != nil {
		// After those before it, and before all with an order but the first.
		order, _ = strconv.ParseFloat("0."+strconv.Itoa(len(g.branches)), 64)
	}
	g.say("%s → %s", g.branches[g.current].name, name)
	g.fork(name, order)
	return true
}

// fork makes a branch, which begins where the current one is, and changes to it.
func (g *gitGraph) fork(name string, order float64) {
	head := -1
	if len(g.branches) > 0 {
		head = g.branches[g.current].head
	}
	g.byName[name], g.current = len(g.branches), len(g.branches)
	g.branches = append(g.branches, gitBranch{name: name, order: order, head: head})
}

// add adds a commit to the current branch.
func (g *gitGraph) add(c gitCommit, w commitWords) bool {
	c.branch, c.label = g.current, w.id
	if c.label == "" {
		c.label = w.message
	}
	if w.id != "" {
		if _, there := g.byID[w.id]; there {
			return false
		}
		g.byID[w.id] = len(g.commits)
	}
	g.branches[g.current].head = len(g.commits)
	g.commits = append(g.commits, c)
	return true
}

func (g *gitGraph) merge(name string, w commitWords) bool {
	from, ok := g.byName[name]
	if !ok || from == g.current {
		return false
	}
	head, other := g.branches[g.current].head, g.branches[from].head
	if head < 0 || other < 0 || head == other {
		return false
	}
	c := gitCommit{kind: commitMerge, merge: true, tags: w.tags, parents: []int{head, other}}
	if w.typed {
		c.kind = w.kind
	}
	if !g.add(c, w) {
		return false
	}
	g.say("%s → %s: %s", name, g.branches[g.current].name, g.told(len(g.commits)-1))
	return true
}

// pick repeats a commit of another branch on the current one.
func (g *gitGraph) pick(w commitWords) bool {
	from, ok := g.byID[w.id]
	head := g.branches[g.current].head
	if !ok || g.commits[from].branch == g.current || head < 0 {
		return false
	}
	tags := w.tags
	if !w.tagged {
		tag := "cherry-pick:" + w.id
		if w.parent != "" {
			tag += "|parent:" + w.parent
		}
		tags = []string{tag}
	}
	if source := &g.commits[from]; source.merge {
		parent, known := g.byID[w.parent]
		if !known || !slices.Contains(source.parents, parent) {
			return false
		}
	}
	g.add(gitCommit{kind: commitPicked, tags: tags, parents: []int{head, from}}, commitWords{})
	g.say("%s: %s → %s: %s", g.branches[g.commits[from].branch].name, w.id, g.branches[g.current].name, g.told(len(g.commits)-1))
	return true
}

// told is a commit in signs and the author's words.
func (g *gitGraph) told(i int) string {
	c := &g.commits[i]
	sign := map[commitKind]string{commitReverse: "⊗ ", commitHighlight: "■ "}[c.kind]
	if c.label == "" && sign == "" && len(c.tags) == 0 {
		sign = "●"
	}
	text := sign + c.label
	if len(c.tags) > 0 {
		text += " [" + strings.Join(c.tags, ", ") + "]"
	}
	return text
}
