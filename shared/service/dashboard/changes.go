package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Bounds of the list of what an export changed, on its page.
const (
	maxChangeList   = 8 << 20 // bytes of the stored list
	maxChangedPages = 25      // of each kind
	maxPassages     = 3       // of a page
)

// changesView has the changes of an export.
type changesView struct {
	Lost     []diff.LostAddress
	MoreLost int
	Kinds    []changedPages
	// Why is the reason that nothing is listed; empty if something is.
	Why string
}

// changedPages are pages by what became of them.
type changedPages struct {
	Name  string
	Count int
	Pages []diff.Page
	More  int // that are not shown
}

// changes reads what an export changed; nil if there is no list of it.
func (q *request) changes(j admin.ExportJob) *changesView {
	if j.Bundle == nil || !j.Bundle.Changes.Listed || q.d.opt.Objects == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(q.ctx(), cmp.Or(q.d.opt.ReadTime, changesPatience))
	defer cancel()
	r, err := q.changeList(ctx, j.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &changesView{Why: "The list went with the bundle."}
	case errors.Is(err, errLongList):
		return &changesView{Why: "The list is too long for this page."}
	case err != nil:
		q.d.opt.Log.WarnContext(q.ctx(), "the changes of an export were not read", "job", j.ID, "error", err)
		return &changesView{Why: "The list can't be read at the moment."}
	}
	v := &changesView{Lost: r.LostAddresses}
	if n := len(v.Lost) - maxChangedPages; n > 0 {
		v.Lost, v.MoreLost = v.Lost[:maxChangedPages], n
	}
	for _, kind := range []changedPages{{Name: "changed", Pages: r.Pages.Changed}, {Name: "added", Pages: r.Pages.Added}, {Name: "removed", Pages: r.Pages.Removed}} {
		if kind.Count = len(kind.Pages); kind.Count == 0 {
			continue
		}
		if kind.More = max(0, kind.Count-maxChangedPages); kind.More > 0 {
			kind.Pages = kind.Pages[:maxChangedPages]
		}
		v.Kinds = append(v.Kinds, kind)
	}
	if len(v.Lost)+len(v.Kinds) == 0 {
		v.Why = "No text of a page differs."
	}
	return v
}

// passages are the first passages of a page that differ.
func passages(p diff.Page) []diff.Change {
	return p.Changes[:min(len(p.Changes), maxPassages)]
}

var errLongList = errors.New("the list of changes is too long")

// changeList reads the list that an export has stored.
func (q *request) changeList(ctx context.Context, job string) (*diff.Result, error) {
	body, err := q.d.opt.Objects.Get(ctx, admin.ChangesKey(job), 0, -1)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxChangeList+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxChangeList {
		return nil, errLongList
	}
	var r diff.Result
	return &r, json.Unmarshal(data, &r)
}
