package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden templates anew")

// TestGoldenTemplates shows every change of what is deployed, in each stage.
func TestGoldenTemplates(t *testing.T) {
	for _, name := range []stage{stageDev, stageProd, stageLocal} {
		t.Run(string(name), func(t *testing.T) {
			got := synth(t, name).raw
			file := filepath.Join("testdata", string(name)+".template.json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Errorf("the template is not testdata's any more (-update writes it anew):\n%s", diff)
			}
		})
	}
}

// TestNothingUnexplained holds the templates to cdk-nag's pack AwsSolutions:
// what does not hold has a reason.
func TestNothingUnexplained(t *testing.T) {
	for _, name := range []stage{stageDev, stageProd, stageLocal} {
		t.Run(string(name), func(t *testing.T) {
			suppressed := 0
			for _, line := range synth(t, name).report {
				switch line.Compliance {
				case "Compliant", "N/A":
				case "Suppressed":
					suppressed++
					if len(line.ExceptionReason) < 20 {
						t.Errorf("%s at %s: the reason is %q", line.RuleID, line.ResourceID, line.ExceptionReason)
					}
				default:
					t.Errorf("%s at %s: %s: %s", line.RuleID, line.ResourceID, line.Compliance, line.RuleInfo)
				}
			}
			t.Logf("%s: %d lines, %d suppressed", name, len(synth(t, name).report), suppressed)
		})
	}
}
