// Package agenttasks holds twenty documentation tasks on real sites, each with a
// checker that reads what a model made of it. It has tests alone:
//
//	tasks_test.go     the tasks: site, prompt, limits, checker; pages_test.go has those about pages
//	sites_test.go     the sites, which are parts of the corpora and our own docs
//	judge_test.go     what checkers share: what changed, what a check finds, what parses
//	cassette_test.go  dialogues with a model as data: written by hand, or recorded
//	run_test.go       a task through the real steps, on the fake forge or a real one
//	bad_test.go       three bad solutions for each task, and good ones that differ, for the checkers' own test
//	replay_test.go    TestCheckers, TestReplay, TestRunner, TestRemoteForge
//	live_test.go      TestLive, which asks a real model: make agent-tasks
//
// The dialogues in testdata/by-hand are what their name says: nobody recorded
// them from a model. They show that the tools can do each task, that the steps
// carry it to a pull request, and that the checkers take it for done. How good a
// model is, only make agent-tasks says; with RECORD=1 it keeps the answers in
// testdata/recorded, from where TestReplay replays them as well.
package agenttasks
