package diff

// Result is what differs between two bundles. Lists are sorted by path.
type Result struct {
	Before Bundle `json:"before"`
	After  Bundle `json:"after"`
	Pages  Pages  `json:"pages"`
	// LostAddresses are those of pages that lead nowhere any more.
	LostAddresses []LostAddress `json:"lostAddresses"`
	// LostAnchors are places in pages that links may name and that are gone.
	LostAnchors []LostAnchor `json:"lostAnchors"`
	Files       Files        `json:"files"`
	// Terms is nil where they were not counted.
	Terms *Terms `json:"terms,omitempty"`
}

// Bundle is one of the two that are compared.
type Bundle struct {
	Name    string `json:"name"` // of the file or folder
	Domain  string `json:"domain"`
	Version string `json:"version"`
	Pages   int    `json:"pages"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"` // unpacked
}

// Pages are pages by what became of them.
type Pages struct {
	Added   []Page `json:"added"`
	Removed []Page `json:"removed"`
	Changed []Page `json:"changed"`
	// Unchanged is how many have the same text. What stands around it, such as
	// the navigation, may differ.
	Unchanged int `json:"unchanged"`
}

// Page is a page that came, went or changed.
type Page struct {
	Address string `json:"address"`
	Title   string `json:"title"`
	// LeadsTo is where the address of a page that went leads now.
	LeadsTo string `json:"leadsTo,omitempty"`
	// Words counts what was added and removed. Of a page that came or went it
	// is all of them.
	Words struct {
		Added   int `json:"added"`
		Removed int `json:"removed"`
	} `json:"words"`
	// Changes are the first passages that differ.
	Changes []Change `json:"changes,omitempty"`
}

// LostAddress is the address of a page that leads nowhere.
type LostAddress struct {
	Address string `json:"address"`
	Title   string `json:"title"`
	// Redirect would save it: to the new page that says the same, or nil where
	// none does.
	Redirect *Redirect `json:"redirect,omitempty"`
}

// Redirect is one as docs.json has it.
type Redirect struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

// LostAnchor is an anchor that a page no longer has.
type LostAnchor struct {
	Address string `json:"address"`
	Anchor  string `json:"anchor"`
	// Heading is the text of the heading that had it, if one had.
	Heading string `json:"heading,omitempty"`
	// Now is the anchor of the heading that took its place: of the same text,
	// or the only new one between the same neighbours.
	Now string `json:"now,omitempty"`
}

// Files are the site's own files that are not pages: pictures, downloads, style
// sheets. Lists of pages and what a renderer adds are in the sizes alone.
type Files struct {
	Added   []File `json:"added"`
	Removed []File `json:"removed"`
	Changed []File `json:"changed"`
	// Bytes are the sizes of all files by kind, before and after: "pages" with
	// their Markdown, "files", "search" and "frame".
	Bytes map[string][2]int64 `json:"bytes"`
}

// File is a file with its size before and after, in bytes; 0 where it is not.
type File struct {
	Path   string `json:"path"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

// Terms are words that can be searched for in one of the bundles alone.
type Terms struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Gained and Gone are some of them, sorted.
	Gained []string `json:"gained,omitempty"`
	Gone   []string `json:"gone,omitempty"`
}
