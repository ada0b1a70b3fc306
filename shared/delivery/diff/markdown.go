package diff

import (
	"fmt"
	"strings"
)

// markdownItems is how many items of each list a summary has: comments of
// GitHub and GitLab have an end.
const markdownItems = 25

// Markdown writes a summary for a pull request: what is lost first, then what
// changed. Texts of pages are in it as text.
func (r *Result) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", r.Summary())
	if r.Empty() {
		b.WriteString("Readers see no difference.\n")
		return b.String()
	}
	section(&b, "Addresses that lead nowhere now", r.LostAddresses, func(a LostAddress) string {
		line := code(a.Address) + " " + plain(a.Title)
		if a.Redirect != nil {
			line += fmt.Sprintf(": a redirect to %s would save it", code(a.Redirect.Destination))
		}
		return line
	})
	section(&b, "Anchors that are gone", r.LostAnchors, func(a LostAnchor) string {
		line := code(a.Address + "#" + a.Anchor)
		if a.Now != "" {
			line += ": now " + code("#"+a.Now)
		}
		return line
	})
	section(&b, "Pages added", r.Pages.Added, func(p Page) string { return code(p.Address) + " " + plain(p.Title) })
	section(&b, "Pages removed", r.Pages.Removed, func(p Page) string {
		line := code(p.Address) + " " + plain(p.Title)
		if p.LeadsTo != "" {
			line += ": leads to " + code(p.LeadsTo)
		}
		return line
	})
	section(&b, "Pages changed", r.Pages.Changed, func(p Page) string {
		line := fmt.Sprintf("%s %s: %s added, %d removed", code(p.Address), plain(p.Title), count(p.Words.Added, "word"), p.Words.Removed)
		for i, c := range p.Changes {
			if i == 3 {
				line += "\n  - …"
				break
			}
			line += "\n  - " + passageMarkdown(c)
		}
		return line
	})
	for _, list := range []struct {
		title string
		files []File
	}{{"Files added", r.Files.Added}, {"Files removed", r.Files.Removed}, {"Files changed", r.Files.Changed}} {
		section(&b, list.title, list.files, func(f File) string { return fmt.Sprintf("%s: %d → %d bytes", code(f.Path), f.Before, f.After) })
	}
	return b.String()
}

// section writes a list under a title, and nothing for an empty one.
func section[T any](b *strings.Builder, title string, list []T, line func(T) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "<details%s><summary>%s: %d</summary>\n\n", opened(title), title, len(list))
	for i, one := range list {
		if i == markdownItems {
			fmt.Fprintf(b, "- and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "- %s\n", line(one))
	}
	b.WriteString("\n</details>\n\n")
}

// opened opens the sections that ask for something to be done.
func opened(title string) string {
	if strings.HasPrefix(title, "Addresses") || strings.HasPrefix(title, "Anchors") {
		return " open"
	}
	return ""
}

func passageMarkdown(c Change) string {
	var parts []string
	if c.Before != "" {
		parts = append(parts, "… "+plain(c.Before))
	}
	if c.Removed != "" {
		parts = append(parts, "~~"+plain(c.Removed)+"~~")
	}
	if c.Added != "" {
		parts = append(parts, "**"+plain(c.Added)+"**")
	}
	if c.After != "" {
		parts = append(parts, plain(c.After)+" …")
	}
	return strings.Join(parts, " ")
}

// plain writes a text so that it means itself in the middle of a line of
// Markdown, and calls nobody.
func plain(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_[]<>|~&$", r) {
			b.WriteByte('\\')
		}
		if b.WriteRune(r); r == '@' || r == '#' {
			b.WriteRune('\u200b') // a mention's name or an issue's number must follow at once
		}
	}
	return b.String()
}

// code writes a text as code, with as many backticks as it needs.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
