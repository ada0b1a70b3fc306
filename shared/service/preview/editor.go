package preview

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// editors are those that open a window of their own, with what they are called with
// for a place: {file}, {line} and {column} stand for it.
var editors = map[string][]string{
	"code": {"--goto", "{file}:{line}:{column}"}, "code-insiders": {"--goto", "{file}:{line}:{column}"},
	"codium": {"--goto", "{file}:{line}:{column}"}, "cursor": {"--goto", "{file}:{line}:{column}"}, "windsurf": {"--goto", "{file}:{line}:{column}"},
	"zed": {"{file}:{line}:{column}"}, "subl": {"{file}:{line}:{column}"},
	"mate":  {"--line", "{line}:{column}", "{file}"},
	"gvim":  {"+{line}", "{file}"},
	"mvim":  {"+{line}", "{file}"},
	"gedit": {"{file}", "+{line}:{column}"},
	"kate":  {"--line", "{line}", "--column", "{column}", "{file}"},
	"idea":  jetbrains, "webstorm": jetbrains, "goland": jetbrains, "pycharm": jetbrains, "phpstorm": jetbrains, "rubymine": jetbrains,
	"emacsclient": {"--no-wait", "+{line}:{column}", "{file}"},
}

var jetbrains = []string{"--line", "{line}", "--column", "{column}", "{file}"}

// Editor returns what opens places of files in the editor that a command names, such
// as $VISUAL, if it is one that has a window of its own and takes a line. Otherwise
// the address of the place in Visual Studio Code is returned for a browser to open.
func Editor(command string) func(file string, line, column int) (string, error) {
	words := strings.Fields(command)
	var form []string
	if len(words) > 0 {
		form = editors[strings.TrimSuffix(strings.ToLower(filepath.Base(words[0])), ".exe")]
	}
	return func(file string, line, column int) (string, error) {
		line, column = max(line, 1), max(column, 1)
		if form == nil {
			u := url.URL{Scheme: "vscode", Host: "file", Path: fmt.Sprintf("/%s:%d:%d", strings.TrimPrefix(filepath.ToSlash(file), "/"), line, column)}
			return u.String(), nil
		}
		fill := strings.NewReplacer("{file}", file, "{line}", strconv.Itoa(line), "{column}", strconv.Itoa(column))
		// --wait is for programs that wait for the file.
		args := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return w == "--wait" || w == "-w" })
		for _, a := range form {
			args = append(args, fill.Replace(a))
		}
		cmd := exec.Command(words[0], args...)
		if err := cmd.Start(); err != nil {
			return "", err
		}
		go func() { _ = cmd.Wait() }()
		return "", nil
	}
}

// open opens the editor at a place of one of the site's files. Only pages of this
// server may ask for it, and only on this machine.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if s.opt.Open == nil || !own(r) || !here(r) {
		http.Error(w, "only the site's pages on this machine open the editor", http.StatusForbidden)
		return
	}
	var at struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&at); err != nil {
		http.Error(w, "the place can't be read", http.StatusBadRequest)
		return
	}
	file, err := s.place(at.File)
	if err != nil {
		http.Error(w, "the site has no such file", http.StatusNotFound)
		return
	}
	address, err := s.opt.Open(file, at.Line, at.Column)
	if err != nil {
		http.Error(w, "the editor could not be started: "+err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, map[string]string{"address": address})
}

// place returns where on this machine a file of the site lies. Names that lead out
// of the folder, by links too, are not files of the site.
func (s *Server) place(name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", fs.ErrNotExist
	}
	m, fault, _, done := s.view()
	defer done()
	listed := m != nil && slices.Contains(m.tree.Paths, name)
	if !listed && (fault == nil || fault.File != name) {
		return "", fs.ErrNotExist
	}
	dir, err := filepath.EvalSymlinks(s.opt.Dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	file, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(dir, file); err != nil || !filepath.IsLocal(rel) {
		return "", errors.Join(fs.ErrNotExist, err)
	}
	return file, nil
}
