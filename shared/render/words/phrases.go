package words

// Phrase names a phrase: a row of words.tsv.
type Phrase string

// The phrases.
const (
	// The frame: what the theme writes around a page.

	Skip           Phrase = "skip"
	Menu           Phrase = "menu"
	Close          Phrase = "close"
	Links          Phrase = "links"    // names the links in the header
	Sections       Phrase = "sections" // names the tabs
	Navigation     Phrase = "navigation"
	Appearance     Phrase = "appearance"
	Breadcrumbs    Phrase = "breadcrumbs"
	Contents       Phrase = "contents"
	Pager          Phrase = "pager"
	Prev           Phrase = "prev"
	Next           Phrase = "next"
	Banner         Phrase = "banner"
	Socials        Phrase = "socials" // names the links to networks
	VersionSwitch  Phrase = "versionSwitch"
	LanguageSwitch Phrase = "languageSwitch"
	ProductSwitch  Phrase = "productSwitch"
	OtherSwitch    Phrase = "otherSwitch" // names a switch of anything else
	Light          Phrase = "light"
	Dark           Phrase = "dark"
	System         Phrase = "system" // the appearance that the system has
	Search         Phrase = "search"
	Actions        Phrase = "actions"
	CopyPage       Phrase = "copyPage"
	Copied         Phrase = "copied"
	ViewPage       Phrase = "viewPage"
	Copy           Phrase = "copy"
	Edit           Phrase = "edit"
	Issue          Phrase = "issue"
	AllPages       Phrase = "allPages"
	PagesOf        Phrase = "pagesOf"  // %s is the name of a section
	Modified       Phrase = "modified" // %s is a date
	Date           Phrase = "date"     // %d, %m and %y are the day, the month and the year
	Months         Phrase = "months"   // twelve, between spaces, as they stand in date
	NotFound       Phrase = "notFound"
	NotFoundText   Phrase = "notFoundText"
	Home           Phrase = "home"
	Moved          Phrase = "moved"
	MovedTo        Phrase = "movedTo" // an address follows
	Assistant      Phrase = "assistant"
	Helpful        Phrase = "helpful"
	HelpfulYes     Phrase = "helpfulYes" // answers helpful
	HelpfulNo      Phrase = "helpfulNo"  // the same
	Thanks         Phrase = "thanks"

	// Components and pages.

	Note         Phrase = "note"
	Tip          Phrase = "tip"
	Warning      Phrase = "warning"
	Danger       Phrase = "danger"
	Error        Phrase = "error"
	Info         Phrase = "info"
	Check        Phrase = "check" // what was confirmed
	Details      Phrase = "details"
	Properties   Phrase = "properties"
	Required     Phrase = "required"
	Optional     Phrase = "optional"
	Deprecated   Phrase = "deprecated"
	Default      Phrase = "default"
	Example      Phrase = "example"
	Request      Phrase = "request"
	Response     Phrase = "response"
	Prompt       Phrase = "prompt"
	OpenInCursor Phrase = "openInCursor"
	Beside       Phrase = "beside" // names what stands beside the text on wide screens
	Link         Phrase = "link"   // names the link from a heading to itself
	Yes          Phrase = "yes"    // a mark in a table, to those who cannot see it
	No           Phrase = "no"     // the same
	Table        Phrase = "table"  // names a box that scrolls, as do the next three
	Code         Phrase = "code"
	Formula      Phrase = "formula"
	Diagram      Phrase = "diagram"
	DiagramText  Phrase = "diagramText" // opens what a drawing shows, as lists
	Shrink       Phrase = "shrink"      // a button of a large drawing, as are the next five
	AsBefore     Phrase = "asBefore"
	MoveLeft     Phrase = "moveLeft"
	MoveUp       Phrase = "moveUp"
	MoveDown     Phrase = "moveDown"
	MoveRight    Phrase = "moveRight"
	Flowchart    Phrase = "flowchart" // names a drawing without a title, as do the next eleven
	Sequence     Phrase = "sequence"
	State        Phrase = "state"
	Class        Phrase = "class"
	Entity       Phrase = "entity"
	Pie          Phrase = "pie"
	Git          Phrase = "git"
	Gantt        Phrase = "gantt"
	Mindmap      Phrase = "mindmap"
	Timeline     Phrase = "timeline"
	Quadrant     Phrase = "quadrant"
	Chart        Phrase = "chart"
	Done         Phrase = "done" // names the box of a task, as does the next
	Todo         Phrase = "todo"
	Back         Phrase = "back" // leads from a footnote to its place
	Footnotes    Phrase = "footnotes"
	Unread       Phrase = "unread"   // a part of a page that is shown as it was written
	Line         Phrase = "line"     // a number follows
	Offline      Phrase = "offline"  // stands before a link to what a bundle for offline readers leaves out
	Embedded     Phrase = "embedded" // names a page in a page that has no title

	// Pages of an API, and the form that sends its calls.

	NoReference       Phrase = "noReference"       // in the place of what could not be read
	NoRemoteReference Phrase = "noRemoteReference" // the same, of what is on another host
	Servers           Phrase = "servers"
	Authorization     Phrase = "authorization"
	Or                Phrase = "or" // stands between alternatives
	NoAuthorization   Phrase = "noAuthorization"
	Scopes            Phrase = "scopes"
	Path              Phrase = "path"
	Query             Phrase = "query"
	Headers           Phrase = "headers"
	Cookies           Phrase = "cookies"
	Body              Phrase = "body" // of a call or an answer
	Responses         Phrase = "responses"
	Callbacks         Phrase = "callbacks"
	Options           Phrase = "options"
	Option            Phrase = "option" // a number follows
	OneOf             Phrase = "oneOf"
	AnyOf             Phrase = "anyOf"
	Recursive         Phrase = "recursive" // the name of a schema follows
	Send              Phrase = "send"      // names what an application sends, as does the next what it receives
	Receive           Phrase = "receive"
	Messages          Phrase = "messages"
	Reply             Phrase = "reply"
	UnusedMessages    Phrase = "unusedMessages"
	UnknownAddress    Phrase = "unknownAddress" // the name of a channel follows
	If                Phrase = "if"             // a condition follows, as code
	Then              Phrase = "then"           // what is asked for follows
	Otherwise         Phrase = "otherwise"      // the same
	Forbidden         Phrase = "forbidden"
	IsSet             Phrase = "isSet" // stands behind the name of a property
	Not               Phrase = "not"   // what does not hold follows, in parentheses
	Payload           Phrase = "payload"
	Try               Phrase = "try"
	SendRequest       Phrase = "sendRequest" // the button that sends a call
	Status            Phrase = "status"
	Time              Phrase = "time"
	Failed            Phrase = "failed"
	Refused           Phrase = "refused" // why a browser showed no answer
	Secrets           Phrase = "secrets"
	ContentType       Phrase = "contentType" // of what is sent
	AnswerType        Phrase = "answerType"  // of what is asked for
	CallLinks         Phrase = "callLinks"   // calls that follow from an answer
	And               Phrase = "and"         // stands between what is needed together

	// The search box.

	Results     Phrase = "results"
	Nothing     Phrase = "nothing" // %s is the question
	Found       Phrase = "found"   // %d is a number
	Unavailable Phrase = "unavailable"
	Select      Phrase = "select" // what the arrow keys do
	Open        Phrase = "open"   // what the enter key does

	// The script of components.

	CopyCode   Phrase = "copyCode" // copies a block of code
	ShowAll    Phrase = "showAll"
	ShowLess   Phrase = "showLess"
	Enlarge    Phrase = "enlarge"
	All        Phrase = "all"        // the choice of every tag
	ExampleTab Phrase = "exampleTab" // names a block of code without a title; a number follows
	View       Phrase = "view"       // names the choice of a view
	Tags       Phrase = "tags"       // names the choice of tags
	Tab        Phrase = "tab"        // names a tab without a title; a number follows
)
