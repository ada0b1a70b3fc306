package icons

import (
	_ "embed" // for the table below
	"strings"
	"sync"
)

// proTable has names of Font Awesome Pro, one on each line, with the free icon to draw
// instead: a name of Font Awesome, or "library:name". A name alone has no such icon.
//
//go:embed pro.txt
var proTable string

// proNames is proTable as a map.
var proNames = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(proTable) {
		name, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = strings.TrimSpace(to)
	}
	return all
})

// modifiers are words that names of Font Awesome end with when they say what is done
// to a thing, or how it is drawn: "rocket-launch" is a rocket.
var modifiers = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(`2 3 4 5 6 7 8 9 alt angle arrow arrows bolt bottom broken bug captions center
		check circle clock code crack crown cut currency dashed diagonal dollar dot dots down duotone empty exclamation eye fast
		fire flip from front full gear half heart high horizontal image in info key keyhole large launch left light line lines
		list lock long low magnifying-glass medical medium minus music notch off on open out pen percent play plus portrait
		question quote rectangle reverse right rotate route shield side simple slash small smart sparkle sparkles square star
		stroke text tick to top trash undo unlock up user users vertical wave wide xmark`) {
		for part := range strings.SplitSeq(w, "-") {
			all[part] = true
		}
	}
	return all
}()

// families are the things that Font Awesome combines with any other: a name that
// begins with one and goes on with words of other names is one of its own.
var families = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(`arrow arrows badge bars bell book box building calendar camera car cart chart chess circle
		clipboard clock cloud code comment comments computer credit-card database desktop diagram display envelope eye face file filter fire
		flag flask folder gauge gear globe hand hands head-side heart hexagon house image key keyboard laptop lightbulb link list location
		lock magnifying-glass message microchip microphone mobile money-bill moon network-wired octagon paper-plane pen pencil person phone
		plug print robot rocket server shield signal sliders square star table tablet terminal ticket trash triangle truck tv user users video
		volume wand wifi window wrench`) {
		all[w] = true
	}
	return all
}()

// standIn returns the free icon for a name of Font Awesome Pro, as "library:name".
func (s *Set) standIn(name string) (string, bool) {
	if to, ok := proNames()[name]; ok {
		if to != "" && !strings.Contains(to, ":") {
			to = FontAwesome + ":" + to
		}
		return to, to != ""
	}
	// Words are taken from the end until a free icon is left.
	words := strings.Split(name, "-")
	changes := true
	for n := len(words) - 1; n > 0; n-- {
		changes = changes && modifiers[words[n]]
		base := strings.Join(words[:n], "-")
		if !changes && !(families[base] && s.wordsKnown(words[n:])) {
			continue
		}
		if s.fontawesome.entry(base+":solid") != "" {
			return FontAwesome + ":" + base, true
		}
		if to, ok := proNames()[base]; ok && to != "" {
			return s.standIn(base)
		}
	}
	return "", false
}

// Pro reports whether a name that SVG does not find is one as Font Awesome Pro makes
// them: of its table, or of two and more words that names of Font Awesome have.
func (s *Set) Pro(name string) bool {
	plain, _ := normalise(name)
	if _, ok := proNames()[plain]; ok {
		return true
	}
	words := strings.Split(plain, "-")
	return len(words) > 1 && s.wordsKnown(words)
}

// wordsKnown reports whether all words are such that names of Font Awesome have.
func (s *Set) wordsKnown(words []string) bool {
	s.wordsOnce.Do(func() {
		names := map[string]struct{}{}
		s.fontawesome.add(names)
		s.words = map[string]bool{}
		add := func(name string) {
			name, _, _ = strings.Cut(name, ":")
			for w := range strings.SplitSeq(name, "-") {
				s.words[w] = true
			}
		}
		for name := range names {
			add(name)
		}
		for name := range proNames() {
			add(name)
		}
		for name := range modifiers {
			add(name)
		}
	})
	for _, w := range words {
		if !s.words[w] {
			return false
		}
	}
	return true
}
