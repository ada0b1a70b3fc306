package frame

import (
	"testing"

	"github.com/bindery-docs/bindery/shared/render/words"
)

// Every language that Bindery has a name for is one that it speaks.
func TestNamedLanguagesHaveWords(t *testing.T) {
	for label := range languageNames {
		if (words.In(label) == words.Language{}) != (label == "en") {
			t.Errorf("there are no words of %s", label)
		}
		if words.In(label) != words.In(languageTag(label)) {
			t.Errorf("%s and its tag %s are not one language", label, languageTag(label))
		}
	}
}
