// Package forgetest has a forge for tests, and the contract that every forge
// keeps. It is for tests alone.
//
//	fake.go      Fake: a forge in the test's process, which can fail on purpose
//	fail.go      the ways to fail
//	rest.go      its pull requests in the dialects of GitHub, GitLab and Gitea
//	app.go       its GitHub App
//	gitea.go     Gitea: a real forge, where its program was built
//	contract.go  Contract: what package forge does with any forge
//
// A test of what uses forges looks like this:
//
//	f := forgetest.New(t)                        // Gitea's dialect
//	f.Write("main", map[string]string{"docs.json": "{}"})
//	f.FailNext(forgetest.Push, forgetest.KillAfter())
//	… f.Forge(), or forge.New(f.Options()), with f.Repository() …
//	f.Files("bindery/1"), f.Commits("bindery/1"), f.Pulls()
package forgetest
