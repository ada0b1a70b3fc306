package highlight

import "testing"

// TestTraits says what languages under chroma's grammars have beyond the types
// of their tokens.
func TestTraits(t *testing.T) {
	h := New(Options{})
	for _, tt := range []struct{ label, want string }{
		{"go", "x p⟨:=⟩ f⟨call⟩[k⟨int⟩](t⟨Point⟩{n⟨1⟩}, o⟨nil⟩)"},
		{"rust", "k⟨use⟩ t⟨a⟩p⟨::⟩t⟨b⟩p⟨::⟩t⟨Client⟩;"},
		{"rust", "k⟨self⟩.f⟨list⟩::p⟨<⟩t⟨T⟩p⟨>⟩();"},
		{"java", "t⟨String⟩ a p⟨=⟩ Map.f⟨of⟩(k⟨new⟩ t⟨Key⟩(), o⟨null⟩);"},
		{"csharp", "k⟨var⟩ a p⟨=⟩ k⟨new⟩ t⟨List⟩<k⟨string⟩>();"},
		{"kotlin", "k⟨val⟩ a: t⟨String⟩? p⟨=⟩ b.f⟨map⟩ { s⟨\"$it\"⟩ }"},
		{"ruby", "client p⟨=⟩ t⟨Novu⟩::t⟨Client⟩.f⟨new⟩(n⟨1⟩)"},
		{"css", ".a⟨a⟩ { a⟨color⟩: o⟨red⟩ }"},
		{"http", "f⟨GET⟩ /a k⟨HTTP⟩p⟨/⟩n⟨1.1⟩\na⟨Host⟩p⟨:⟩ s⟨b⟩\n"},
	} {
		code, want := parseSpelled(t, tt.want)
		if got, want := spell(code, h.Runs(tt.label, code)), spell(code, want); got != want {
			t.Errorf("%s: got  %s\nwant %s", tt.label, got, want)
		}
	}
}
