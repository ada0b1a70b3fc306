package job

import (
	"fmt"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// AllObjects is what the keys of all jobs' objects begin with.
const AllObjects = admin.AllExports

// AgentObjects begins the keys of all objects of agent jobs; the id of the job and a
// slash follow.
const AgentObjects = "agents/"

// AgentReviews begins the keys of the records of the step Review, which no other step
// can write; the id of the job and a slash follow.
const AgentReviews = "agentreviews/"

// allAgents begins the keys of both.
const allAgents = "agent"

// bundleName is the object that a completed job is for. It, the list of what it
// changed (admin.ChangesKey) and the job's findings (admin.FindingsKey) are all
// that outlives its end.
const bundleName = "bundle.tar.gz"

// Prefix is what the keys of a job's objects begin with.
func Prefix(job string) string { return AllObjects + job + "/" }

// SiteKey is the site: configuration, pages, navigation.
func SiteKey(job string) string { return Prefix(job) + "site.json" }

// DiagnosticsKey is what reading the site found.
func DiagnosticsKey(job string) string { return Prefix(job) + "diagnostics.jsonl" }

// SlicesKey is what API pages show of specifications.
func SlicesKey(job string) string { return Prefix(job) + "reference.jsonl" }

// ShardKey is what shard n renders.
func ShardKey(job string, n int) string { return fmt.Sprintf("%sshards/%d.json", Prefix(job), n) }

// UnitsKey is shard n's part of the archive.
func UnitsKey(job string, n int) string { return fmt.Sprintf("%sunits/%d.gz", Prefix(job), n) }

// RowsKey is shard n's files: the rows of the bundle's index.
func RowsKey(job string, n int) string { return fmt.Sprintf("%sfiles/%d", Prefix(job), n) }

// FactsKey is the ids, links and diagnostics of shard n's pages.
func FactsKey(job string, n int) string { return fmt.Sprintf("%sfacts/%d.jsonl", Prefix(job), n) }

// FullKey is the text of shard n's pages for llms-full.txt.
func FullKey(job string, n int) string { return fmt.Sprintf("%sfull/%d.md", Prefix(job), n) }

// SearchKey is shard n's pages and terms for the search index.
func SearchKey(job string, n int) string { return fmt.Sprintf("%ssearch/%d", Prefix(job), n) }

// MergedKey is the n-th stream of terms of several shards, merged at a level.
func MergedKey(job string, level, n int) string {
	return fmt.Sprintf("%ssearch/merged-%d-%d", Prefix(job), level, n)
}

// KeptKey is the list of what is kept of the job's project.
func KeptKey(job string) string { return Prefix(job) + "kept" }

// RemoteKey is a file of another host, by its digest.
func RemoteKey(job, digest string) string { return remotePrefix(job) + digest }

// RemoteNoteKey is what is known of an address, by the address's digest.
func RemoteNoteKey(job, digest string) string { return remotePrefix(job) + digest + ".json" }

// RemoteIndexKey is the list of a job's files of other hosts.
func RemoteIndexKey(job string) string { return remotePrefix(job) + "index.json" }

func remotePrefix(job string) string { return Prefix(job) + "remote/" }

// BundleKey is the bundle; all other objects but the findings and the list of changes go once it is there.
func BundleKey(job string) string { return Prefix(job) + bundleName }
