package dashboard_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// The documentation's table of what roles may do is the rules'.
func TestTableOfRoles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "infra", "docs", "operate", "dashboard.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	for action, row := range map[admin.Action]string{
		admin.ActionRead: "| See exports,", admin.ActionExport: "| Start and cancel exports,", admin.ActionAgent: "| Ask agents,",
		admin.ActionDeploy:   "| Decide which version of a site is live",
		admin.ActionProjects: "| Make, configure and end projects", admin.ActionKeys: "| Make and revoke API keys",
		admin.ActionWebhooks: "| Add and remove webhooks,",
		admin.ActionAudit:    "| Read the audit log", admin.ActionMembers: "| Invite and remove members,",
	} {
		_, rest, found := strings.Cut(string(text), row)
		line, _, _ := strings.Cut(rest, "\n")
		cells := strings.Split(line, "|")
		if !found || len(cells) != 6 {
			t.Errorf("%s has the cells %q", row, cells)
			continue
		}
		for i, role := range admin.Roles() {
			may := admin.Caller{Person: "psn_1", Role: role}.May(action) == nil
			if (strings.TrimSpace(cells[i+1]) == "yes") != may {
				t.Errorf("%s: %s is %q, by the rules %v", row, role, cells[i+1], may)
			}
		}
	}
}

// Pages lead to pages of the documentation that exist.
func TestLinksToTheDocumentation(t *testing.T) {
	files, err := filepath.Glob("pages/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	link := regexp.MustCompile(`\{\{docs "([^"]+)"\}\}`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", "..", "..", "infra", "docs", string(m[1])+".mdx")); err != nil {
				t.Errorf("%s leads to %s: %v", file, m[1], err)
			}
		}
	}
}
