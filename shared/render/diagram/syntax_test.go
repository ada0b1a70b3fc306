package diagram

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// TestSyntax: each part of the syntax of graphs has a file with a source and what
// is drawn of it.
func TestSyntax(t *testing.T) {
	files, err := filepath.Glob("testdata/syntax/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	w := New()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil || ar.Files[0].Name != "source" {
				t.Fatal(err)
			}
			d, err := w.Draw(t.Context(), string(ar.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			safe(t, d.AppendSVG(nil, `"><script>`, address))
			got := shown(d)
			if golden.Update() {
				ar.Files = []txtar.File{ar.Files[0], {Name: "drawing", Data: got}}
				golden.Write(t, file, txtar.Format(ar))
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), string(got)); diff != "" {
				t.Errorf("%s differs; -update writes it anew (-want +got):\n%s", file, diff)
			}
		})
	}
}

// pages are the sections of Mermaid 11's pages of the kinds that are drawn, with the
// files that show them. What has none is left to Mermaid: "live" says what it is.
var pages = map[Kind]map[string]string{
	Flowchart: {
		"nodes, Unicode, Markdown": "flow-text", "direction": "flow-names", "shapes in brackets": "flow-shapes", "shapes by name": "flow-names-of-nodes",
		"icon and image shapes": "live", "links, chains, lengths": "flow-links", "ids and curves of links": "settings-graph", "animation": "flow-links",
		"front matter and directives": "flow-around",
		"labels of links":             "flow-labels", "special characters and entity codes": "flow-text", "subgraphs and their directions": "flow-groups",
		"click": "flow-links-out", "comments, spaces and semicolons": "flow-around", "linkStyle, style, classDef, class": "flow-styles",
		"distances, wrapping, curve": "settings-graph", "labels of several lines": "flow-lines",
	},
	State: {
		"states, transitions, start and end": "state-plain", "composite states": "state-composite", "choice, fork, join, notes, styles": "state-signs",
		"concurrency": "state-regions", "direction, comments, spaces in names": "state-plain", "statements of several lines": "state-lines",
	},
	Class: {
		"classes, labels, members, visibility, generics": "class-all", "relations, cardinality, annotations, namespaces": "class-all",
		"direction, links, notes, styles, lollipops": "class-more", "hideEmptyMembersBox": "settings-more", "names and notes of several lines, labels of namespaces": "class-lines",
	},
	Entity: {
		"entities, relations, words for them, aliases, attributes, keys, comments, styles": "er-all", "layoutDirection, distances": "settings-er", "on one line, how many in signs and words": "er-lines",
	},
	Sequence: {
		"participants, actors, aliases, boxes": "sequence-all", "participants of other kinds (@{…}), half arrows, central connections": "sequence-signs", "creation and destruction": "sequence-created",
		"messages, activations, notes, line breaks": "sequence-all", "loop, alt, opt, par, critical, break, rect": "sequence-all",
		"comments, entity codes, autonumber": "sequence-all", "mirrorActors, showSequenceNumbers": "settings-sequence",
	},
	Pie: {"title, showData, values": "pie-all", "donutHole, colours": "settings-pie"},
	Git: {
		"commits, ids, types, tags, branches, checkout, merge, cherry-pick": "git-all", "order, mainBranchName, mainBranchOrder, parallelCommits": "git-down",
		"showBranches, rotateCommitLabel": "git-options", "showCommitLabel": "git-up", "left to right": "git-all", "top to bottom": "git-down", "bottom to top": "git-up", "names of several lines": "git-lines",
		"themeVariables": "git-down",
	},
	Gantt: {
		"title, sections, tasks, tags, after, until, excludes, milestones, vertical markers, click, comments": "gantt-all",
		"dateFormat, axisFormat, tickInterval, todayMarker, topAxis":                                          "gantt-hours",
	},
	Mindmap:  {"shapes, icons, classes, unclear indentation, Markdown": "mindmap-all"},
	Timeline: {"title, sections, periods, events": "timeline-all", "direction": "timeline-down"},
	Quadrant: {"title, axes, quadrants, points, styles": "quadrant-all", "without points": "quadrant-plain"},
	XY:       {"title, axes, bars, lines": "xychart-all", "orientation, ranges, data labels": "xychart-lying", "long names of categories": "xychart-turned"},
}

// TestPages: each section has a file of its kind, and each file is of a section.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/syntax/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, file := range files {
		unused[strings.TrimSuffix(filepath.Base(file), ".txtar")] = true
	}
	for kind, sections := range pages {
		for section, name := range sections {
			if name == "live" {
				continue
			}
			ar, err := txtar.ParseFile("testdata/syntax/" + name + ".txtar")
			if err != nil {
				t.Errorf("%s: %v", section, err)
				continue
			}
			if src := parseSource(string(ar.Files[0].Data)); src.kind != kind {
				t.Errorf("%s: %s is a diagram of the kind %q, want %q", section, name, src.kind, kind)
			}
			delete(unused, name)
		}
	}
	for name := range unused {
		t.Errorf("no page has %s", name)
	}
}
