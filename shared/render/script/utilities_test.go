package script

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestUtilities: names of Tailwind, of its version 3 and of the site's colours
// have rules; others are told.
func TestUtilities(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	names := strings.Fields(`w-full aspect-video dark:hidden md:flex w-[800px] 2xl:block hover:underline rounded rounded-md shadow
		border border-gray-200 bg-primary text-primary dark:text-primary-light bg-black bg-opacity-50 dark:bg-white dark:bg-opacity-20
		overflow-ellipsis flex-shrink-0 contents not-prose !mt-0 -mt-2 space-y-2 [&>p]:m-0 blur-sm ring
		tsd-signature 1/2 foo group prose com`)
	e := New()
	sheet, unknown, err := e.Utilities(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1/2", "com", "foo", "group", "prose", "tsd-signature"}, unknown); diff != "" {
		t.Errorf("unknown names (-want +got):\n%s", diff)
	}
	golden.Same(t, "testdata/utilities.golden.css", sheet)

	slices.Reverse(names)
	again, _, err := e.Utilities(t.Context(), append(names, names...))
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(sheet) {
		t.Error("another order of the same names gives another style sheet")
	}
}

// TestUtilitiesBounds: names that no one writes do no harm.
func TestUtilitiesBounds(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	e := New()
	sheet, unknown, err := e.Utilities(t.Context(), []string{"", strings.Repeat("w-", 200), "a b", "foo", "</style>", "w-[expression(1)}*{x:y]", "bg-[url(javascript:x)]"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(sheet), "</style") || strings.Contains(string(sheet), "*{x:y}") {
		t.Errorf("a name broke out of its rule: %s", sheet)
	}
	if !slices.Contains(unknown, "foo") || !slices.Contains(unknown, "</style>") {
		t.Errorf("unknown are %q", unknown)
	}
	// What would end in the rules of others has none.
	odd := []string{"before:content-['x]", `content-["x]`, "m-[)]", "p-[(]", "w-[calc(1px]", "w-[calc(1px}x{y:z)]", `w-[x\]`}
	fine := []string{`before:content-['}']`, `content-['it\'s']`, "w-[calc(1px+(2px*3))]"}
	if sheet, unknown, err = e.Utilities(t.Context(), append(slices.Clone(odd), fine...)); err != nil || !slices.Equal(unknown, odd) {
		t.Errorf("%q, %v have no rules, want %q: %s", unknown, err, odd, sheet)
	}
	if sheet, unknown, err := e.Utilities(t.Context(), []string{"foo"}); err != nil || sheet != nil || len(unknown) != 1 {
		t.Errorf("without a known name: %q, %q, %v", sheet, unknown, err)
	}
	if e := New(); true {
		if sheet, _, err := e.Utilities(t.Context(), nil); err != nil || sheet != nil || e.Starts() != 0 {
			t.Errorf("without names: %q, %v, %d machines", sheet, err, e.Starts())
		}
	}
	many := make([]string, MaxClasses+10)
	for i := range many {
		many[i] = fmt.Sprintf("x%05d", i)
	}
	_, unknown, err = e.Utilities(t.Context(), many)
	if err != nil || len(unknown) != len(many) {
		t.Errorf("%d of %d names are unknown, %v", len(unknown), len(many), err)
	}
}
