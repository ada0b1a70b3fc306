package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheIdleMonth holds the page about costs to itself and to the template: its
// sums are those of its rows, and it counts every key and secret, which are paid
// for by the month. A user pool that nobody signs in at costs nothing.
func TestTheIdleMonth(t *testing.T) {
	const key, secret = 1.00, 0.40
	page, err := os.ReadFile("docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "## Idle for a month\n")
	if !ok {
		t.Fatal("the page has no idle month")
	}
	table, _, _ = strings.Cut(table, "\nCognito counts")
	sum, kept, sums := 0.0, 0.0, 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.+) \| (\**)([0-9.]+)\**? \|$`).FindAllStringSubmatch(strings.ReplaceAll(table, "** |", " |"), -1) {
		cost, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if row[2] != "" {
			sums++
			if fmt.Sprintf("%.2f", sum) != row[3] {
				t.Errorf("%s is %.2f, and the page says %s", row[1], sum, row[3])
			}
			continue
		}
		if sum += cost; strings.Contains(row[1], "secret") {
			kept += cost
		}
	}
	if sums != 2 {
		t.Errorf("%d sums, want those of dev and prod", sums)
	}
	everyStage(t, func(t *testing.T, s *synthesized, _ stage) {
		want := key*float64(len(s.of("AWS::KMS::Key"))) + secret*float64(len(s.of("AWS::SecretsManager::Secret")))
		if math.Abs(want-kept) > 0.001 {
			t.Errorf("keys and secrets cost %.2f a month, and the page says %.2f", want, kept)
		}
	})
}
