package functions_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFunctionsLinkOnlyWhatTheyCall holds which clients of AWS each function
// carries: each costs its part of every cold start.
func TestFunctionsLinkOnlyWhatTheyCall(t *testing.T) {
	const sdk = "github.com/aws/aws-sdk-go-v2"
	var (
		records   = []string{"dynamodb"}
		started   = []string{"dynamodb", "sfn"}
		objects   = []string{"dynamodb", "s3", "sts"}
		allOfThem = []string{"dynamodb", "s3", "sfn", "sts"}
	)
	// Of the agent's secrets, a function links what opens its own alone; and what
	// starts a round does not carry the renderer that checks.
	apart := map[string][]string{
		"agentprepare":    {"service/agent/setup/models"},
		"agentpublish":    {"service/agent/setup/models"},
		"agentreview":     {"service/forge", "service/agent/pull", "service/agent/setup/models", "service/cloud/kmsstore", "service/cloud/secretrow", "service/cloud/secretvalue"},
		"agentwork":       {"service/forge", "service/agent/pull", "service/cloud/kmsstore", "service/cloud/secretrow"},
		"agentfail":       {"service/forge", "service/agent", "service/cloud/kmsstore", "service/cloud/secretvalue"},
		"startagentjob":   {"service/agent", "render/check", "service/cloud/kmsstore", "service/cloud/secretvalue"},
		"getagentmodels":  {"service/agent", "service/forge", "render/check"},
		"messageagentjob": {"service/agent", "render/check", "service/cloud/kmsstore", "service/cloud/secretvalue"},
		"dashboard":       {"service/agent", "service/api", "service/export", "render/check", "render/page", "service/cloud/kmsstore"},
	}
	want := map[string][]string{
		"listexports": records, "cancelexport": started, "listfindings": objects, "listsnapshots": records, "restoresnapshot": objects,
		"getlive": records, "setlive": objects, "listlive": records, "getorganisation": records, "listprojects": records, "getusage": records,
		"openapi": nil, "getagentjob": records, "getagentmodels": records, "listagentjobs": records, "listagentevents": records, "cancelagentjob": records, "archiveagentjob": records,
		"getwebhooks": records, "createwebhook": records, "deletewebhook": records, "rotatewebhooksecret": records, "listdeliveries": records,
		"redeliver": records, "deliverwebhooks": records,
		"startagentjob": started, "messageagentjob": started, "getexport": records, "startexport": started,
		"createsnapshot": objects, "publishsnapshot": objects, "latestsnapshot": objects, "generatebundle": objects,
		"agentprepare": {"dynamodb", "kms", "s3", "sts"}, "agentwork": objects, "agentreview": objects, "agentpublish": {"dynamodb", "kms", "s3", "sts"}, "agentfail": records,
		"planexport": objects, "rendershard": objects, "assemblebundle": objects, "failexport": objects, "reconcile": allOfThem,
		"dashboard": allOfThem,
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./"+name).Output()
			check(t, err)
			var clients []string
			any := false
			for pkg := range strings.Lines(string(out)) {
				pkg = strings.TrimSpace(pkg)
				any = any || strings.HasPrefix(pkg, sdk)
				if client, ok := strings.CutPrefix(pkg, sdk+"/service/"); ok && !strings.Contains(client, "/") {
					clients = append(clients, client)
				}
			}
			slices.Sort(clients)
			if !slices.Equal(clients, want[name]) {
				t.Errorf("it links the clients of %v, want %v", clients, want[name])
			}
			for _, room := range apart[name] {
				if strings.Contains(string(out), "bindery/shared/"+room+"\n") {
					t.Errorf("it links %s", room)
				}
			}
			if any && want[name] == nil {
				t.Error("it links the SDK, and calls nothing")
			}
		})
	}
}

// TestFunctionsMakeNothingReadyAtTheStart holds that no package of ours that a
// function links compiles a regular expression or parses a template before main:
// all functions would pay for what few of their calls need. sync.OnceValue does it
// when it is needed first.
func TestFunctionsMakeNothingReadyAtTheStart(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}\n{{end}}{{end}}", "./...").Output()
	check(t, err)
	root, err := filepath.Abs("..")
	check(t, err)
	files := 0
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if name, err := filepath.Rel(root, path); err != nil || strings.HasPrefix(name, "..") {
			continue
		}
		files++
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		check(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && (fn.Recv != nil || fn.Name.Name != "init") {
				continue
			}
			var look func(ast.Node) bool
			look = func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if now, ok := n.Fun.(*ast.FuncLit); ok {
						ast.Inspect(now.Body, look)
					}
				case *ast.FuncLit:
					return false
				case *ast.SelectorExpr:
					from, ok := n.X.(*ast.Ident)
					if ok && (from.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "Must") ||
						from.Name == "template" && (n.Sel.Name == "Must" || n.Sel.Name == "New" || strings.HasPrefix(n.Sel.Name, "Parse"))) {
						t.Errorf("%s: %s.%s at the start of a program", fset.Position(n.Pos()), from.Name, n.Sel.Name)
					}
				}
				return true
			}
			ast.Inspect(d, look)
		}
	}
	if files < 300 {
		t.Errorf("only %d files were looked at", files)
	}
}
