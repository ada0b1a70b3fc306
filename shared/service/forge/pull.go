package forge

// Pull is a pull request to open, or what of one is to be changed.
type Pull struct {
	// Head is the branch with the changes, Base the one they are for. Both are
	// of the same repository.
	Head, Base string
	// Title and Body are sent as they are: escaping of mentions and of words
	// that close issues is the caller's.
	Title, Body string
	// Draft asks for a pull request that nobody merges by mistake. Where the
	// forge has none for this repository, the title begins with "Draft: ".
	Draft bool
}

// State is where a pull request stands.
type State string

// States of a pull request.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // without being merged
)

// PullRequest is a pull request as its forge has it.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url"` // its page
	State  State  `json:"state"`
	Draft  bool   `json:"draft"`
	Head   string `json:"head"`
	Base   string `json:"base"`
	Title  string `json:"title"`
	// HeadCommit is the commit that the forge shows as its newest.
	HeadCommit string `json:"headCommit"`
}
