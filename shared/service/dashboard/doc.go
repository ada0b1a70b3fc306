// Package dashboard is what people see of a Bindery: pages made on the server,
// forms that work without JavaScript, and the sessions behind them. It calls the
// rules of package admin, as the API does, and never the API.
//
//	dashboard.go  Options, Handler, the table of pages and forms, refusals
//	request.go    one request: who asks, what is answered
//	view.go       templates: how values are written, forms with their errors
//	signin.go     sessions: cookies, links, signing in and out, one's own page
//	oidc.go       signing in at an OpenID provider
//	groups.go     what groups at a provider are in organisations
//	keys.go       API keys
//	projects.go   projects and their settings
//	snapshots.go  snapshots, and what each changed
//	live.go       what is live, the deployments of a project, the steps to a live site
//	publish.go    publishing a folder that a browser has
//	exports.go    exports
//	changes.go    what an export changed
//	findings.go   what an export found, with the lines it is about
//	agents.go     agent jobs
//	webhooks.go   webhooks, their secrets and deliveries
//	people.go     members, the audit log
//	usage.go      what was used, and limits
//	assets.go     style sheet, script, font, icon, under the digest of their content
//	pages/        the templates
//	assets/       style sheet, scripts, icon
//
// Every page is in one table (routes), with what a role must allow to see it; a
// test asks for each of them as everybody. No page has inline scripts or styles.
package dashboard
