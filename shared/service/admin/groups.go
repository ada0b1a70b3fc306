package admin

import (
	"context"
	"maps"
)

// followGroups makes the memberships of a person who signs in what the groups at
// the provider say: the roles, by organisations. Memberships of invitations stay as
// they are, whatever groups say.
func (s *Service) followGroups(ctx context.Context, c Caller, roles map[string]Role) error {
	wanted := map[string]Role{}
	for cursor := ""; ; {
		orgs, next, err := s.MembershipsOf(ctx, c.Person, cursor, MaxPage)
		if err != nil {
			return err
		}
		for _, org := range orgs {
			wanted[org] = ""
		}
		if cursor = next; next == "" {
			break
		}
	}
	maps.Copy(wanted, roles)
	for org, role := range wanted {
		if err := s.followGroup(ctx, c, org, role); err != nil {
			return err
		}
	}
	return nil
}

// followGroup does so in one organisation; an empty role is none. The last owner
// stays one, as everywhere, until somebody else is. An organisation that is not
// there, or has ended, has no new members.
func (s *Service) followGroup(ctx context.Context, c Caller, org string, role Role) error {
	return s.transact(ctx, func() error {
		m, revision, err := readOr[Membership](ctx, s, memberKey(org, c.Person))
		if err != nil || m.Role == role || revision != 0 && !m.Groups {
			return err
		}
		before, action := m.Role, "member.role"
		var b batch
		switch {
		case role == "":
			action = "member.removed"
			b.remove(memberKey(org, c.Person), revision)
			b.remove(personRow(c.Person, org), 0)
		case revision == 0:
			if _, err := s.activeOrganisation(ctx, org); CodeOf(err) == CodeNotFound {
				return nil
			} else if err != nil {
				return err
			}
			action = "member.joined"
			m = Membership{Organisation: org, Person: c.Person, Since: s.now(), Groups: true}
			b.put(personRow(c.Person, org), 0, presence{})
		}
		if m.Role = role; role != "" {
			b.put(memberKey(org, c.Person), revision, m)
		}
		if err := s.countOwners(ctx, &b, org, before, role); CodeOf(err) == CodeLastOwner {
			return nil
		} else if err != nil {
			return err
		}
		s.audit(&b, c, org, action, c.Person, changed("role", string(before), string(role), "by", "", "groups")...)
		return s.write(ctx, &b)
	})
}
