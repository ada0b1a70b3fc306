package agenttasks

import (
	"maps"
	"testing"
)

// desk is the repository as people have it between rounds, and what they do there. On a
// host it does the same there.
type desk struct {
	tb testing.TB
	on host // nil for none
	// base is the branch that the job began from, called name; fork is that branch when
	// the job's own one began.
	base, fork files
	name       string
	// branch is the job's own branch, called job, nil if it has none; number is its pull
	// request.
	branch files
	job    string
	number int
	// tags are those that people have made, oldest first.
	tags []tagged
}

// tagged is a tag with the files of its commit.
type tagged struct {
	name  string
	files files
}

// begin does what people do before a round, and returns the repository that the round
// finds: the job's branch if its pull request is open.
func (d *desk) begin(r round) files {
	if r.people != nil {
		r.people(d)
	}
	if d.branch != nil {
		return d.branch
	}
	return d.base
}

// publish notes that a round has pushed these files to the job's branch.
func (d *desk) publish(f files, job string, number int) {
	if d.branch == nil {
		d.fork = d.base
	}
	d.branch, d.job, d.number = f, job, number
}

// push makes a commit on the job's branch.
func (d *desk) push(change func(f files)) { d.branch = d.write(d.job, d.branch, change) }

// pushBase makes a commit on the branch that the job began from.
func (d *desk) pushBase(change func(f files)) { d.base = d.write(d.name, d.base, change) }

// tag makes a tag of the branch that the job began from.
func (d *desk) tag(name string) {
	if d.on != nil {
		d.on.Tag(name, d.name, "")
	}
	d.tags = append(d.tags, tagged{name, d.base})
}

// write makes a commit on a branch and returns its files.
func (d *desk) write(branch string, was files, change func(f files)) files {
	d.tb.Helper()
	if was == nil {
		d.tb.Fatal("the job has no branch that people could change")
	}
	is := maps.Clone(was)
	change(is)
	differ := map[string]string{}
	for p, text := range is {
		if old, ok := was[p]; !ok || old != text {
			differ[p] = text
		}
	}
	for p := range was {
		if _, ok := is[p]; !ok {
			differ[p] = ""
		}
	}
	if len(differ) == 0 {
		d.tb.Fatal("people change nothing")
	}
	if d.on != nil {
		d.on.Write(branch, differ)
	}
	return is
}

// update merges the branch that the job began from into the job's own one. Of a file that
// both have changed, people take the one of the former: changes of the agent are gone.
func (d *desk) update() {
	d.push(func(f files) {
		for p, text := range d.base {
			if d.fork[p] != text {
				f[p] = text
			}
		}
		for p := range d.fork {
			if _, ok := d.base[p]; !ok {
				delete(f, p)
			}
		}
	})
	if d.on != nil {
		d.on.MergeBranch(d.job, d.name)
	}
	d.fork = d.base
}

// merge merges the pull request into the branch that the job began from.
func (d *desk) merge() {
	if d.on != nil {
		d.on.Merge(d.number)
	}
	d.base, d.branch = d.branch, nil
}

// closes closes the pull request, which is not merged.
func (d *desk) closes() {
	if d.on != nil {
		d.on.Close(d.number)
	}
	d.branch = nil
}
