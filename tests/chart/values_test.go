package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/outside"
)

// whole are values that users set as one, whatever is in them.
var whole = []string{"resources", "loop.resources", "probes.liveness", "probes.readiness"}

// value is a value of the chart as values.yaml and the schema have it.
type value struct {
	path        string
	standard    any
	kind        string
	description string
}

// schema is what of JSON Schema the tables need.
type schema struct {
	Type        any               `json:"type"`
	Description string            `json:"description"`
	Properties  map[string]schema `json:"properties"`
	Enum        []string          `json:"enum"`
}

// allValues lists the chart's values, sorted by path.
func allValues(t *testing.T) []value {
	t.Helper()
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var standard map[string]any
	var s schema
	read("values.yaml", &standard)
	read("values.schema.json", &s)
	var list []value
	var walk func(path string, v any, s schema)
	walk = func(path string, v any, s schema) {
		if m, ok := v.(map[string]any); ok && len(m) > 0 && !slices.Contains(whole, path) {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				below, ok := s.Properties[name]
				if !ok {
					t.Errorf("values.yaml has %s.%s, and the schema does not", path, name)
				}
				walk(strings.TrimPrefix(path+"."+name, "."), m[name], below)
			}
			for name := range s.Properties {
				if _, ok := m[name]; !ok && name != "global" {
					t.Errorf("the schema has %s.%s, and values.yaml does not", path, name)
				}
			}
			return
		}
		list = append(list, value{path: path, standard: v, kind: kindOf(s), description: s.Description})
	}
	walk("", standard, s)
	return list
}

func kindOf(s schema) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		return fmt.Sprintf("%v or %v", t[0], t[1])
	}
	return "integer or string"
}

// changes tells for each value what it is set to, and beside what other values
// that makes a difference.
var changes = map[string]struct{ to, beside string }{
	"staticExport.enabled":                          {"false", ""},
	"staticExport.bundleUrl":                        {"https://b.example.com/b?sig=2", ""},
	"staticExport.version":                          {"2026-03", ""},
	"staticExport.sha256":                           {strings.Repeat("a", 64), ""},
	"staticExport.existingSecret.name":              {"mine", "staticExport: {bundleUrl: '', existingSecret: {name: other}}"},
	"staticExport.existingSecret.key":               {"url", "staticExport: {bundleUrl: '', existingSecret: {name: mine}}"},
	"staticExport.existingSecret.durable":           {"true", "staticExport: {bundleUrl: '', existingSecret: {name: mine}}"},
	"staticExport.volume":                           {"{csi: {driver: d}}", ""},
	"staticExport.basePath":                         {"/docs", ""},
	"staticExport.refresh":                          {"5m", ""},
	"staticExport.ranges":                           {"true", "staticExport: {bundleUrl: 's3://bucket/b'}"},
	"global.imageRegistry":                          {"mirror.example.com:5000", ""},
	"global.imagePullSecrets":                       {"[{name: registry}]", ""},
	"staticExport.source.api":                       {"https://other", renewing},
	"staticExport.source.allowHttp":                 {"true", renewing},
	"staticExport.source.jobId":                     {"exp_2", renewing},
	"staticExport.source.keySecret.name":            {"other", renewing},
	"staticExport.source.keySecret.key":             {"other", renewing},
	"updateStrategy":                                {"{type: Recreate}", ""},
	"dnsPolicy":                                     {"Default", ""},
	"dnsConfig":                                     {"{searches: [a.b]}", ""},
	"hostAliases":                                   {"[{ip: 10.0.0.1, hostnames: [a.b]}]", ""},
	"extraEnvFrom":                                  {"[{secretRef: {name: a}}]", ""},
	"lifecycle":                                     {"{preStop: {sleep: {seconds: 5}}}", ""},
	"initContainers":                                {"[{name: a, image: b}]", ""},
	"sidecars":                                      {"[{name: a, image: b}]", ""},
	"autoscaling.targetMemoryUtilizationPercentage": {"50", durable + "\nautoscaling: {enabled: true}"},
	"autoscaling.behavior":                          {"{scaleDown: {stabilizationWindowSeconds: 60}}", durable + "\nautoscaling: {enabled: true}"},
	"prometheusRule.enabled":                        {"true", "serviceMonitor: {enabled: true}"},
	"prometheusRule.labels":                         {"{a: b}", rule},
	"prometheusRule.alertLabels":                    {"{a: b}", rule},
	"prometheusRule.rules":                          {"[{record: a, expr: b}]", rule},
	"route.enabled":                                 {"true", ""},
	"route.annotations":                             {"{a: b}", "route: {enabled: true}"},
	"route.host":                                    {"docs.example.com", "route: {enabled: true}"},
	"route.tls":                                     {"{termination: passthrough}", "route: {enabled: true}"},
	"staticExport.verify":                           {"0s", ""},
	"podSecurityContext":                            {"{runAsGroup: 2000}", ""},
	"containerSecurityContext":                      {"{runAsGroup: 2000}", ""},
	"commonLabels":                                  {"{a: b}", ""},
	"commonAnnotations":                             {"{a: b}", ""},
	"topologySpreadConstraints":                     {"[]", ""},
	"cacheMiB":                                      {"128", ""},
	"drain.delay":                                   {"10s", ""},
	"drain.timeout":                                 {"10s", ""},
	"probes.liveness":                               {"{periodSeconds: 60}", ""},
	"probes.readiness":                              {"{periodSeconds: 60}", ""},
	"probes.startup":                                {"{periodSeconds: 60}", ""},
	"tls.secretName":                                {"docs-tls", ""},
	"tls.h2c":                                       {"true", ""},
	"extraEnv":                                      {"[{name: A, value: b}]", ""},
	"extraVolumes":                                  {"[{name: a, emptyDir: {}}]", ""},
	"extraVolumeMounts":                             {"[{name: a, mountPath: /a}]", "extraVolumes: [{name: a, emptyDir: {}}]"},
	"extraDeploy":                                   {"[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]", ""},
	"service.nodePort":                              {"30080", "service: {type: NodePort}"},
	"service.externalTrafficPolicy":                 {"Local", "service: {type: NodePort}"},
	"service.loadBalancerClass":                     {"example.com/internal", "service: {type: LoadBalancer}"},
	"service.loadBalancerIP":                        {"192.0.2.1", "service: {type: LoadBalancer}"},
	"service.loadBalancerSourceRanges":              {"[192.0.2.0/24]", "service: {type: LoadBalancer}"},
	"service.allocateLoadBalancerNodePorts":         {"false", "service: {type: LoadBalancer}"},
	"staticExport.keep":                             {"3", ""},
	"staticExport.s3.region":                        {"eu-central-1", ""},
	"staticExport.s3.endpoint":                      {"https://minio.example.com", ""},
	"image.repository":                              {"registry.example.com/docs", ""},
	"image.tag":                                     {"v2", ""},
	"image.digest":                                  {"sha256:" + strings.Repeat("a", 64), ""},
	"image.pullPolicy":                              {"Always", ""},
	"image.pullSecrets":                             {"[registry]", ""},
	"replicas":                                      {"0", ""},
	"resources":                                     {"{limits: {cpu: 1}}", ""},
	"runAsUser":                                     {"1234", ""},
	"podAnnotations":                                {"{a: b}", ""},
	"podLabels":                                     {"{a: b}", ""},
	"nodeSelector":                                  {"{a: b}", ""},
	"tolerations":                                   {"[{key: a, operator: Exists}]", ""},
	"affinity":                                      {"{podAntiAffinity: {}}", ""},
	"priorityClassName":                             {"high", ""},
	"accessLog":                                     {"false", ""},
	"terminationGracePeriodSeconds":                 {"60", ""},
	"progressDeadlineSeconds":                       {"60", ""},
	"service.type":                                  {"NodePort", ""},
	"service.port":                                  {"8080", ""},
	"service.annotations":                           {"{a: b}", ""},
	"serviceAccount.create":                         {"false", ""},
	"serviceAccount.name":                           {"mine", ""},
	"serviceAccount.annotations":                    {"{a: b}", ""},
	"ingress.enabled":                               {"true", ""},
	"ingress.className":                             {"nginx", "ingress: {enabled: true}"},
	"ingress.annotations":                           {"{a: b}", "ingress: {enabled: true}"},
	"ingress.hosts":                                 {"[docs.example.com]", "ingress: {enabled: true}"},
	"ingress.tls":                                   {"[{secretName: tls}]", "ingress: {enabled: true}"},
	"gateway.enabled":                               {"true", "gateway: {parentRefs: [{name: web}]}"},
	"gateway.annotations":                           {"{a: b}", "gateway: {enabled: true, parentRefs: [{name: web}]}"},
	"gateway.parentRefs":                            {"[{name: other}]", "gateway: {enabled: true, parentRefs: [{name: web}]}"},
	"gateway.hostnames":                             {"[docs.example.com]", "gateway: {enabled: true, parentRefs: [{name: web}]}"},
	"persistence.enabled":                           {"false", ""},
	"persistence.size":                              {"9Gi", "persistence: {enabled: false}"},
	"persistence.storageClassName":                  {"fast", "persistence: {enabled: true}"},
	"persistence.accessModes":                       {"[ReadWriteMany]", "persistence: {enabled: true}"},
	"persistence.annotations":                       {"{a: b}", "persistence: {enabled: true}"},
	"persistence.existingClaim":                     {"mine", "persistence: {enabled: true}"},
	"persistence.fsGroup":                           {"1234", "persistence: {enabled: true}"},
	"extraCA.configMap":                             {"ca", ""},
	"extraCA.key":                                   {"bundle.pem", "extraCA: {configMap: ca}"},
	"proxy.httpsProxy":                              {"http://proxy.example.com:3128", ""},
	"proxy.noProxy":                                 {".svc", ""},
	"proxy.existingSecret":                          {"out", ""},
	"autoscaling.enabled":                           {"true", durable},
	"autoscaling.minReplicas":                       {"3", durable + "\nautoscaling: {enabled: true}"},
	"autoscaling.maxReplicas":                       {"9", durable + "\nautoscaling: {enabled: true}"},
	"autoscaling.targetCPUUtilizationPercentage":    {"50", durable + "\nautoscaling: {enabled: true}"},
	"podDisruptionBudget.enabled":                   {"false", ""},
	"podDisruptionBudget.maxUnavailable":            {"50%", ""},
	"networkPolicy.enabled":                         {"false", ""},
	"networkPolicy.readersFrom":                     {"[{podSelector: {}}]", ""},
	"networkPolicy.metricsFrom":                     {"[{podSelector: {}}]", ""},
	"networkPolicy.dnsTo":                           {"[{podSelector: {}}]", ""},
	"networkPolicy.sourceTo":                        {"[{podSelector: {}}]", ""},
	"networkPolicy.sourcePort":                      {"8443", "staticExport: {bundleUrl: '', existingSecret: {name: mine}}"},
	"serviceMonitor.enabled":                        {"true", ""},
	"serviceMonitor.interval":                       {"1m", "serviceMonitor: {enabled: true}"},
	"serviceMonitor.labels":                         {"{a: b}", "serviceMonitor: {enabled: true}"},
	"loop.enabled":                                  {"true", "loop: {apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}}"},
	"loop.schedule":                                 {"0 5 * * *", loop},
	"loop.linkLife":                                 {"30m", linked + loop},
	"loop.renew.enabled":                            {"false", linked + loop},
	"loop.renew.schedule":                           {"1,21,41 * * * *", linked + loop},
	"loop.renew.keySecret.name":                     {"other", linked + loop},
	"loop.renew.keySecret.key":                      {"other", renewingLoop},
	"loop.apiUrl":                                   {"https://other", loop},
	"loop.allowHttp":                                {"true", loop},
	"loop.domain":                                   {"c.d", loop},
	"loop.apiKeySecret.name":                        {"other", loop},
	"loop.apiKeySecret.key":                         {"other", loop},
	"loop.image.repository":                         {"registry.example.com/loop", loop},
	"loop.image.tag":                                {"v2", loop},
	"loop.image.digest":                             {"sha256:" + strings.Repeat("a", 64), loop},
	"loop.image.pullPolicy":                         {"Always", loop},
	"loop.interval":                                 {"20s", loop},
	"loop.maxPolls":                                 {"90", loop},
	"loop.upgradeTimeout":                           {"20m", loop},
	"loop.resources":                                {"{limits: {cpu: 1}}", loop},
	"fullnameOverride":                              {"handbook", ""},
}

const (
	rule     = "serviceMonitor: {enabled: true}\nprometheusRule: {enabled: true}"
	renewing = "staticExport: {source: {api: 'https://api', jobId: exp_1, keySecret: {name: key}}}"
	durable  = "staticExport: {bundleUrl: 's3://bucket/b'}"
	// A document's second value of one name is an error: all of the loop's at once.
	renewingLoop = linked + "loop: {enabled: true, apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}, renew: {keySecret: {name: a}}}"
	loop         = "loop: {enabled: true, apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}}"
)

// TestEveryValueIsUsed changes every value and looks for a difference.
func TestEveryValueIsUsed(t *testing.T) {
	outside.Long(t, "runs helm twice for every value")
	list := allValues(t)
	for path := range changes {
		if !slices.ContainsFunc(list, func(v value) bool { return v.path == path }) {
			t.Errorf("there is no value %s", path)
		}
	}
	var unchanged sync.Map // by values: many are changed beside the same ones
	for _, v := range list {
		t.Run(v.path, func(t *testing.T) {
			t.Parallel()
			change, ok := changes[v.path]
			if !ok {
				t.Fatal("the test does not know this value")
			}
			values := merge(t, merge(t, map[string]any{}, minimal), change.beside)
			before, err := yaml.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			var to any
			if err := yaml.Unmarshal([]byte(change.to), &to); err != nil {
				t.Fatal(err)
			}
			set(values, strings.Split(v.path, "."), to)
			after, err := yaml.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			if v.path == "staticExport.existingSecret.durable" {
				// It says that more pods are fine; nothing of it is rendered.
				render(t, string(after), "--set", "replicas=2")
				return
			}
			without, _ := unchanged.LoadOrStore(string(before), sync.OnceValue(func() string { return render(t, string(before)) }))
			if without.(func() string)() == render(t, string(after)) {
				t.Errorf("%s makes no difference", change.to)
			}
		})
	}
}

func merge(t *testing.T, into map[string]any, text string) map[string]any {
	t.Helper()
	var more map[string]any
	if err := yaml.Unmarshal([]byte(text), &more); err != nil {
		t.Fatal(err)
	}
	var deep func(into, more map[string]any)
	deep = func(into, more map[string]any) {
		for name, v := range more {
			below, ok := into[name].(map[string]any)
			if m, isMap := v.(map[string]any); ok && isMap {
				deep(below, m)
				continue
			}
			into[name] = v
		}
	}
	deep(into, more)
	return into
}

func set(values map[string]any, path []string, to any) {
	for _, name := range path[:len(path)-1] {
		below, ok := values[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			values[name] = below
		}
		values = below
	}
	values[path[len(path)-1]] = to
}

// documents have the table of values, between these marks.
var documents = map[string][2]string{
	"../../infra/chart/README.md":        {"<!-- values -->\n", "<!-- /values -->\n"},
	"../../infra/docs/cluster/chart.mdx": {"{/* values */}\n", "{/* /values */}\n"},
}

// TestEveryValueIsDocumented holds the tables of values against the schema's
// descriptions and the defaults; -update writes them anew.
func TestEveryValueIsDocumented(t *testing.T) {
	var table strings.Builder
	table.WriteString("\n| Value | Type | Default | Meaning |\n|---|---|---|---|\n")
	for _, v := range allValues(t) {
		if v.description == "" {
			t.Errorf("the schema says nothing about %s", v.path)
		}
		standard, err := json.Marshal(v.standard)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&table, "| `%s` | %s | `%s` | %s |\n", v.path, v.kind, standard, v.description)
	}
	table.WriteString("\n")
	for file, marks := range documents {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		before, rest, ok := strings.Cut(string(text), marks[0])
		is, after, ok2 := strings.Cut(rest, marks[1])
		if !ok || !ok2 {
			t.Errorf("%s has no marks of the table of values", file)
			continue
		}
		if golden.Update() {
			golden.Write(t, file, []byte(before+marks[0]+table.String()+marks[1]+after))
		} else if is != table.String() {
			t.Errorf("%s does not have the values as they are (-update writes them)", file)
		}
	}
}
