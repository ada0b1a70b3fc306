package edit

import (
	"path"
	"strings"
)

// Addresses returns addresses of what is called name, as a file in a folder may write
// them, the likeliest first: those in the way that another address was written come
// before the one from the root. was is what the other address called its target.
func Addresses(written, folder, name, was string) []string {
	root := "/" + EscapeAddress(name)
	rel := Relative(folder, name)
	var all []string
	switch {
	case strings.HasPrefix(written, "/"):
		all = []string{root}
	case strings.HasPrefix(written, "."):
		if !strings.HasPrefix(rel, ".") {
			rel = "./" + rel
		}
		all = []string{EscapeAddress(rel), root}
	case strings.Trim(written, "/") == EscapeAddress(was): // from the root, without its slash
		all = []string{EscapeAddress(name), EscapeAddress(rel), root}
	default:
		all = []string{EscapeAddress(rel), root}
	}
	for i, a := range all {
		if strings.HasSuffix(written, "/") && !strings.HasSuffix(a, "/") {
			all[i] += "/"
		}
	}
	return all
}

// NameOf returns what a link calls a file, in the way that it was written: a page
// by its address or with an extension.
func NameOf(file, written string) string {
	if ext := path.Ext(file); ext != ".mdx" && ext != ".md" {
		return file
	}
	address := strings.TrimSuffix(file, path.Ext(file))
	switch ext := path.Ext(written); ext {
	case ".mdx", ".md":
		return file
	case ".html", ".htm":
		return address + ext
	}
	if last := path.Base(written); last != "index" {
		if address == "index" {
			return ""
		}
		address = strings.TrimSuffix(address, "/index")
	}
	return address
}

// EscapeAddress writes a path so that it means the same in Markdown, in quotes of
// any kind and in JSON.
func EscapeAddress(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		c := p[i]
		if c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/@+,=$!", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// Relative returns the address that leads from a folder to a path.
func Relative(folder, to string) string {
	var from []string
	if folder != "." && folder != "" {
		from = strings.Split(folder, "/")
	}
	parts := strings.Split(to, "/")
	same := 0
	for same < len(from) && same < len(parts)-1 && from[same] == parts[same] {
		same++
	}
	return strings.Repeat("../", len(from)-same) + strings.Join(parts[same:], "/")
}
