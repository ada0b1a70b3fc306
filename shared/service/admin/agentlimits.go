package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AgentPlan is what a plan allows.
type AgentPlan struct {
	AgentLimits
	// ActiveProject and ActiveOrganisation are how many jobs of a project, and
	// of an organisation, may run at once. Others wait in a queue.
	ActiveProject, ActiveOrganisation int
	// StartsPerHour is how many rounds callers may start in a project within an
	// hour of the clock.
	StartsPerHour int
}

// AgentLimits are the limits of one job. Turns, tokens and Cost are those of a round,
// so that a message after a round that reached a limit begins with a new budget.
type AgentLimits struct {
	Turns  int   // answers of the model
	Input  int64 // tokens that the model reads, cached or not
	Output int64 // tokens that the model writes
	Cost   int64 // in millionths of a US dollar
	Files  int   // files changed
	Bytes  int64 // size of the changed files together
	// Prompt is the size of one message in bytes, Messages how many a job may
	// have, the first included.
	Prompt, Messages int
}

// USDollars writes an amount in millionths of a US dollar exactly, with at least two
// digits after the point: "$0.30", "$0.004512".
func USDollars(micros int64) string {
	text := fmt.Sprintf("$%d.%06d", micros/1e6, micros%1e6)
	point := strings.IndexByte(text, '.')
	return text[:point+3] + strings.TrimRight(text[point+3:], "0")
}

// AgentPlanOf is the one table of what plans allow. It returns false for a plan
// without agent jobs.
func AgentPlanOf(p Plan) (AgentPlan, bool) {
	switch p {
	case PlanPro:
		return AgentPlan{AgentLimits{
			Turns: 60, Input: 6_000_000, Output: 120_000, Cost: 5_000_000,
			Files: 200, Bytes: 2 << 20, Prompt: 16 << 10, Messages: 20,
		}, 3, 10, 100}, true
	case PlanEnterprise:
		return AgentPlan{AgentLimits{
			Turns: 150, Input: 20_000_000, Output: 400_000, Cost: 20_000_000,
			Files: 1000, Bytes: 16 << 20, Prompt: 64 << 10, Messages: 100,
		}, 5, 25, 100}, true
	}
	return AgentPlan{}, false
}

// AgentSettings are a project's settings for its agent jobs.
type AgentSettings struct {
	// Root is the docs folder in the repository, without leading and trailing
	// slashes; empty for the repository's root.
	Root string `json:"root,omitempty"`
	// Forge is the kind of the repository's server, one of ForgeKinds; empty for a
	// well-known host.
	Forge string `json:"forge,omitempty"`
	// API is the base address of the forge's REST API; empty for the usual one
	// of its kind.
	API string `json:"api,omitempty"`
	// RefuseNewHosts and RefuseExecutable end a round whose changes link to
	// hosts that the site did not name before, or add MDX that is executed.
	// Otherwise, the pull request lists both at its top.
	RefuseNewHosts   bool `json:"refuseNewHosts,omitempty"`
	RefuseExecutable bool `json:"refuseExecutable,omitempty"`
	// AllowOtherFiles lets agents write files that are no parts of the site, such
	// as scripts and data. The pull request lists them at its top.
	AllowOtherFiles bool `json:"allowOtherFiles,omitempty"`
	// ReadRepository lets agents read the whole repository. Otherwise they read the
	// docs folder alone. They write nowhere else in any case.
	ReadRepository bool `json:"readRepository,omitempty"`
	// Repositories are further repositories that agents may fetch, as "name=address",
	// separated by commas. The project's credential is used for those on its host alone.
	Repositories string `json:"repositories,omitempty"`
	// BranchPrefix begins the names of branches; empty for DefaultBranchPrefix.
	BranchPrefix string `json:"branchPrefix,omitempty"`
	// TitlePrefix, such as "docs: ", begins titles of commits and pull requests that
	// do not begin with a type of Conventional Commits.
	TitlePrefix string `json:"titlePrefix,omitempty"`
	// SignOff signs commits off in the agent's name, for repositories that require
	// it.
	SignOff bool `json:"signOff,omitempty"`
	// Template puts the repository's template of pull requests before the text of a
	// new one.
	Template bool `json:"template,omitempty"`
	// Labels and Reviewers are names, separated by commas, that a new pull request gets:
	// labels, and users or teams (as "acme/writers") who are asked for a review.
	Labels    string `json:"labels,omitempty"`
	Reviewers string `json:"reviewers,omitempty"`
	// CoAuthors names the people who sent a round's messages as co-authors of its commit,
	// with their mail addresses. Keys are no people.
	CoAuthors bool `json:"coAuthors,omitempty"`
	// MaxTurns, MaxCost (in millionths of a US dollar) and MaxFiles lower the plan's
	// limits; 0 keeps them.
	MaxTurns int   `json:"maxTurns,omitempty"`
	MaxCost  int64 `json:"maxCost,omitempty"`
	MaxFiles int   `json:"maxFiles,omitempty"`
	// MaxMonthCost is the most that all rounds of the project may cost in a month of
	// UTC, in millionths of a US dollar; 0 for no limit.
	MaxMonthCost int64 `json:"maxMonthCost,omitempty"`
}

// MaxAssigned is the most labels of a project's pull requests, and the most reviewers.
const MaxAssigned = 10

// AssignedNames returns the names in AgentSettings.Labels or Reviewers.
func AssignedNames(list string) []string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NewAgentSettings returns the settings of a new project. Projects from before a setting
// keep the zero value of it.
func NewAgentSettings() AgentSettings { return AgentSettings{ReadRepository: true} }

// DefaultBranchPrefix begins the names of branches of agent jobs; their ids follow.
const DefaultBranchPrefix = "bindery/"

// ForgeKinds lists the kinds of servers that AgentSettings.Forge may name; git
// is one without pull requests.
func ForgeKinds() []string { return []string{"github", "gitlab", "gitea", "forgejo", "git"} }

// lowered returns l with a project's lower limits.
func (l AgentLimits) lowered(t AgentSettings) AgentLimits {
	l.Turns = min(l.Turns, cmp.Or(t.MaxTurns, l.Turns))
	l.Cost = min(l.Cost, cmp.Or(t.MaxCost, l.Cost))
	l.Files = min(l.Files, cmp.Or(t.MaxFiles, l.Files))
	return l
}
