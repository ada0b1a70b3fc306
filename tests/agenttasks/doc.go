// Package agenttasks holds forty documentation tasks on real sites, each with a checker
// that reads what a model made of it. Twenty have one round, twenty have two: between
// them people answer, push, merge or close. It has tests alone:
//
//	tasks_test.go        what a task is, and tasks about texts; pages_test.go has those about pages
//	rounds_test.go       tasks that ask back, are reviewed, or go on where people have pushed
//	repository_test.go   tasks on code, on what changed in it since a release, and with sources to cite
//	large_test.go        tasks on whole sites and in a large specification
//	translation_test.go  tasks that translate, and how a translation is judged
//	sites_test.go        the sites, which are parts of the corpora and our own docs
//	desk_test.go         what people do between rounds, in memory and on a forge
//	judge_test.go        what checkers share: what changed, what a check finds, what parses
//	cassette_test.go     dialogues with a model as data: written by hand, or recorded
//	run_test.go          a task through the real steps, on the fake forge or a real one
//	bad_test.go          bad solutions for the checkers' own test, and good ones that differ
//	badrounds_test.go    the same for tasks of two rounds, in the first or in the last
//	replay_test.go       TestCheckers, TestReplay, TestRunner, TestRemoteForge
//	live_test.go         TestLive, which asks a real model: make agent-tasks
//	standing_test.go     sums of tries: pass^k, cost for each solved task, tables
//
// The dialogues in testdata/by-hand are what their name says: nobody recorded
// them from a model. They show that the tools can do each task, that the steps
// carry it to a pull request, and that the checkers take it for done. How good a
// model is, only make agent-tasks says; with RECORD=1 it keeps the answers in
// testdata/recorded, from where TestReplay replays them as well.
package agenttasks
