package page_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/page"
)

// checkHTML says what is wrong with a body, whatever page it is of: tags that
// do not nest, ids that stand twice, handlers, addresses that only work at the
// root of a host or that run code.
func checkHTML(r *page.Result) []string {
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	void := map[string]bool{}
	for _, name := range strings.Fields("area base br col embed hr img input link meta param source track wbr") {
		void[name] = true
	}
	var stack []string
	ids := map[string]bool{}
	inSVG := 0
	z := html.NewTokenizer(bytes.NewReader(r.HTML))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				fault("%v", z.Err())
			}
			if len(stack) > 0 {
				fault("not closed: %v", stack)
			}
			for _, id := range r.IDs {
				if !ids[id] {
					fault("id %q is listed but not there", id)
				}
			}
			if len(ids) != len(r.IDs) {
				fault("%d ids are there, %d are listed", len(ids), len(r.IDs))
			}
			return faults
		case html.StartTagToken:
			t := z.Token()
			faults = append(faults, checkAttrs(t, ids)...)
			if !void[t.Data] {
				stack = append(stack, t.Data)
			}
			if t.Data == "svg" {
				inSVG++
			}
			if t.Data == "p" && slices.Contains(stack[:len(stack)-1], "p") && inSVG == 0 {
				fault("a p in a p")
			}
			if t.Data == "a" && slices.Contains(stack[:len(stack)-1], "a") && inSVG == 0 {
				fault("a link in a link")
			}
			if t.Data == "table" && inSVG == 0 && (len(stack) < 2 || stack[len(stack)-2] != "div") {
				fault("a table that can't scroll by itself")
			}
			if t.Data == "script" && !slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "src" }) {
				fault("a script on the page")
			}
		case html.SelfClosingTagToken:
			t := z.Token()
			faults = append(faults, checkAttrs(t, ids)...)
			if inSVG == 0 && t.Data != "svg" && !slices.Contains(stack, "math") {
				fault("<%s/> is no end in HTML", t.Data)
			}
		case html.EndTagToken:
			t := z.Token()
			if len(stack) == 0 || stack[len(stack)-1] != t.Data {
				fault("</%s> in %v", t.Data, stack)
				return faults
			}
			if t.Data == "svg" {
				inSVG--
			}
			stack = stack[:len(stack)-1]
		}
	}
}

func checkAttrs(t html.Token, ids map[string]bool) (faults []string) {
	seen := map[string]bool{}
	for _, a := range t.Attr {
		if seen[a.Key] {
			faults = append(faults, fmt.Sprintf("<%s> has %s twice", t.Data, a.Key))
		}
		seen[a.Key] = true
		switch {
		case a.Key == "id":
			if ids[a.Val] {
				faults = append(faults, fmt.Sprintf("the id %q stands twice", a.Val))
			}
			if a.Val == "" {
				faults = append(faults, "an empty id")
			}
			ids[a.Val] = true
		case a.Key == "style": // a content security policy refuses it
			faults = append(faults, fmt.Sprintf("<%s style=%q>", t.Data, a.Val))
		case strings.HasPrefix(a.Key, "on"):
			faults = append(faults, fmt.Sprintf("<%s %s>", t.Data, a.Key))
		case a.Key == "href" || a.Key == "src" || a.Key == "poster":
			v := strings.ToLower(strings.TrimSpace(a.Val))
			if strings.HasPrefix(v, "/") || strings.HasPrefix(v, "javascript:") {
				faults = append(faults, fmt.Sprintf("<%s %s=%q>", t.Data, a.Key, a.Val))
			}
		}
	}
	return faults
}

// words gives the text of a body as the reader of a page gets it, white space
// dropped.
func words(body []byte) string {
	var b strings.Builder
	z := html.NewTokenizer(bytes.NewReader(body))
	skip := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return squeeze(b.String())
		case html.StartTagToken:
			if name, _ := z.TagName(); string(name) == "style" || string(name) == "script" {
				skip++
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "style" || string(name) == "script" {
				skip--
			}
		case html.TextToken:
			if skip == 0 {
				b.Write(z.Text())
			}
		}
	}
}

func squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(html.UnescapeString(s), func(r rune) bool {
		return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' || r == '\u200b' || r == '\ufe0f' || r == '\f' || r == '\v'
	}), "")
}
