package main

import (
	"path/filepath"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// TestGoldenTemplates shows every change of what is deployed, in each stage.
func TestGoldenTemplates(t *testing.T) {
	for _, name := range []stage{stageDev, stageProd, stageLocal} {
		t.Run(string(name), func(t *testing.T) {
			got := synth(t, name).raw
			file := filepath.Join("testdata", string(name)+".template.json")
			golden.Same(t, file, got)
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
