// Package diagram draws Mermaid's diagrams as SVG: without a browser and without
// JavaScript. What it can't read, or can't draw whole, is an error.
//
//	diagram.go     Drawer, Draw: one diagram, from its source to a Diagram
//	source.go      what stands around a diagram's text: front matter, comments, kinds
//	graph.go       what boxes and lines say: nodes, groups, links
//	flow.go        reading of flowcharts; state.go, class.go, entity.go: of states,
//	               classes and entities
//	label.go       texts of several looks, broken into lines
//	settings.go    what authors configure: directives and front matter
//	style.go       the author's lines; color.go: colours, and texts over them
//	shape.go       forms of nodes and their sizes; pen.go: paths
//	place.go       places from the layout, links cut at the forms they end at
//	ends.go        ends of links at one side of a node, moved apart
//	graphdraw.go   the SVG of a graph; parts.go: of boxes with several parts
//	sequence.go    sequence diagrams: reading; seqlayout.go: places; seqdraw.go: SVG
//	pie.go         pie charts; xychart.go, quadrant.go: charts with axes
//	gantt.go       charts of time; dates.go: dates by authors' formats
//	timeline.go    timelines; mindmap.go: mind maps
//	git.go         graphs of commits: reading; gitdraw.go: places and SVG
//	svg.go         what colours look like; numbers
//	text.go        widths of texts by the site's font, line breaks, characters
//	labels.go      whether a drawing says all that its source says
//	alternative.go sequences in words, for readers who can't see them
//	diagram.css    the styles of drawings, in the theme's colours
//	diagram.js     buttons, keys and pointer for drawings larger than their place
//	layout         places for nodes and ways for links
//
// Equal input makes equal bytes, on every machine. Work is bounded by the input's
// size and counts, and by no clock.
package diagram
