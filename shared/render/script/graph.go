package script

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/dop251/goja"
)

// libraryKinds are the library's words for kinds.
var libraryKinds = map[Kind]string{Flowchart: "graph", State: "graph", Class: "class", Entity: "er"}

func (e *Engine) graphDiagram(ctx context.Context, src *source) (*Diagram, error) {
	header, lines, err := graphText(src)
	if err != nil {
		return nil, err
	}
	m, err := e.drawer(ctx)
	if err != nil {
		return nil, err
	}
	var drawn drawnGraph
	usable, err := m.run(ctx, func() error {
		v, err := m.draw(goja.Undefined(), m.vm.ToValue(libraryKinds[src.kind]), m.vm.ToValue(header+"\n"+strings.Join(lines, "\n")), m.vm.ToValue(maxGraph))
		if err != nil {
			return err
		}
		return m.vm.ExportTo(v, &drawn)
	})
	e.release(m, usable)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !usable {
			e.log.LogAttrs(ctx, slog.LevelError, "the drawing library failed", slog.Any("error", err))
			return nil, errors.New("the drawing library failed on it")
		}
		// The library's own words name its insides.
		e.log.LogAttrs(ctx, slog.LevelDebug, "a diagram could not be read", slog.Any("error", err))
		return nil, errUnread{src.header}
	}
	switch {
	case drawn.Large > 0:
		return nil, errLarge{fmt.Sprintf("%d nodes and links, more than %d", drawn.Large, maxGraph)}
	case drawn.Empty || drawn.SVG == "":
		return nil, errors.New("there is nothing in it")
	}
	d, err := cleanSVG(drawn.SVG)
	if err != nil {
		e.log.LogAttrs(ctx, slog.LevelError, "a drawing can't stand in a page", slog.Any("error", err))
		return nil, errors.New("its drawing can't stand in a page")
	}
	d.Lines = graphLines(&drawn, d.svg)
	return d, nil
}

// drawnGraph is what the library's entry returns.
type drawnGraph struct {
	SVG   string `json:"svg"`
	Large int    `json:"large"`
	Empty bool   `json:"empty"`
	// Edges are names of two nodes with the words between them, and "both" if
	// the link has heads at both ends.
	Edges [][]string `json:"edges"`
	// Notes are names of states with the words beside them.
	Notes [][]string `json:"notes"`
}

// otherShape finds shapes that the library does not know: those of newer
// versions, and parallelograms.
var otherShape = regexp.MustCompile(`@\{|\[/[^\]]*/\]|\[\\[^\]]*\\\]`)

// graphText makes the text that the library reads: what it does not know but
// may be left out goes; what it would misread is an error.
func graphText(src *source) (header string, lines []string, err error) {
	header = src.header
	if src.kind == Flowchart {
		if word, direction, ok := strings.Cut(header, " "); ok {
			header = word + " " + strings.ToUpper(direction)
		} else {
			header += " TD"
		}
		header = "flowchart" + header[strings.IndexByte(header, ' '):]
	}
	if src.kind == Class {
		header = "classDiagram"
	}
	pairs := 0
	for _, l := range src.lines {
		if n := strings.Count(l, "&") + 1; n > 1 {
			if pairs += n * n; pairs > maxPairs {
				return "", nil, errLarge{fmt.Sprintf("more than %d links", maxPairs)}
			}
		}
		if src.kind == Flowchart && otherShape.MatchString(l) {
			return "", nil, ErrOther
		}
		lines = append(lines, l)
	}
	if len(lines) > maxItems {
		return "", nil, errLarge{fmt.Sprintf("more than %d lines", maxItems)}
	}
	return header, lines, nil
}

// atob is the function of browsers; what is not base64 becomes "".
func atob(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	r := make([]rune, len(b))
	for i, c := range b {
		r[i] = rune(c)
	}
	return string(r)
}
