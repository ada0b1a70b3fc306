package icons

import "strings"

// alias returns "library:name" for a name that no free library has, or that a
// library once had. Most are of Font Awesome Pro, which sites may name although
// its drawings are not free: the nearest free drawing stands in.
func alias(name string) (string, bool) {
	if to, ok := aliases[name]; ok {
		return to, true
	}
	// Letters and digits in a shape: Font Awesome Pro's square-k and circle-1.
	for _, shape := range [...]string{"square", "circle", "hexagon"} {
		rest, ok := strings.CutPrefix(name, shape+"-")
		if !ok || len(rest) != 1 {
			continue
		}
		switch c := rest[0]; {
		case c >= '0' && c <= '9':
			return Tabler + ":" + shape + "-number-" + rest, true
		case c >= 'a' && c <= 'z':
			return Tabler + ":" + shape + "-letter-" + rest, true
		}
	}
	// Variants that are only drawn in Pro: the plain icon.
	for _, suffix := range [...]string{"-simple", "-alt", "-lines", "-thin", "-light", "-duotone", "-o", "-outline", "-line", "-fill"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && base != "" {
			return FontAwesome + ":" + base, true
		}
	}
	return "", false
}

var aliases = map[string]string{
	"alarm-exclamation":           "lucide:alarm-clock",
	"arrow-up-right-dots":         "lucide:trending-up",
	"badge":                       "lucide:badge",
	"binary-circle-check":         "lucide:binary",
	"books":                       "lucide:library",
	"bot":                         "lucide:bot",
	"box-check":                   "lucide:package-check",
	"brackets-curly":              "lucide:braces",
	"brackets-square":             "lucide:brackets",
	"brain-circuit":               "lucide:brain-circuit",
	"browser":                     "lucide:app-window",
	"browsers":                    "lucide:app-window",
	"bullseye-arrow":              "lucide:goal",
	"bullseye-pointer":            "lucide:mouse-pointer-click",
	"chart-mixed":                 "lucide:chart-column",
	"chart-network":               "lucide:chart-network",
	"chart-waterfall":             "lucide:chart-gantt",
	"check-to-slot":               "lucide:vote",
	"chevron-double-right":        "lucide:chevrons-right",
	"clipboard-list-check":        "lucide:clipboard-check",
	"cloud-bolt":                  "lucide:cloud-lightning",
	"code-simple":                 "lucide:code",
	"command":                     "lucide:command",
	"comment-code":                "lucide:message-square-code",
	"comments-question":           "lucide:message-circle-question-mark",
	"computer-classic":            "lucide:monitor",
	"conveyor-belt":               "lucide:workflow",
	"cubes-stacked":               "lucide:boxes",
	"diagram-nested":              "lucide:network",
	"diagram-subtask":             "lucide:list-tree",
	"diagram-venn":                "lucide:blend",
	"display-code":                "lucide:monitor",
	"file-magnifying-glass":       "lucide:file-search",
	"file-chart-column":           "lucide:chart-column",
	"flag-checkered":              "lucide:flag",
	"folders":                     "lucide:folders",
	"function":                    "lucide:square-function",
	"gauge-max":                   "lucide:gauge",
	"gear-code":                   "lucide:cog",
	"gauge-simple-low":            "lucide:gauge",
	"gears":                       "fontawesome:gears",
	"grid":                        "lucide:layout-grid",
	"grid-2":                      "lucide:layout-grid",
	"grid-2-plus":                 "lucide:grid-2x2-plus",
	"head-side-brain":             "lucide:brain",
	"input-text":                  "lucide:text-cursor-input",
	"key-skeleton":                "lucide:key-round",
	"laptop-mobile":               "lucide:monitor-smartphone",
	"lightbulb-on":                "lucide:lightbulb",
	"list-tree":                   "lucide:list-tree",
	"loader":                      "lucide:loader",
	"memo":                        "lucide:scroll-text",
	"message-bot":                 "lucide:bot-message-square",
	"message-code":                "lucide:message-square-code",
	"message-dots":                "lucide:message-square-more",
	"message-exclamation":         "lucide:message-square-warning",
	"message-lines":               "lucide:message-square-text",
	"message-question":            "lucide:message-circle-question-mark",
	"messages":                    "lucide:messages-square",
	"messages-question":           "lucide:messages-square",
	"money-check-dollar-pen":      "lucide:banknote",
	"monitor-waveform":            "lucide:activity",
	"objects-column":              "lucide:layout-dashboard",
	"page":                        "lucide:file",
	"pen-paintbrush":              "lucide:paintbrush",
	"play-pause":                  "lucide:play",
	"rectangle-code":              "lucide:square-code",
	"rectangle-history":           "lucide:gallery-vertical-end",
	"rectangle-terminal":          "lucide:square-terminal",
	"rectangles-mixed":            "lucide:layout-dashboard",
	"rotate-reverse":              "lucide:rotate-ccw",
	"scanner-gun":                 "lucide:scan-barcode",
	"send":                        "lucide:send",
	"sensor-triangle-exclamation": "lucide:triangle-alert",
	"shield-keyhole":              "lucide:shield",
	"sidebar":                     "lucide:panel-left",
	"sparkle":                     "lucide:sparkle",
	"split":                       "lucide:split",
	"spinner-third":               "lucide:loader-circle",
	"square-quote":                "lucide:quote",
	"star-shooting":               "lucide:sparkles",
	"stars":                       "lucide:sparkles",
	"swatchbook":                  "lucide:swatch-book",
	"table-tree":                  "lucide:table-properties",
	"text":                        "lucide:type",
	"timeline-arrow":              "lucide:milestone",
	"tree-deciduous":              "lucide:tree-deciduous",
	"truck-bolt":                  "lucide:truck-electric",
	"user-robot":                  "lucide:bot",
	"vial-circle-check":           "lucide:flask-conical",
	"wand-sparkles":               "lucide:wand-sparkles",
	"watch":                       "lucide:watch",
	"wave-pulse":                  "lucide:activity",
	"waveform":                    "lucide:audio-waveform",
	"waveform-lines":              "lucide:audio-lines",
	"webhook":                     "lucide:webhook",
	"window":                      "lucide:app-window",
	"x-twitter":                   "fontawesome:x-twitter",
	"hacker-news":                 "fontawesome:hacker-news",
	"website":                     "lucide:globe",
	"earth":                       "lucide:earth",
	"podcast":                     "fontawesome:podcast",
	// Older names that pages still use.
	"alert-circle":   "lucide:circle-alert",
	"alert-triangle": "lucide:triangle-alert",
	"check-circle":   "lucide:circle-check",
	"help-circle":    "lucide:circle-question-mark",
	"x-circle":       "lucide:circle-x",
	"edit":           "lucide:square-pen",
	"home":           "lucide:house",
	"settings":       "lucide:settings",
	"snake":          "fontawesome:worm",
}
