package admin

import "time"

// AllKept is what the keys of all values begin with that are kept from one export
// of a project to the next (package kept).
const AllKept = "kept/"

// KeptFor is how long such values are kept after they were written. It costs on AWS
// what it costs to make them again; what is in use is written again after half of it.
const KeptFor = 3 * 24 * time.Hour

// OrganisationKept is what the keys of an organisation's kept values begin with.
func OrganisationKept(organisation string) string { return AllKept + organisation + "/" }

// KeptPrefix is what the keys of a project's kept values begin with.
func KeptPrefix(organisation, project string) string {
	return OrganisationKept(organisation) + project + "/"
}
