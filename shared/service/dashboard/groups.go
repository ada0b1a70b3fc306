package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Groups says what groups at an identity provider are in organisations: roles, by
// the names of groups and the ids of organisations.
type Groups map[string]map[string]admin.Role

// ParseGroups reads a table of groups as JSON:
//
//	{"docs-admins": {"org_…": "owner"}, "writers": {"org_…": "member"}}
//
// An error names what is wrong.
func ParseGroups(text []byte) (Groups, error) {
	var table Groups
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&table); err != nil {
		return nil, fmt.Errorf(`the table of groups is not an object such as {"writers": {"org_…": "member"}}: %w`, err)
	}
	if d.More() {
		return nil, fmt.Errorf("the table of groups has more than one object")
	}
	for group, roles := range table {
		for org, role := range roles {
			if !strings.HasPrefix(org, "org_") {
				return nil, fmt.Errorf("the group %q: %q is not the id of an organisation", group, org)
			}
			if !slices.Contains(admin.Roles(), role) {
				return nil, fmt.Errorf("the group %q in %s: %q is none of owner, admin, member, viewer", group, org, role)
			}
		}
	}
	return table, nil
}

// roles are the greatest roles of a person who is in some groups, by organisations.
func (g Groups) roles(groups []string) map[string]admin.Role {
	order := admin.Roles()
	got := map[string]admin.Role{}
	for _, group := range groups {
		for org, role := range g[group] {
			if have, ok := got[org]; !ok || slices.Index(order, role) < slices.Index(order, have) {
				got[org] = role
			}
		}
	}
	return got
}
