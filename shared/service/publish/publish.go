// Package publish checks uploads before they become a site's newest snapshot. It reads the
// formats of package snapshot for the records of package admin.
//
//	publish.go  Check: a pending snapshot; Manifest: reads one; Fault: faults of one
package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/sitefolder"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// maxFaults bounds the text of what is wrong with a site, in bytes.
const maxFaults = 4000

// Check returns what admin.Publish checks a pending snapshot with. It reads the manifest
// and checks all that it says: every path by the rules that the command line follows
// too, every entry inside a pack, every pack there in full, among the packs of the same
// organisation.
func Check(objects store.Objects) func(context.Context, admin.Snapshot) (admin.Contents, error) {
	return func(ctx context.Context, p admin.Snapshot) (admin.Contents, error) { return check(ctx, objects, p) }
}

func check(ctx context.Context, objects store.Objects, p admin.Snapshot) (admin.Contents, error) {
	m, err := Manifest(ctx, objects, p)
	if err != nil {
		return admin.Contents{}, err
	}
	if err := snapshot.CheckEntries(m); err != nil {
		return admin.Contents{}, Fault(err)
	}
	if fault := sitefolder.Config(func(name string) bool { _, ok := m.Entry(name); return ok }); fault != nil {
		return admin.Contents{}, Fault(snapshot.PathErrors{fault})
	}
	err = snapshot.Verify(ctx, objects, p.PackKey, m)
	if e, ok := errors.AsType[*snapshot.PackError](err); ok {
		code := admin.CodeInconsistent
		if e.Missing {
			code = admin.CodeIncomplete
		}
		return admin.Contents{}, admin.Errorf(code, "%s", e.Error())
	}
	if err != nil {
		return admin.Contents{}, err
	}
	return admin.Contents{Files: len(m.Entries), Bytes: m.Bytes(), Packs: packsOf(m)}, nil
}

// packsOf returns the packs that a manifest names.
func packsOf(m *snapshot.Manifest) []admin.Blob {
	packs := make([]admin.Blob, len(m.Packs))
	for i, p := range m.Packs {
		packs[i] = admin.Blob(p)
	}
	return packs
}

// Manifest reads a snapshot's manifest, which must be of the stated size and digest. It
// returns CodeIncomplete, CodeInconsistent or CodeInvalid, and the errors of objects.
func Manifest(ctx context.Context, objects store.Objects, p admin.Snapshot) (*snapshot.Manifest, error) {
	key := p.ManifestKey()
	info, err := objects.Stat(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, admin.Errorf(admin.CodeIncomplete, "manifest: it was not uploaded")
	}
	if err != nil {
		return nil, fmt.Errorf("look at manifest of %s: %w", p.ID, err)
	}
	if info.Size != p.Manifest.Size {
		return nil, admin.Errorf(admin.CodeInconsistent, "manifest: it has %d bytes, not %d", info.Size, p.Manifest.Size)
	}
	body, err := objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, fmt.Errorf("read manifest of %s: %w", p.ID, err)
	}
	defer body.Close()
	digest := sha256.New()
	bytes := io.TeeReader(io.LimitReader(body, p.Manifest.Size), digest)
	m, fault := snapshot.Decode(bytes)
	if _, err := io.Copy(io.Discard, bytes); err != nil {
		return nil, fmt.Errorf("read manifest of %s: %w", p.ID, err)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != p.Manifest.SHA256 {
		return nil, admin.Errorf(admin.CodeInconsistent, "manifest: its bytes have another digest")
	}
	if fault != nil {
		return nil, Fault(fault)
	}
	return m, nil
}

// Fault describes the faults of a manifest, and of the files in it by their paths,
// as many as fit. It returns other errors as they are.
func Fault(err error) error {
	if faults, ok := errors.AsType[snapshot.PathErrors](err); ok && len(faults) > 0 {
		var b strings.Builder
		for i, f := range faults {
			text := f.Error()
			if i > 0 && b.Len()+len(text) > maxFaults {
				fmt.Fprintf(&b, "; and %d more", len(faults)-i)
				break
			}
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(text)
		}
		return admin.Errorf(admin.CodeInvalid, "%s", b.String())
	}
	if e, ok := errors.AsType[*snapshot.FormatError](err); ok {
		return admin.FieldErrorf("manifest", "%s", strings.TrimPrefix(e.Error(), "manifest: "))
	}
	return err
}
