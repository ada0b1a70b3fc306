package frame

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/css"
)

// classesOfOthers are the classes without our prefix that our style sheets may have
// rules for: those that authors write themselves to get a look, and those that
// Mermaid writes.
var classesOfOthers = []string{
	"dark", "hidden", "dark:block", "dark:hidden", "prose", "not-prose", "mdx-content", "only-light", "only-dark", "sr-only", "eventWrapper", "lineWrapper",
}

// ownClass reports whether a class is named so that no author has it by accident.
func ownClass(name string) bool {
	return strings.HasPrefix(name, "bdy-") || strings.HasPrefix(name, "tsd-") || slices.Contains(classesOfOthers, name)
}

// Each class in our style sheets, and each that our scripts give or look for, has our
// prefix: an author's rules meet none of them by accident.
func TestClassesHaveOurPrefix(t *testing.T) {
	given := regexp.MustCompile(`(?:classList\.\w+\(|className = (?:\w+ \? )?|\belement\("[a-z0-9]+", |\bbutton\(|\bkids\(\w+(?:\[0\])?, |["{ ]class"?: |class=\\?)["']([^"'<>]+)["']`)
	asked := regexp.MustCompile(`["'][^"'\n]*["']`)
	selector := regexp.MustCompile(`(?:^.|[ ,>+~(\]]|\b(?:details|dialog|select|img|svg|a))\.([a-z][\w-]*)`)
	sheets, scripts := 0, 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "internal" || name == "analytics"):
			return fs.SkipDir
		case strings.HasSuffix(name, ".css"):
			sheets++
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for class := range css.Classes(data) {
				if !ownClass(class) {
					t.Errorf("%s has a rule for .%s", path, class)
				}
			}
		case strings.HasSuffix(name, ".js") && !strings.Contains(path, "bundle"):
			scripts++
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range given.FindAllStringSubmatch(string(data), -1) {
				for class := range strings.FieldsSeq(m[1]) {
					if !ownClass(class) && class != "icon" && class != "tryit-button" { // which the format documents
						t.Errorf("%s gives or looks for the class %s", path, class)
					}
				}
			}
			for _, text := range asked.FindAllString(string(data), -1) {
				for _, m := range selector.FindAllStringSubmatch(text, -1) {
					if !ownClass(m[1]) && m[1] != "html" && m[1] != "js" { // ends of files' names
						t.Errorf("%s looks for %s", path, text)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sheets < 7 || scripts < 8 {
		t.Errorf("%d style sheets and %d scripts were read", sheets, scripts)
	}
}
