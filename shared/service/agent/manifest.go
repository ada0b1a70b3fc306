package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// maxPack is how much text one object holds, in bytes.
const maxPack = 16 << 20

// A Manifest lists the files of a commit and says where their text is stored. Prepare
// writes it, and Publish if it gives the round back on another commit.
type Manifest struct {
	Commit string `json:"commit"`
	Ref    string `json:"ref"`
	// Root is the folder of the site in the repository, "" for the repository
	// itself.
	Root         string `json:"root,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	Files        []File `json:"files"` // sorted by path
	// Packs are the keys of the objects in which texts lie one after another.
	Packs []string `json:"packs"`
	// History lists the commits and tags of the repository.
	History tool.History `json:"history,omitzero"`
	// Findings are those of a check of the site as it is.
	Findings []check.Finding `json:"findings"`
	// Memory describes the rounds before it. Carried are the changes of one of them, with
	// which it begins.
	Memory  Memory        `json:"memory,omitzero"`
	Carried []tool.Change `json:"carried,omitempty"`
	// Turns counts the turns of this round with changes in Carried. It is zero unless
	// others changed the branch meanwhile.
	Turns int `json:"turns,omitempty"`
	// Overview is the description of the site that the model has read, empty if it is
	// made from this manifest. It stays the same in a round, for the cache of prompts.
	Overview string `json:"overview,omitempty"`
}

// File is a file of the repository. Pack counts from 1; 0 means that its text
// is not kept.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`            // in bytes, -1 if unknown
	Plain  bool   `json:"plain,omitempty"` // a file that can't be executed and leads nowhere else
	Pack   int    `json:"pack,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Picture is set if the file is a picture, not text.
	Picture bool `json:"picture,omitempty"`
	// ID is the name that Git has for a file without stored text.
	ID string `json:"id,omitempty"`
	// LeftOut is set for a text that is not stored, because the repository has too much
	// text outside the site's folder.
	LeftOut bool `json:"leftOut,omitempty"`
}

// roundPrefix begins the keys of a round's objects. They stay until the job is archived:
// the next round goes on from them, however this one ends. The sweep removes them.
func roundPrefix(ref admin.AgentRef) string {
	return fmt.Sprintf("%s%s/%d/", job.AgentObjects, ref.Job, ref.Round)
}

// keep stores an object under its digest and returns its key.
func (s Rounds) keep(ctx context.Context, ref admin.AgentRef, kind string, b []byte) (string, error) {
	sum := sha256.Sum256(b)
	digest := hex.EncodeToString(sum[:])
	key := roundPrefix(ref) + kind + "-" + digest
	_, err := s.Objects.Put(ctx, key, bytes.NewReader(b), store.PutOptions{IfAbsent: true, SHA256: digest})
	if errors.Is(err, store.ErrExists) {
		err = nil
	}
	return key, err
}

// fetch reads an object that keep stored into b, in place of what b has, and verifies its
// digest.
func (s Rounds) fetch(ctx context.Context, key string, b *bytes.Buffer) error {
	b.Reset()
	r, err := s.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := b.ReadFrom(r); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	if _, digest, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], "-"); digest != hex.EncodeToString(sum[:]) {
		return fmt.Errorf("object %s: %w", key, store.ErrDigest)
	}
	return nil
}

func (s Rounds) fetchJSON(ctx context.Context, key string, v any) error {
	var b bytes.Buffer
	if err := s.fetch(ctx, key, &b); err != nil {
		return err
	}
	if err := json.Unmarshal(b.Bytes(), v); err != nil {
		return fmt.Errorf("object %s: %w", key, err)
	}
	return nil
}

// KeepJSON stores a value under the digest of its JSON, which is part of the key
// that it returns.
func (s Rounds) KeepJSON(ctx context.Context, ref admin.AgentRef, kind string, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return s.keep(ctx, ref, kind, b)
}

// Repository is a commit's files in memory: tool.Base.
type Repository struct {
	Entries  []tool.Entry      // all files, sorted by path
	Texts    map[string][]byte // what the text files hold, by path
	Pictures map[string][]byte // and pictures that a model may see; nil if none were read
}

var (
	_ tool.Base     = (*Repository)(nil)
	_ tool.Pictures = (*Repository)(nil)
)

// Picture implements tool.Pictures.
func (r *Repository) Picture(path string) ([]byte, bool) {
	b, ok := r.Pictures[path]
	return b, ok
}

// Paths implements tool.Base.
func (r *Repository) Paths() []tool.Entry { return r.Entries }

// Read implements tool.Base.
func (r *Repository) Read(path string) ([]byte, error) {
	if b, ok := r.Texts[path]; ok {
		return b, nil
	}
	return nil, tool.ErrNotText
}

// Pack stores texts and pictures in packs, and notes their places in files.
func (s Rounds) Pack(ctx context.Context, ref admin.AgentRef, r *Repository, files []File) ([]string, error) {
	var packs []string
	var buf bytes.Buffer
	flush := func() error {
		key, err := s.keep(ctx, ref, "texts", buf.Bytes())
		packs = append(packs, key)
		buf.Reset()
		return err
	}
	for i := range files {
		b, ok := r.Texts[files[i].Path]
		if !ok {
			if b, ok = r.Pictures[files[i].Path]; !ok {
				continue
			}
			files[i].Picture = true
		}
		if buf.Len() > 0 && buf.Len()+len(b) > maxPack {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		files[i].Pack, files[i].Offset = len(packs)+1, int64(buf.Len())
		buf.Write(b)
	}
	if buf.Len() > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return packs, nil
}

// unpack reads what Pack stored of the files that want reports. The others are entries
// without text.
func (s Rounds) unpack(ctx context.Context, m *Manifest, want func(File) bool) (*Repository, error) {
	r := &Repository{Texts: map[string][]byte{}, Pictures: map[string][]byte{}}
	err := s.each(ctx, m, want, func(f File, b []byte) {
		if b = bytes.Clone(b); f.Picture {
			r.Pictures[f.Path] = b
		} else {
			r.Texts[f.Path] = b
		}
	})
	for _, f := range m.Files {
		_, text := r.Texts[f.Path]
		r.Entries = append(r.Entries, tool.Entry{Path: f.Path, Size: f.Size, Plain: f.Plain, ID: f.ID, LeftOut: f.LeftOut, Text: text})
	}
	return r, err
}

// each calls fn with what Pack stored of each file that want reports, in the order of the
// files. It reads no pack that has none of them. One pack is in memory at a time, so b is
// valid until fn returns.
func (s Rounds) each(ctx context.Context, m *Manifest, want func(File) bool, fn func(f File, b []byte)) error {
	var pack bytes.Buffer
	read := 0 // number of the pack
	for _, f := range m.Files {
		if f.Pack == 0 || !want(f) {
			continue
		}
		outside := f.Pack > len(m.Packs)
		if !outside && f.Pack != read {
			if pack.Cap() == 0 {
				pack.Grow(min(m.largest(), maxPack) + bytes.MinRead)
			}
			if err := s.fetch(ctx, m.Packs[f.Pack-1], &pack); err != nil {
				return err
			}
			read = f.Pack
		}
		if outside || f.Offset < 0 || f.Size < 0 || f.Offset+f.Size > int64(pack.Len()) {
			return fmt.Errorf("manifest of %s: %s lies outside its pack", m.Commit, f.Path)
		}
		fn(f, pack.Bytes()[f.Offset:f.Offset+f.Size:f.Offset+f.Size])
	}
	return nil
}

// largest returns the size of the largest pack.
func (m *Manifest) largest() (size int) {
	for _, f := range m.Files {
		if f.Pack > 0 {
			size = max(size, int(f.Offset+f.Size))
		}
	}
	return size
}

// Cut shortens s to at most n bytes, between characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
