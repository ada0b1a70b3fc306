package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// object is a piece of the document.
type object = map[string]any

// openapi is the document as it is written.
func openapi(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// document reads the OpenAPI document with its references resolved.
func document(t *testing.T) object {
	t.Helper()
	var doc object
	if err := json.Unmarshal(openapi(t), &doc); err != nil {
		t.Fatal(err)
	}
	return resolve(doc, doc).(object)
}

func resolve(doc object, v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		if ref, ok := v["$ref"].(string); ok {
			var target any = doc
			for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
				target = target.(object)[name]
			}
			maps.Copy(out, resolve(doc, target).(object))
		}
		for k, item := range v {
			if k != "$ref" {
				out[k] = resolve(doc, item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolve(doc, v[i])
		}
		return out
	}
	return v
}

// at walks down a document; what is not there is nil.
func at(v any, names ...string) any {
	for _, name := range names {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func keys(v any) []string {
	o, _ := v.(object)
	return slices.Sorted(maps.Keys(o))
}

// operationOf finds an operation of the document.
func operationOf(doc object, route api.Route) object {
	o, _ := at(doc, "paths", route.Path, strings.ToLower(route.Method)).(object)
	return o
}

func TestDocumentHasEveryRouteAndNoOther(t *testing.T) {
	doc := document(t)
	if v := at(doc, "info", "version"); v != "2.0.0" {
		t.Errorf("version is %v", v)
	}
	if v := at(doc, "openapi"); v != "3.1.0" {
		t.Errorf("it is OpenAPI %v", v)
	}
	var described []string
	for path, item := range doc["paths"].(object) {
		for method, op := range item.(object) {
			described = append(described, strings.ToUpper(method)+" "+path+" "+fmt.Sprint(at(op, "operationId")))
		}
	}
	var routes []string
	for _, route := range api.Routes(newWorld(t).options) {
		routes = append(routes, route.Method+" "+route.Path+" "+route.Operation)
		op := operationOf(doc, route)
		text := fmt.Sprint(at(op, "description"))
		for _, scope := range route.Scopes {
			if !strings.Contains(text, "`"+string(scope)+"`") {
				t.Errorf("%s does not say its scope %s", route.Operation, scope)
			}
		}
		if strings.Contains(text, "Enterprise") != (route.Plan == admin.PlanEnterprise) || strings.Contains(text, "Pro plan") != (route.Plan == admin.PlanPro) {
			t.Errorf("%s does not say its plan", route.Operation)
		}
		// The parameters are the path's, those of a list, and the key of every POST and PUT.
		var params, want []string
		for _, p := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(route.Path, -1) {
			want = append(want, "path "+p[1])
		}
		if takesKey(route) {
			want = append(want, "header "+api.HeaderIdempotencyKey)
		}
		list, _ := at(op, "parameters").([]any)
		if strings.HasPrefix(route.Operation, "list") {
			filters := map[string][]string{
				"listAgentJobs": {"status"}, "listExports": {"domain", "status"}, "listFindings": {"severity", "code", "file"},
			}[route.Operation]
			for _, name := range append(filters, "cursor", "limit") {
				want = append(want, "query "+name)
			}
		}
		if route.Operation == "listAgentEvents" {
			want = append(want, "query wait")
		}
		if route.Operation == "getUsage" {
			want = append(want, "query month")
		}
		for _, p := range list {
			params = append(params, fmt.Sprint(at(p, "in"), " ", at(p, "name")))
		}
		if d := cmp.Diff(want, params); d != "" {
			t.Errorf("%s: parameters\n%s", route.Operation, d)
		}
	}
	slices.Sort(described)
	slices.Sort(routes)
	if d := cmp.Diff(routes, described); d != "" {
		t.Error(d)
	}
}

// TestDocumentHasEveryField compares schemas with the types that go over the
// wire: names, which are required, their JSON types, which may be null.
func TestDocumentHasEveryField(t *testing.T) {
	doc := document(t)
	types := map[string]reflect.Type{}
	for _, v := range []any{
		api.StartExportRequest{}, api.ExportJob{}, api.Changes{}, api.Since{}, api.Failure{}, api.BundleLink{}, api.AgentJob{}, api.AgentSource{},
		api.StartAgentJobRequest{}, api.MessageRequest{}, api.Attachment{}, api.AgentUsage{}, api.AgentChanges{}, api.AgentPage{}, api.AgentModels{}, api.AgentModel{}, api.AgentJobs{}, api.AgentEvents{},
		api.AgentEvent{}, api.AgentAttachment{}, api.AgentToolCall{}, api.AgentPlanItem{},
		api.CreateWebhookRequest{}, api.Webhook{}, api.NewWebhook{}, api.Webhooks{}, api.Deliveries{}, api.Delivery{},
		api.CreateSnapshotRequest{}, api.CreateSnapshotResponse{}, api.Upload{}, api.Snapshot{}, api.ManifestLink{},
		api.ExportJobs{}, api.Findings{}, api.Finding{}, api.RestoreSnapshotRequest{}, api.Snapshots{}, api.SnapshotSummary{},
		api.Organisation{}, api.OrganisationLimits{}, api.Live{}, api.LiveMove{}, api.LiveMoves{}, api.SkippedVersion{}, api.Actor{}, api.SetLiveRequest{}, api.Projects{}, api.Project{}, api.Features{}, api.Usage{}, api.Calls{},
	} {
		types[reflect.TypeOf(v).Name()] = reflect.TypeOf(v)
	}
	types["Error"] = reflect.TypeFor[api.ErrorBody]()
	types["Pack"], types["Manifest"] = reflect.TypeFor[api.Blob](), reflect.TypeFor[api.Blob]()
	if d := cmp.Diff(slices.Sorted(maps.Keys(types)), keys(at(doc, "components", "schemas"))); d != "" {
		t.Fatal(d)
	}
	for name, typ := range types {
		schema := at(doc, "components", "schemas", name)
		if at(schema, "additionalProperties") != false {
			t.Errorf("%s allows other fields", name)
		}
		var fields, required, described, must []string
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous {
				continue
			}
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields = append(fields, field+" "+jsonType(f.Type, options))
			if options == "" {
				required = append(required, field)
			}
		}
		for _, field := range keys(at(schema, "properties")) {
			described = append(described, field+" "+fmt.Sprint(at(schema, "properties", field, "type")))
		}
		list, _ := at(schema, "required").([]any)
		for _, field := range list {
			must = append(must, field.(string))
		}
		slices.Sort(fields)
		slices.Sort(required)
		slices.Sort(must)
		if d := cmp.Diff(fields, described); d != "" {
			t.Errorf("%s: fields\n%s", name, d)
		}
		if d := cmp.Diff(required, must); d != "" {
			t.Errorf("%s: required\n%s", name, d)
		}
	}
}

func jsonType(typ reflect.Type, options string) string {
	if typ.Kind() == reflect.Pointer {
		if options != "" { // absent, not null
			return jsonType(typ.Elem(), "")
		}
		return "[" + jsonType(typ.Elem(), "") + " null]"
	}
	switch {
	case typ == reflect.TypeFor[time.Time](), typ == reflect.TypeFor[[]byte](), typ.Kind() == reflect.String:
		return "string"
	case typ.Kind() == reflect.Int, typ.Kind() == reflect.Int64:
		return "integer"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	case typ.Kind() == reflect.Slice:
		return "array"
	}
	return "object"
}

// TestDocumentHasTheRulesOfRequests: patterns and limits are those that are
// kept.
func TestDocumentHasTheRulesOfRequests(t *testing.T) {
	doc := document(t)
	start := at(doc, "components", "schemas", "StartExportRequest", "properties")
	create := at(doc, "components", "schemas", "CreateSnapshotRequest", "properties")
	agent := at(doc, "components", "schemas", "StartAgentJobRequest", "properties")
	enterprise, _ := admin.AgentPlanOf(admin.PlanEnterprise)
	parameters := at(doc, "components", "parameters")
	for name, pattern := range map[string]string{
		"AgentJobCursor": admin.AgentCursorPattern, "EventCursor": admin.EventCursorPattern, "ExportCursor": admin.ExportCursorPattern,
		"FindingsCursor": admin.FindingsCursorPattern, "ProjectCursor": admin.ProjectCursorPattern, "Month": admin.MonthPattern,
		"DeliveryCursor": admin.DeliveryCursorPattern, "LiveCursor": admin.LiveCursorPattern,
	} {
		if at(parameters, name, "schema", "pattern") != pattern {
			t.Errorf("the pattern of %s differs", name)
		}
	}
	if got := fmt.Sprint(at(doc, "components", "schemas", "AgentPage", "properties", "change", "enum")); got != fmt.Sprint(admin.AgentPageChanges()) {
		t.Errorf("changes of pages are %s", got)
	}
	if got := fmt.Sprint(at(doc, "components", "schemas", "AgentEvent", "properties", "kind", "enum")); got != fmt.Sprint(admin.AgentEventKinds()) {
		t.Errorf("the kinds of events are %s", got)
	}
	for _, schema := range []any{
		at(doc, "components", "schemas", "CreateWebhookRequest", "properties", "events", "items"), at(doc, "components", "schemas", "Webhook", "properties", "events", "items"),
		at(doc, "components", "schemas", "NewWebhook", "properties", "events", "items"), at(doc, "components", "schemas", "Delivery", "properties", "event"),
	} {
		if got := fmt.Sprint(at(schema, "enum")); got != fmt.Sprint(admin.WebhookEvents()) {
			t.Errorf("the events are %s", got)
		}
	}
	if got := fmt.Sprint(at(doc, "components", "schemas", "SetLiveRequest", "properties", "action", "enum")); got != fmt.Sprint(admin.LiveActions()) {
		t.Errorf("the actions on what is live are %s", got)
	}
	if got := fmt.Sprint(at(doc, "components", "schemas", "Delivery", "properties", "status", "enum")); got != fmt.Sprint(admin.DeliveryStatuses()) {
		t.Errorf("the states of deliveries are %s", got)
	}
	if at(parameters, "Limit", "schema", "maximum") != float64(admin.MaxPage) || at(parameters, "Limit", "schema", "default") != float64(admin.DefaultPage) {
		t.Error("the limits of pages differ")
	}
	for _, c := range []struct {
		schema  any
		pattern string
		most    int
	}{
		{at(start, "domain"), admin.DomainPattern, admin.MaxDomain},
		{at(parameters, "Domain", "schema"), admin.DomainPattern, admin.MaxDomain},
		{at(start, "version"), admin.VersionPattern, admin.MaxVersion},
		{at(start, "paths", "items"), admin.PathPattern, admin.MaxPath},
		{at(start, "groups", "items"), admin.GroupPattern, admin.MaxGroup},
		{at(create, "base"), admin.SnapshotPattern, admin.MaxID},
		{at(doc, "components", "schemas", "RestoreSnapshotRequest", "properties", "base"), admin.SnapshotPattern, admin.MaxID},
		{at(parameters, "SnapshotCursor", "schema"), admin.SnapshotPattern, admin.MaxID},
		{at(parameters, "ExportDomain", "schema"), admin.DomainPattern, admin.MaxDomain},
		{at(parameters, "FindingCode", "schema"), admin.FindingCodePattern, admin.MaxFindingCode},
		{at(agent, "ref"), admin.RefPattern, admin.MaxRef},
		{at(agent, "model"), admin.ModelPattern, admin.MaxModel},
		{at(doc, "components", "schemas", "Attachment", "properties", "name"), admin.AttachmentPattern, admin.MaxAttachmentName},
		{at(agent, "prompt"), admin.PromptPattern, enterprise.Prompt},
		{at(doc, "components", "schemas", "MessageRequest", "properties", "prompt"), admin.PromptPattern, enterprise.Prompt},
		{at(parameters, "IdempotencyKey", "schema"), admin.IdempotencyPattern, admin.MaxIdempotencyKey},
	} {
		if at(c.schema, "pattern") != c.pattern || at(c.schema, "maxLength") != float64(c.most) || at(c.schema, "minLength") != 1.0 {
			t.Errorf("schema is %v, want pattern %s and at most %d", c.schema, c.pattern, c.most)
		}
	}
	if at(create, "manifest", "properties", "sha256", "pattern") != admin.DigestPattern {
		t.Error("the pattern of digests differs")
	}
	if at(start, "paths", "maxItems") != float64(admin.MaxPaths) || at(start, "groups", "maxItems") != float64(admin.MaxGroups) || at(create, "packs", "maxItems") != float64(admin.MaxPacks) {
		t.Error("the limits of lists differ")
	}
	for _, schema := range []string{"StartAgentJobRequest", "MessageRequest"} {
		if at(doc, "components", "schemas", schema, "properties", "attachments", "maxItems") != float64(admin.MaxAttachments) {
			t.Errorf("the limit of files of a %s differs", schema)
		}
	}
	if at(doc, "components", "schemas", "Attachment", "properties", "data", "maxLength") != float64(base64.StdEncoding.EncodedLen(admin.MaxAttached)) {
		t.Error("the size of files differs")
	}
	for schema, most := range map[string]int64{"Pack": admin.MaxPackObject, "Manifest": admin.MaxManifestBytes} {
		if got := at(doc, "components", "schemas", schema, "properties", "sizeBytes", "maximum"); got != float64(most) {
			t.Errorf("%s: sizeBytes is at most %v, want %d", schema, got, most)
		}
	}
	for schema, values := range map[string][]string{
		"ExportJob": {"queued", "running", "completed", "failed"}, "AgentJob": {"active", "completed", "archived", "failed"},
	} {
		if got := fmt.Sprint(at(doc, "components", "schemas", schema, "properties", "status", "enum")); got != fmt.Sprint(values) {
			t.Errorf("%s: status is one of %s", schema, got)
		}
	}
}

// takesKey reports whether an operation takes an Idempotency-Key.
func takesKey(r api.Route) bool { return r.Method == http.MethodPost || r.Method == http.MethodPut }

// TestDocumentHasEveryAnswer makes each operation give each answer that is
// described, and no other: status, headers, and a body of the schema.
func TestDocumentHasEveryAnswer(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	gone := must2(w, x, "gone").ID
	must(w, 0, w.BeginExport(w.ctx, gone, admin.ExportPlan{Renderer: "r"}))
	w.complete(gone)
	must(w, 0, w.objects.Delete(w.ctx, "exports/"+gone+"/bundle.tar.gz", admin.FindingsKey(gone)))
	failed := must2(w, x, "failed").ID
	must(w, 0, w.FailExport(w.ctx, failed, admin.CodeInvalidSite, "no"))
	incomplete := w.upload(x, x.published, "m", "p", false, false)
	full := w.tenant("full.example.com")
	for range 3 {
		must2(w, full, "")
	}
	reader := w.key(x.ID, func(r *admin.KeyRequest) {
		r.AllowedAddresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.1/32")}
	})
	broken := func(get func() error) http.Handler {
		o := w.options
		o.Admin = admin.New(admin.Options{Store: brokenStore{w.store, get}, Objects: w.objects})
		return api.Handler(o)
	}
	fault := broken(func() error { return errTable })
	slow := broken(func() error { return admin.Errorf(admin.CodeTemporary, "again").After(time.Second) })

	const blobs = `{"manifest":{"sha256":"%s","sizeBytes":%d},"packs":[{"sha256":"%s","sizeBytes":1}]}`
	const jobs, site = "/v1/static-export/jobs", "/v1/sites/docs.example.com/snapshots"
	create := fmt.Sprintf(blobs, digest("m"), 1, digest("p"))
	good := map[string]func(tenant) *http.Request{
		"startExport": func(x tenant) *http.Request {
			return x.post(jobs, `{"domain":"`+x.project.Domain+`"}`)
		},
		"getExport":         func(x tenant) *http.Request { return x.get(jobs + "/" + x.running) },
		"generateBundle":    func(x tenant) *http.Request { return x.post(jobs+"/"+x.done+"/bundle", "") },
		"getAgentJob":       func(x tenant) *http.Request { return x.get("/v2/agent/" + x.project.ID + "/job/" + x.agent) },
		"getLatestSnapshot": func(x tenant) *http.Request { return x.get("/v1/sites/" + x.project.Domain + "/snapshots/latest") },
		"createSnapshot":    func(x tenant) *http.Request { return x.post("/v1/sites/"+x.project.Domain+"/snapshots", create) },
		"publishSnapshot": func(x tenant) *http.Request {
			return x.post("/v1/sites/"+x.project.Domain+"/snapshots/"+x.pending+"/publish", "")
		},
	}
	ending := must2(w, x, "ending").ID
	good["listExports"] = func(x tenant) *http.Request { return x.get(jobs + "?status=completed&domain=" + x.project.Domain) }
	good["cancelExport"] = func(x tenant) *http.Request {
		id := ending
		if x.ID == full.ID {
			id = full.running
		}
		return x.post(jobs+"/"+id+"/cancel", "")
	}
	good["listFindings"] = func(x tenant) *http.Request { return x.get(jobs + "/" + x.done + "/findings?severity=warning&limit=1") }
	good["listSnapshots"] = func(x tenant) *http.Request { return x.get("/v1/sites/" + x.project.Domain + "/snapshots?limit=1") }
	good["restoreSnapshot"] = func(x tenant) *http.Request {
		return x.post("/v1/sites/"+x.project.Domain+"/snapshots/"+x.published+"/restore", `{"base":"`+x.pending+`"}`)
	}
	// A job that went live, and one after it that was rolled back.
	livePath := "/v1/sites/" + x.project.Domain + "/live"
	deployer := w.key(x.ID, func(r *admin.KeyRequest) {
		r.Scopes = []admin.Scope{admin.ScopeRead, admin.ScopeWrite, admin.ScopeDeploy}
	})
	sets := func(body string) *http.Request {
		return request("PUT", livePath, deployer, body)
	}
	var deploys []string
	for range 3 {
		j, err := w.StartExport(w.ctx, w.Operator(x.ID), admin.StartExport{Domain: x.project.Domain, GoLive: true})
		must(w, 0, err)
		must(w, 0, w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r"}))
		w.complete(j.ID)
		deploys = append(deploys, j.ID)
		w.Advance(time.Second)
	}
	must(w, 0, w.objects.Delete(w.ctx, "exports/"+deploys[0]+"/bundle.tar.gz"))
	w.do(sets(`{"action":"rollback","from":"`+deploys[2]+`"}`)).want(200, "")
	good["getLive"] = func(tenant) *http.Request { return x.get(livePath) }
	good["setLive"] = func(owner tenant) *http.Request {
		if owner.ID != x.ID {
			return sets(`{"action":"hold"}`) // another request
		}
		return sets(`{"action":"promote","jobId":"` + deploys[2] + `"}`)
	}
	good["listLive"] = func(tenant) *http.Request { return x.get(livePath + "/history?limit=1") }
	good["getOrganisation"] = func(x tenant) *http.Request { return x.get("/v1/organisation") }
	good["listProjects"] = func(x tenant) *http.Request { return x.get("/v1/projects?limit=1") }
	good["getUsage"] = func(x tenant) *http.Request { return x.get("/v1/usage?month=2026-03") }
	agent := func(project, id string) string { return "/v2/agent/" + project + "/job/" + id }
	const prompt = `{"prompt":"mend the links"}`
	good["startAgentJob"] = func(x tenant) *http.Request { return x.post("/v2/agent/"+x.idle.ID+"/job", prompt) }
	good["getAgentModels"] = func(x tenant) *http.Request { return x.get("/v2/agent/" + x.project.ID + "/models") }
	good["listAgentJobs"] = func(x tenant) *http.Request {
		return x.get("/v2/agent/" + x.project.ID + "/jobs?limit=1&status=active")
	}
	good["listAgentEvents"] = func(x tenant) *http.Request { return x.get(agent(x.project.ID, x.agent) + "/events?limit=1&cursor=1") }
	good["messageAgentJob"] = func(x tenant) *http.Request { return x.post(agent(x.project.ID, x.agent)+"/message", prompt) }
	good["cancelAgentJob"] = func(x tenant) *http.Request { return x.post(agent(x.project.ID, x.agent)+"/cancel", "") }
	good["archiveAgentJob"] = func(x tenant) *http.Request {
		return x.post(agent(x.doneAgent.Project, x.doneAgent.ID)+"/archive", "")
	}
	const hooks, hook = "/v1/webhooks", `{"url":"https://hooks.example.com/","events":["key.created"]}`
	manager := w.key(x.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeManage} })
	manages := func(r *http.Request) *http.Request { return with(r, "Authorization", "Bearer "+manager) }
	webhook, again, unsent := w.webhook(x)
	spare, _, _ := w.webhook(x)
	of := func(owner tenant) string { // another tenant's request is another request
		if owner.ID == x.ID {
			return hooks + "/" + webhook
		}
		return hooks + "/" + spare
	}
	good["getWebhooks"] = func(x tenant) *http.Request { return manages(x.get(hooks)) }
	good["createWebhook"] = func(x tenant) *http.Request {
		return manages(x.post(hooks, strings.Replace(hook, "hooks", "hooks."+x.project.Domain, 1)))
	}
	good["deleteWebhook"] = func(x tenant) *http.Request { return manages(request("DELETE", hooks+"/"+spare, "", "")) }
	good["rotateWebhookSecret"] = func(x tenant) *http.Request { return manages(x.post(of(x)+"/secret", "")) }
	good["listDeliveries"] = func(x tenant) *http.Request { return manages(x.get(of(x) + "/deliveries?limit=1")) }
	good["redeliver"] = func(x tenant) *http.Request { return manages(x.post(of(x)+"/deliveries/"+again+"/redeliver", "")) }
	crowded := w.key(full.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeManage} })
	for range admin.MaxWebhooks {
		w.webhook(full)
	}
	// A job that is publishing, and one of a project with all starts of the hour.
	publishing := w.agentIn(x, "publishing.example.com")
	_, err := w.BeginAgentRound(w.ctx, publishing.Current(), admin.AgentBase{Commit: "c1"})
	must(w, 0, err)
	_, err = w.BeginAgentPublish(w.ctx, publishing.Current(), 1)
	must(w, 0, err)
	w.Advance(time.Second)
	crowd := w.agentIn(x, "crowd.example.com")
	must(w, 0, w.FailAgent(w.ctx, crowd.Current(), admin.CodeLoop, ""))
	for range 99 {
		_, err = w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: crowd.Project, Prompt: "p"})
		must(w, 0, err)
	}
	archived := w.agentIn(x, "archived.example.com")
	must(w, 0, w.FailAgent(w.ctx, archived.Current(), admin.CodeLoop, ""))
	_, err = w.ArchiveAgentJob(w.ctx, x.caller, archived.Project, archived.ID, "")
	must(w, 0, err)
	success := map[string]int{
		"startAgentJob": 201, "getAgentModels": 200, "listAgentJobs": 200, "listAgentEvents": 200, "messageAgentJob": 200, "cancelAgentJob": 200, "archiveAgentJob": 200,
		"getWebhooks": 200, "createWebhook": 201, "deleteWebhook": 204, "rotateWebhookSecret": 200, "listDeliveries": 200, "redeliver": 200,
		"startExport": 202, "getExport": 200, "generateBundle": 200, "getAgentJob": 200, "getLatestSnapshot": 200,
		"createSnapshot": 201, "publishSnapshot": 200, "listExports": 200, "cancelExport": 200, "listFindings": 200, "listSnapshots": 200,
		"restoreSnapshot": 200, "getLive": 200, "setLive": 200, "listLive": 200, "getOrganisation": 200, "listProjects": 200, "getUsage": 200,
	}
	// What is special to an operation; the rest follows from its route.
	special := map[string]map[int]*http.Request{
		"startExport": {
			409: x.post(jobs, `{"domain":"docs.example.com","version":"v1","paths":["a"]}`),
			429: full.post(jobs, `{"domain":"full.example.com"}`),
			404: x.post(jobs, `{"domain":"none.example.com"}`),
			400: x.post(jobs, `{"domain":"None"}`),
			413: x.post(jobs, strings.Repeat(" ", 70000)),
			415: with(x.post(jobs, "{}"), "Content-Type", "text/plain"),
		},
		"getExport":   {404: x.get(jobs + "/none")},
		"listExports": {400: x.get(jobs + "?status=none")},
		"cancelExport": {
			404: x.post(jobs+"/none/cancel", ""), 409: x.post(jobs+"/"+x.done+"/cancel", ""),
			400: x.post(jobs+"/"+x.running+"/cancel", "{}"), 413: x.post(jobs+"/"+x.running+"/cancel", strings.Repeat(" ", 70000)),
		},
		"listFindings": {
			404: x.get(jobs + "/none/findings"), 409: x.get(jobs + "/" + x.running + "/findings"), 410: x.get(jobs + "/" + gone + "/findings"),
			400: x.get(jobs + "/" + x.done + "/findings?code=A"),
		},
		"listSnapshots": {404: x.get("/v1/sites/none.example.com/snapshots"), 400: x.get(site + "?cursor=snp")},
		"restoreSnapshot": {
			404: x.post(site+"/none/restore", `{"base":"`+x.published+`"}`), 400: x.post(site+"/"+x.published+"/restore", `{"base":"x"}`),
			409: x.post(site+"/"+incomplete+"/restore", `{"base":"`+x.published+`"}`), 413: x.post(site+"/"+x.published+"/restore", strings.Repeat(" ", 70000)),
			415: with(x.post(site+"/"+x.published+"/restore", `{"base":"`+x.published+`"}`), "Content-Type", "text/plain"),
		},
		"getLive":  {400: x.get(livePath + "?x=1"), 404: x.get("/v1/sites/none.example.com/live")},
		"listLive": {400: x.get(livePath + "/history?cursor=1"), 404: x.get("/v1/sites/none.example.com/live/history")},
		"setLive": {
			400: sets(`{"action":"publish"}`), 404: sets(`{"action":"promote","jobId":"none"}`),
			409: sets(`{"action":"rollback","from":"none"}`), 410: sets(`{"action":"promote","jobId":"` + deploys[0] + `"}`),
			413: sets(strings.Repeat(" ", 70000)), 415: with(sets(`{"action":"hold"}`), "Content-Type", "text/plain"),
		},
		"getOrganisation": {400: x.get("/v1/organisation?x=1")},
		"listProjects":    {400: x.get("/v1/projects?cursor=1")},
		"getUsage":        {400: x.get("/v1/usage?month=2026-13")},
		"generateBundle": {
			404: x.post(jobs+"/none/bundle", ""), 409: x.post(jobs+"/"+x.running+"/bundle", ""), 410: x.post(jobs+"/"+gone+"/bundle", ""),
			400: x.post(jobs+"/"+x.done+"/bundle", "{}"), 413: x.post(jobs+"/"+x.done+"/bundle", strings.Repeat(" ", 70000)),
		},
		"startAgentJob": {
			400: x.post("/v2/agent/"+x.idle.ID+"/job", `{"prompt":""}`), 404: x.post("/v2/agent/none/job", prompt),
			409: x.post("/v2/agent/"+x.idle.ID+"/job", `{"prompt":"p","model":"unknown"}`), 429: x.post("/v2/agent/"+crowd.Project+"/job", prompt),
			413: x.post("/v2/agent/"+x.idle.ID+"/job", strings.Repeat(" ", 2<<20+1)), 415: with(x.post("/v2/agent/"+x.idle.ID+"/job", prompt), "Content-Type", "text/plain"),
		},
		"getAgentModels":  {404: x.get("/v2/agent/none/models")},
		"listAgentJobs":   {404: x.get("/v2/agent/none/jobs"), 400: x.get("/v2/agent/" + x.project.ID + "/jobs?limit=0")},
		"listAgentEvents": {404: x.get(agent(x.project.ID, "none") + "/events"), 400: x.get(agent(x.project.ID, x.agent) + "/events?from=1")},
		"messageAgentJob": {
			400: x.post(agent(x.project.ID, x.agent)+"/message", `{"prompt":"p","model":"m"}`), 404: x.post(agent(x.project.ID, "none")+"/message", prompt),
			409: x.post(agent(archived.Project, archived.ID)+"/message", prompt), 429: x.post(agent(crowd.Project, crowd.ID)+"/message", prompt),
			413: x.post(agent(x.project.ID, x.agent)+"/message", strings.Repeat(" ", 2<<20+1)), 415: with(x.post(agent(x.project.ID, x.agent)+"/message", prompt), "Content-Type", "text/plain"),
		},
		"cancelAgentJob": {
			400: x.post(agent(x.project.ID, x.agent)+"/cancel", "{}"), 404: x.post(agent(x.project.ID, "none")+"/cancel", ""),
			409: x.post(agent(publishing.Project, publishing.ID)+"/cancel", ""), 413: x.post(agent(x.project.ID, x.agent)+"/cancel", strings.Repeat(" ", 70000)),
		},
		"archiveAgentJob": {
			400: x.post(agent(x.project.ID, x.agent)+"/archive", "{}"), 404: x.post(agent(x.project.ID, "none")+"/archive", ""),
			409: x.post(agent(publishing.Project, publishing.ID)+"/archive", ""), 413: x.post(agent(x.project.ID, x.agent)+"/archive", strings.Repeat(" ", 70000)),
		},
		"createWebhook": {
			400: manages(x.post(hooks, `{"url":"http://hooks.example.com/","events":["key.created"]}`)), 409: with(full.post(hooks, hook), "Authorization", "Bearer "+crowded),
			413: manages(x.post(hooks, strings.Repeat(" ", 70000))), 415: manages(with(x.post(hooks, hook), "Content-Type", "text/plain")),
		},
		"deleteWebhook": {404: manages(request("DELETE", hooks+"/none", "", ""))},
		"rotateWebhookSecret": {
			400: manages(x.post(of(x)+"/secret", "{}")), 404: manages(x.post(hooks+"/none/secret", "")), 413: manages(x.post(of(x)+"/secret", strings.Repeat(" ", 70000))),
		},
		"listDeliveries": {400: manages(x.get(of(x) + "/deliveries?cursor=x")), 404: manages(x.get(hooks + "/none/deliveries"))},
		"redeliver": {
			400: manages(x.post(of(x)+"/deliveries/"+again+"/redeliver", "{}")), 404: manages(x.post(of(x)+"/deliveries/none/redeliver", "")),
			409: manages(x.post(of(x)+"/deliveries/"+unsent+"/redeliver", "")), 413: manages(x.post(of(x)+"/deliveries/"+again+"/redeliver", strings.Repeat(" ", 70000))),
		},
		"getAgentJob":       {404: x.get("/v2/agent/" + x.project.ID + "/job/none")},
		"getLatestSnapshot": {404: x.get("/v1/sites/none.example.com/snapshots/latest"), 400: x.get("/v1/sites/None/snapshots/latest")},
		"createSnapshot": {
			404: x.post("/v1/sites/none.example.com/snapshots", create),
			400: x.post(site, "{}"), 413: x.post(site, fmt.Sprintf(blobs, digest("m"), 1<<40, digest("p"))),
			409: x.post(site, strings.Replace(create, `"packs":[`, `"packs":[{"sha256":"`+digest("p")+`","sizeBytes":2},`, 1)),
			415: with(x.post(site, create), "Content-Type", "application/xml"),
		},
		"publishSnapshot": {
			404: x.post(site+"/none/publish", ""), 409: x.post(site+"/"+incomplete+"/publish", ""),
			400: x.post(site+"/"+x.pending+"/publish", "{}"), 413: x.post(site+"/"+x.pending+"/publish", strings.Repeat(" ", 70000)),
		},
	}
	doc := document(t)
	for _, route := range api.Routes(w.options) {
		responses := at(operationOf(doc, route), "responses")
		request := good[route.Operation]
		check := func(res response, status int) {
			t.Helper()
			if res.StatusCode != status {
				t.Errorf("%s: %d, want %d: %s", res.what, res.StatusCode, status, res.body)
				return
			}
			conforms(t, res, at(responses, itoa(status)))
		}
		seen := []string{"401", "403", "500", "503", itoa(success[route.Operation])}
		r := request(x)
		r.Header.Del("Authorization")
		check(w.do(r), 401)
		check(w.do(with(request(x), "Authorization", "Bearer "+reader)), 403)
		check(doWith(t, fault, request(x)), 500)
		check(doWith(t, slow, request(x)), 503)
		for status, r := range special[route.Operation] {
			check(w.do(r), status)
			seen = append(seen, itoa(status))
		}
		if takesKey(route) {
			key := "key-of-" + route.Operation
			check(w.do(with(request(x), api.HeaderIdempotencyKey, key)), success[route.Operation])
			other := request(full) // the other tenant's site: another request
			if !slices.Contains(route.Scopes, admin.ScopeManage) && !slices.Contains(route.Scopes, admin.ScopeDeploy) {
				other.Header.Set("Authorization", "Bearer "+x.secret)
			}
			check(w.do(with(other, api.HeaderIdempotencyKey, key)), 422)
			seen = append(seen, "422")
		} else {
			check(w.do(request(x)), success[route.Operation])
		}
		slices.Sort(seen)
		if d := cmp.Diff(keys(responses), seen); d != "" {
			t.Errorf("%s: described, but not tried (-), or the other way round (+):\n%s", route.Operation, d)
		}
	}
	// Bodies in other states.
	get := at(doc, "paths", jobs+"/{jobId}", "get", "responses", "200")
	for _, id := range []string{x.done, failed, gone} {
		conforms(t, w.do(x.get(jobs+"/"+id)).want(200, ""), get)
	}
	conforms(t, w.do(good["getAgentJob"](x)).want(200, ""), at(doc, "paths", "/v2/agent/{projectId}/job/{id}", "get", "responses", "200"))
}

// usual are headers that need no description.
var usual = map[string]bool{"Content-Type": true, "Content-Length": true, "X-Content-Type-Options": true}

// conforms compares an answer with its description.
func conforms(t *testing.T, res response, described any) {
	t.Helper()
	if described == nil {
		t.Errorf("%s: %d is not described", res.what, res.StatusCode)
		return
	}
	for name := range res.Header {
		if at(described, "headers", http.CanonicalHeaderKey(name)) == nil && at(described, "headers", strings.Replace(name, "Www", "WWW", 1)) == nil && !usual[name] {
			t.Errorf("%s: %d has the header %s, which is not described", res.what, res.StatusCode, name)
		}
	}
	for _, name := range keys(at(described, "headers")) {
		if at(described, "headers", name, "required") == true && res.Header.Get(name) == "" {
			t.Errorf("%s: %d lacks the header %s", res.what, res.StatusCode, name)
		}
	}
	if res.StatusCode == http.StatusNoContent {
		return
	}
	var body any
	res.into(&body)
	if fault := fits(at(described, "content", "application/json", "schema"), body); fault != "" {
		t.Errorf("%s: %d: %s in %s", res.what, res.StatusCode, fault, res.body)
	}
}

// fits says how a value does not fit a schema, of those keywords that our
// document uses, or "".
func fits(schema, v any) string {
	types, ok := at(schema, "type").([]any)
	if !ok {
		types = []any{at(schema, "type")}
	}
	typ := map[bool]string{true: "string", false: "object"}[reflect.ValueOf(v).Kind() == reflect.String]
	switch x := v.(type) {
	case nil:
		typ = "null"
	case bool:
		typ = "boolean"
	case []any:
		typ = "array"
	case float64:
		typ = "integer"
		if at(schema, "minimum") != nil && x < at(schema, "minimum").(float64) || at(schema, "maximum") != nil && x > at(schema, "maximum").(float64) {
			return fmt.Sprint(x, " is out of bounds")
		}
	}
	if !slices.Contains(types, any(typ)) {
		return fmt.Sprintf("%v is %s, want %v", v, typ, types)
	}
	if c := at(schema, "const"); c != nil && v != c {
		return fmt.Sprintf("%v is not %v", v, c)
	}
	if enum, ok := at(schema, "enum").([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%v is none of %v", v, enum)
	}
	switch x := v.(type) {
	case string:
		if p, ok := at(schema, "pattern").(string); ok && !regexp.MustCompile(p).MatchString(x) {
			return fmt.Sprintf("%q does not match %s", x, p)
		}
		if at(schema, "format") == "date-time" {
			if at, err := time.Parse(time.RFC3339Nano, x); err != nil || at.Location() != time.UTC {
				return fmt.Sprintf("%q is no time in UTC", x)
			}
		}
	case []any:
		for i, item := range x {
			if fault := fits(at(schema, "items"), item); fault != "" {
				return fmt.Sprintf("[%d]: %s", i, fault)
			}
		}
	case object:
		for name, item := range x {
			s := at(schema, "properties", name)
			if s == nil {
				s = at(schema, "additionalProperties")
			}
			if _, ok := s.(object); !ok {
				return name + " is not described"
			}
			if fault := fits(s, item); fault != "" {
				return name + ": " + fault
			}
		}
		list, _ := at(schema, "required").([]any)
		for _, name := range list {
			if _, ok := x[name.(string)]; !ok {
				return name.(string) + " is missing"
			}
		}
	}
	return ""
}

// TestExamplesOfTheDocumentFit their schemas.
func TestExamplesOfTheDocumentFit(t *testing.T) {
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if schema, ok := v["schema"]; ok {
				examples := []any{}
				if e, ok := v["example"]; ok {
					examples = append(examples, e)
				}
				for _, name := range keys(v["examples"]) {
					examples = append(examples, at(v, "examples", name, "value"))
				}
				for _, e := range examples {
					n++
					if fault := fits(schema, e); fault != "" {
						t.Errorf("%s in %v", fault, e)
					}
				}
			}
			for _, item := range v {
				walk(item)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(document(t)["paths"])
	if n < 30 {
		t.Errorf("only %d examples", n)
	}
}

func TestTheDocumentIsServed(t *testing.T) {
	w := newWorld(t)
	rec := newRecorder(w.handler, "GET", "/openapi.json")
	if rec.Code != 200 || !bytes.Equal(rec.Body.Bytes(), openapi(t)) || rec.Header().Get("Content-Type") != "application/json" || rec.Header().Get("Request-Id") == "" {
		t.Errorf("status %d, headers %v", rec.Code, rec.Header())
	}
}

// FuzzHandler: no request makes the API panic, answer 500, or answer in
// another form than its own.
func FuzzHandler(f *testing.F) {
	w := newWorld(f)
	x := w.tenant("docs.example.com")
	f.Add("POST", "/v1/static-export/jobs", `{"domain":"docs.example.com"}`, "application/json", "k")
	f.Add("GET", "/v1/static-export/jobs/"+x.running, "", "", "")
	f.Add("POST", "/v1/static-export/jobs/"+x.done+"/bundle", "", "", "k")
	f.Add("GET", "/v2/agent/"+x.project.ID+"/job/"+x.agent, "", "", "")
	f.Add("GET", "/v1/sites/docs.example.com/snapshots/latest", "", "", "")
	f.Add("POST", "/v1/sites/docs.example.com/snapshots", `{"manifest":{"sha256":"`+digest("m")+`","sizeBytes":1},"packs":[]}`, "application/json", "")
	f.Add("POST", "/v1/sites/docs.example.com/snapshots/"+x.pending+"/publish", "", "", "")
	f.Add("GET", "/%2e%2E/%00", "\xff", "a/b; charset=\xff", "\x00")
	f.Fuzz(func(t *testing.T, method, path, body, contentType, key string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://api.example.com"+path, strings.NewReader(body))
		if err != nil {
			t.Skip("no request has this form")
		}
		r.Header.Set("Authorization", "Bearer "+x.secret)
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
		if key != "" {
			r.Header.Set(api.HeaderIdempotencyKey, key)
		}
		r.RemoteAddr = "192.0.2.1:1"
		if r.URL.Path == "/openapi.json" {
			return
		}
		if res := doWith(t, w.handler, r); res.StatusCode >= 500 {
			t.Errorf("%s %q %q: %d", method, path, body, res.StatusCode)
		}
	})
}
