// Package review is the step Review of agent jobs, between Work and Publish. It has
// neither a model nor a forge. It renders the pages that a round changes, before and
// after the changes, and records which hosts and which code are new in what readers'
// browsers get. Publish pushes no changes without that record.
//
//	review.go  Steps, and the record of a round
//	render.go  one state of a site, rendered
//	touched.go the pages that changes touch
//
// Components of authors run in a process of their own, as they do in an export.
package review
