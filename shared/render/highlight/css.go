package highlight

import "strings"

// CSS returns the rules for the class names of AppendHTML, inside pre and code.
// Colours are CSS variables, --hl-keyword and so on: set on :root for light
// pages and under .dark, a class of the root element, for dark ones. A theme
// overrides the variables, not the rules. What is plain inherits its colour.
func CSS() string {
	var light, dark, rules strings.Builder
	for _, c := range classes {
		if c.name == "" {
			continue
		}
		var declarations []string
		if c.style != "" {
			light.WriteString("  --hl-" + c.style + ": " + c.light + ";\n")
			dark.WriteString("  --hl-" + c.style + ": " + c.dark + ";\n")
			declarations = append(declarations, "color: var(--hl-"+c.style+")")
		}
		if c.extra != "" {
			declarations = append(declarations, c.extra)
		}
		rules.WriteString(":is(pre, code) ." + c.name + " { " + strings.Join(declarations, "; ") + " }\n")
	}
	return ":root {\n" + light.String() + "}\n@media not print {\n.dark {\n" + dark.String() + "}\n}\n" + rules.String()
}
