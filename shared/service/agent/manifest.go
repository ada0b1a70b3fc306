package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Bounds of what Prepare keeps of a repository.
const (
	// maxText is the largest file that counts as text, in bytes. Longer ones
	// are there by path and size.
	maxText = 1 << 20
	// maxTexts is the most text of one repository, in bytes: Work has it in
	// memory.
	maxTexts = 256 << 20
	// maxPack is how much text one object holds, in bytes.
	maxPack = 16 << 20
	// maxInstructions is the most of AGENTS.md that the model reads, in bytes.
	maxInstructions = 16 << 10
)

// A manifest is what Prepare found: all files of a commit, and where the text
// of those that have one is kept.
type manifest struct {
	Commit string `json:"commit"`
	Ref    string `json:"ref"`
	// Root is the folder of the site in the repository, "" for the repository
	// itself.
	Root         string `json:"root,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	Files        []file `json:"files"` // sorted by path
	// Packs are the keys of the objects in which texts lie one after another.
	Packs []string `json:"packs"`
	// Findings is what a check says of the site as it is.
	Findings []check.Finding `json:"findings"`
}

// file is a file of the repository. Pack counts from 1; 0 means that its text
// is not kept.
type file struct {
	Path   string     `json:"path"`
	Size   int64      `json:"size"` // in bytes, -1 if unknown
	Mode   forge.Mode `json:"mode,omitempty"`
	Pack   int        `json:"pack,omitempty"`
	Offset int64      `json:"offset,omitempty"`
}

// roundPrefix is what the keys of a round's objects begin with.
func roundPrefix(ref admin.AgentRef) string {
	return fmt.Sprintf("agents/%s/%d/", ref.Job, ref.Round)
}

// keep stores an object under its digest and returns its key. One that is there
// already is the same one.
func (s *Steps) keep(ctx context.Context, ref admin.AgentRef, kind string, b []byte) (string, error) {
	sum := sha256.Sum256(b)
	digest := hex.EncodeToString(sum[:])
	key := roundPrefix(ref) + kind + "-" + digest
	_, err := s.opt.Objects.Put(ctx, key, bytes.NewReader(b), store.PutOptions{IfAbsent: true, SHA256: digest})
	if errors.Is(err, store.ErrExists) {
		err = nil
	}
	return key, err
}

// fetch reads an object that keep stored, and checks that it is what its key says.
func (s *Steps) fetch(ctx context.Context, key string) ([]byte, error) {
	r, err := s.opt.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	if _, digest, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], "-"); digest != hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("object %s: %w", key, store.ErrDigest)
	}
	return b, nil
}

// clean removes what a round kept, once it is over. What it misses is removed
// with the job.
func (s *Steps) clean(ctx context.Context, ref admin.AgentRef) {
	for {
		list, err := s.opt.Objects.List(ctx, roundPrefix(ref), "", 1000)
		keys := make([]string, len(list))
		for i, o := range list {
			keys[i] = o.Key
		}
		if err == nil && len(keys) > 0 {
			err = s.opt.Objects.Delete(ctx, keys...)
		}
		if err != nil {
			s.opt.Log.WarnContext(ctx, "what a round of an agent job kept was not removed", "job", ref.Job, "round", ref.Round, "error", err)
		}
		if err != nil || len(keys) == 0 {
			return
		}
	}
}

func (s *Steps) fetchJSON(ctx context.Context, key string, v any) error {
	b, err := s.fetch(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("object %s: %w", key, err)
	}
	return nil
}

func (s *Steps) keepJSON(ctx context.Context, ref admin.AgentRef, kind string, v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return s.keep(ctx, ref, kind, b)
}

// isText reports whether a file's bytes are text that a model can read and edit.
func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// repository is a commit's files in memory: tool.Base.
type repository struct {
	entries []tool.Entry
	texts   map[string][]byte
}

var _ tool.Base = (*repository)(nil)

// Paths implements tool.Base.
func (r *repository) Paths() []tool.Entry { return r.entries }

// Read implements tool.Base.
func (r *repository) Read(path string) ([]byte, error) {
	if b, ok := r.texts[path]; ok {
		return b, nil
	}
	return nil, tool.ErrNotText
}

// read makes the files of a fetched commit a repository in memory. It returns
// site_too_large where their text is over the limit.
func read(ctx context.Context, t *forge.Tree) (*repository, []file, error) {
	r := &repository{texts: map[string][]byte{}}
	var files []file
	var total int64
	for f := range t.Files() {
		if !fs.ValidPath(f.Path) { // a commit keeps the files that it doesn't name
			continue
		}
		e := file{Path: f.Path, Size: f.Size, Mode: f.Mode}
		entry := tool.Entry{Path: f.Path, Size: f.Size, Plain: f.Mode == forge.Regular}
		if (f.Mode == forge.Regular || f.Mode == forge.Executable) && f.Size >= 0 && f.Size <= maxText {
			b, err := readFile(ctx, t, f.Path)
			if err != nil {
				return nil, nil, err
			}
			if isText(b) {
				entry.Text, r.texts[f.Path] = true, b
				if total += int64(len(b)); total > maxTexts {
					return nil, nil, admin.Errorf(admin.CodeRepositoryBig, "the repository has more than %d MiB of text", maxTexts>>20)
				}
			}
		}
		files = append(files, e)
		r.entries = append(r.entries, entry)
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(r.entries, func(a, b tool.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return r, files, nil
}

func readFile(ctx context.Context, t *forge.Tree, path string) ([]byte, error) {
	f, err := t.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// pack stores the texts of files in packs and notes in files where each lies.
func (s *Steps) pack(ctx context.Context, ref admin.AgentRef, r *repository, files []file) ([]string, error) {
	var packs []string
	var buf bytes.Buffer
	flush := func() error {
		key, err := s.keep(ctx, ref, "texts", buf.Bytes())
		packs = append(packs, key)
		buf.Reset()
		return err
	}
	for i := range files {
		b, ok := r.texts[files[i].Path]
		if !ok {
			continue
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

// unpack reads what pack stored.
func (s *Steps) unpack(ctx context.Context, m *manifest) (*repository, error) {
	r := &repository{texts: map[string][]byte{}}
	packs := make([][]byte, len(m.Packs))
	for i, key := range m.Packs {
		b, err := s.fetch(ctx, key)
		if err != nil {
			return nil, err
		}
		packs[i] = b
	}
	for _, f := range m.Files {
		entry := tool.Entry{Path: f.Path, Size: f.Size, Plain: f.Mode == forge.Regular}
		if f.Pack > 0 {
			if f.Pack > len(packs) || f.Offset < 0 || f.Size < 0 || f.Offset+f.Size > int64(len(packs[f.Pack-1])) {
				return nil, fmt.Errorf("manifest of %s: %s lies outside its pack", m.Commit, f.Path)
			}
			entry.Text, r.texts[f.Path] = true, packs[f.Pack-1][f.Offset:f.Offset+f.Size:f.Offset+f.Size]
		}
		r.entries = append(r.entries, entry)
	}
	return r, nil
}

// siteRoot finds the folder of the site: the one that the project names, else
// the only one with a docs.json, else the highest.
func siteRoot(r *repository, want string) (string, error) {
	const name = "docs.json"
	if want != "" {
		if _, ok := r.texts[want+"/"+name]; !ok {
			return "", admin.Errorf(admin.CodeInvalidSite, "there is no %s in the folder %s of the repository", name, want)
		}
		return want, nil
	}
	var roots []string
	for _, e := range r.entries {
		if e.Path == name {
			return "", nil
		}
		if root, ok := strings.CutSuffix(e.Path, "/"+name); ok {
			roots = append(roots, root)
		}
	}
	if len(roots) == 0 {
		return "", admin.Errorf(admin.CodeInvalidSite, "the repository has no %s", name)
	}
	slices.SortStableFunc(roots, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	if len(roots) > 1 && strings.Count(roots[0], "/") == strings.Count(roots[1], "/") {
		return "", admin.Errorf(admin.CodeInvalidSite, "the repository has several sites (%s, %s); name the folder in the project's settings", roots[0], roots[1])
	}
	return roots[0], nil
}

// instructions returns what the repository tells agents, from the folder of the
// site or the repository's own.
func instructions(r *repository, root string) string {
	for _, folder := range []string{root, ""} {
		for _, name := range []string{".bindery/AGENTS.md", ".mintlify/AGENTS.md"} {
			if folder != "" {
				name = folder + "/" + name
			}
			if b, ok := r.texts[name]; ok {
				return cut(string(b), maxInstructions)
			}
		}
	}
	return ""
}

// cut shortens s to at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
