package page

import "github.com/bindery-docs/bindery/shared/mdx"

// declare binds what import and export statements name.
func (s *state) declare(n *mdx.Node, sc *scope) {}
