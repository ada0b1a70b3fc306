package chart

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// TestRangesNeedNoVolume: pods that read the bundle by ranges have no place for a copy,
// are told so, and get fresh links in all ways there are.
func TestRangesNeedNoVolume(t *testing.T) {
	const ranges = "\n  ranges: true\n  sha256: " + digest + "\n"
	for name, values := range map[string]string{
		"a bucket":         "staticExport:\n  enabled: true\n  bundleUrl: s3://bucket/b" + ranges,
		"a file":           "staticExport:\n  enabled: true\n  bundleUrl: file:///b" + ranges,
		"a durable secret": "staticExport:\n  enabled: true\n  existingSecret: {name: mine, durable: true}" + ranges,
		"a source": "staticExport:\n  enabled: true\n  bundleUrl: https://a/b" + ranges +
			"  source: {api: 'https://api', jobId: exp_1, keySecret: {name: k}}\nreplicas: 2",
		"the loop": "staticExport:\n  enabled: true\n  bundleUrl: https://a/b" + ranges + "  source: {jobId: exp_1}\n" +
			"loop: {enabled: true, apiUrl: 'https://api', domain: docs.example.com, apiKeySecret: {name: k}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := decode(t, render(t, values))
			if objects["PersistentVolumeClaim/docs-bindery"] != nil {
				t.Error("there is a claim")
			}
			pod := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec
			for _, v := range pod.Volumes {
				if v.EmptyDir != nil || v.PersistentVolumeClaim != nil {
					t.Errorf("there is the volume %+v", v)
				}
			}
			serve := pod.Containers[0]
			var said []string
			for _, v := range serve.Env {
				switch v.Name {
				case "BINDERY_RANGES", "BINDERY_DATA", "BINDERY_BUNDLE_SHA256", "BINDERY_KEEP", "BINDERY_VERIFY":
					said = append(said, v.Name+"="+v.Value)
				}
			}
			if d := cmp.Diff([]string{"BINDERY_RANGES=true"}, said); d != "" {
				t.Errorf("the server is told %s", d)
			}
			if serve.ReadinessProbe.HTTPGet.Path != "/readyz" {
				t.Errorf("the readiness probe is %+v", serve.ReadinessProbe)
			}
		})
	}
}

func names(objects map[string]object) []string { return slices.Sorted(maps.Keys(objects)) }

// TestRender renders every set of values in testdata and holds it against its
// golden file, Kubernetes' types, and what must hold in all of them.
func TestRender(t *testing.T) {
	sets, err := filepath.Glob("testdata/*.values.yaml")
	if err != nil || len(sets) < 8 {
		t.Fatalf("%d sets of values, %v", len(sets), err)
	}
	for _, file := range sets {
		name := strings.TrimSuffix(filepath.Base(file), ".values.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, string(values))
			objects := decode(t, got)
			for key, o := range objects {
				checkObject(t, key, o)
			}
			checkLink(t, string(values), objects)

			if _, said, err := call(t, string(values), "lint", folder, "--strict", "--values", "-"); err != nil {
				t.Errorf("helm lint: %v\n%s", err, said)
			}
			golden.Same(t, filepath.Join("testdata", name+".golden.yaml"), []byte(got))
		})
	}
}

// checkObject holds an object against what every one of them has.
func checkObject(t *testing.T, key string, o object) {
	t.Helper()
	if o.GetNamespace() != "web" {
		t.Errorf("%s: namespace %q", key, o.GetNamespace())
	}
	for _, label := range []string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version", "helm.sh/chart"} {
		if o.GetLabels()[label] == "" {
			t.Errorf("%s has no label %s", key, label)
		}
	}
	switch o := o.(type) {
	case *appsv1.Deployment:
		checkPod(t, key, o.Spec.Template.Spec)
		for label, value := range o.Spec.Selector.MatchLabels {
			if o.Spec.Template.Labels[label] != value {
				t.Errorf("%s: its selector wants %s=%s, and its pods have %q", key, label, value, o.Spec.Template.Labels[label])
			}
		}
		if r := o.Spec.Strategy.RollingUpdate; r.MaxUnavailable.IntValue() != 0 || r.MaxSurge.IntValue() != 1 {
			t.Errorf("%s: a roll-out with a gap: %+v", key, r)
		}
	case *batchv1.CronJob:
		checkPod(t, key, o.Spec.JobTemplate.Spec.Template.Spec)
		if o.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
			t.Errorf("%s: two loops may run at once", key)
		}
	}
}

// checkPod holds a pod against Pod Security "restricted", and more.
func checkPod(t *testing.T, key string, pod corev1.PodSpec) {
	t.Helper()
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		t.Errorf("%s: namespaces of the host", key)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Errorf("%s: a token of the cluster that nobody asked for", key)
	}
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot ||
		s.SeccompProfile == nil || s.SeccompProfile.Type == corev1.SeccompProfileTypeUnconfined {
		t.Errorf("%s: not restricted: %+v", key, s)
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation ||
			s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
			s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
			t.Errorf("%s, container %s: not restricted: %+v", key, c.Name, s)
		}
		for _, port := range c.Ports {
			if port.HostPort != 0 {
				t.Errorf("%s, container %s: a port of the host", key, c.Name)
			}
		}
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil || v.NFS != nil {
			t.Errorf("%s: the volume %s is not for restricted pods", key, v.Name)
		}
	}
}

// checkLink looks for the link everywhere but in Secrets.
func checkLink(t *testing.T, values string, objects map[string]object) {
	t.Helper()
	var v struct {
		StaticExport struct{ BundleURL string }
	}
	if err := yaml.Unmarshal([]byte(values), &v); err != nil {
		t.Fatal(err)
	}
	link := v.StaticExport.BundleURL
	if link == "" {
		return
	}
	for key, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if secret, ok := o.(*corev1.Secret); ok {
			if strings.HasSuffix(key, "-link") && len(secret.Data) == 0 {
				continue // the loop fills it
			}
			if got := string(secret.Data["bundleUrl"]); got != link {
				t.Errorf("%s has the link %q, want %q", key, got, link)
			}
			continue
		}
		for _, form := range []string{link, base64.StdEncoding.EncodeToString([]byte(link))} {
			if strings.Contains(string(text), form) {
				t.Errorf("%s shows the link", key)
			}
		}
	}
}

const minimal = "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b.tar.gz?sig=a%2Cb'}\n"

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestNothingIsServedUnlessEnabled: without static export there is no object.
func TestNothingIsServedUnlessEnabled(t *testing.T) {
	if objects := decode(t, render(t, "{}")); len(objects) != 0 {
		t.Errorf("there are %v", names(objects))
	}
	everything, err := os.ReadFile("testdata/everything.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if objects := decode(t, render(t, string(everything), "--set", "staticExport.enabled=false")); len(objects) != 0 {
		t.Errorf("there are %v", names(objects))
	}
}

// TestRollOut: what makes new pods, and what does not.
func TestRollOut(t *testing.T) {
	pods := func(set ...string) corev1.PodTemplateSpec {
		return get[*appsv1.Deployment](t, decode(t, render(t, minimal, set...)), "Deployment/docs-bindery").Spec.Template
	}
	before := pods()
	for _, set := range []string{
		"staticExport.bundleUrl=https://store.example.com/another.tar.gz?sig=a", "staticExport.version=2026-03",
		"staticExport.sha256=" + strings.Repeat("0", 64),
	} {
		if cmp.Equal(before, pods("--set-literal", set)) {
			t.Errorf("%s does not roll the pods", set)
		}
	}
	// A new signature is not a new bundle.
	for _, set := range []string{"replicas=0", "service.port=8080", "ingress.enabled=true", "progressDeadlineSeconds=60",
		"staticExport.bundleUrl=https://store.example.com/b.tar.gz?sig=another"} {
		if !cmp.Equal(before, pods("--set", set)) {
			t.Errorf("%s rolls the pods without a need", set)
		}
	}
	// What is known of the bundle is in annotations; its link is in none. A link to
	// another place rolls the pods whatever the version says, and a link to the same
	// one never.
	for name, pin := range map[string]string{"version": "2026-03", "sha256": digest} {
		pinned := pods("--set-literal", "staticExport."+name+"="+pin)
		if got := pinned.Annotations["bindery/"+name]; got != pin {
			t.Errorf("the annotation of the %s is %q", name, got)
		}
		for link, rolls := range map[string]bool{
			"https://store.example.com/b.tar.gz?X-Amz-Signature=9": false, "https://store.example.com/b.tar.gz": false,
			"https://store.example.com/c.tar.gz?sig=a%2Cb": true, "https://other.example.com/b.tar.gz?sig=a%2Cb": true,
			"https://store.example.com/b.tar.gz?versionId=2&sig=a": true, "s3://bucket/b.tar.gz": true,
		} {
			now := pods("--set-literal", "staticExport."+name+"="+pin, "--set-literal", "staticExport.bundleUrl="+link)
			if got := now.Annotations["bindery/place"] != pinned.Annotations["bindery/place"]; got != rolls {
				t.Errorf("%s with the same %s: pods roll %t", link, name, got)
			}
			for key, value := range now.Annotations {
				if strings.Contains(value, "store.example.com") || strings.Contains(value, "sig") {
					t.Errorf("the annotation %s shows the link: %s", key, value)
				}
			}
		}
	}
	object := func(query string) string {
		return pods("--set-literal", "staticExport.bundleUrl=https://store.example.com/b.tar.gz?"+query).Annotations["bindery/place"]
	}
	if object("versionId=2&sig=a") != object("sig=b&versionId=2") || object("versionId=2") == object("versionId=3") {
		t.Error("the version of an object is not the one that its query names")
	}
}

// TestVersionWithoutQuotes: of a number YAML keeps the value alone, and the server is told
// that it was one; a text is as it was written.
func TestVersionWithoutQuotes(t *testing.T) {
	for written, want := range map[string]string{
		"12": "12", "2026.03": "2026.03", "20260301": "20260301", "0": "0", "1.10": "1.1", "012": "10", "1.0": "1",
		"'1.10'": "1.10", "2026-03": "2026-03", "''": "", "'12'": "12", "null": "",
	} {
		values := "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b', version: " + written + "}"
		pod := get[*appsv1.Deployment](t, decode(t, render(t, values)), "Deployment/docs-bindery").Spec.Template
		env := map[string]string{}
		for _, e := range pod.Spec.Containers[0].Env {
			env[e.Name] = e.Value
		}
		if got := env["BINDERY_BUNDLE_VERSION"]; got != want || pod.Annotations["bindery/version"] != want {
			t.Errorf("%s: %q, and %q in the annotation", written, got, pod.Annotations["bindery/version"])
		}
		number := strings.Trim(written, "0123456789.") == ""
		if got := env["BINDERY_BUNDLE_VERSION_NUMBER"]; got != map[bool]string{true: "true"}[number] {
			t.Errorf("%s: a number is %q", written, got)
		}
	}
}

// TestVersionOfAChartAbove: Helm reads the values of a chart above this one in another
// way, and a number is one there, too.
func TestVersionOfAChartAbove(t *testing.T) {
	above := t.TempDir()
	err := os.CopyFS(filepath.Join(above, "charts", "bindery"), os.DirFS(folder))
	for name, text := range map[string]string{
		"Chart.yaml":  "{apiVersion: v2, name: above, version: 0.1.0}",
		"values.yaml": "bindery: {staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b', version: 1.10}}",
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(above, name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, said, err := call(t, "", "template", "docs", above)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !regexp.MustCompile(`BINDERY_BUNDLE_VERSION\n\s+value: "1.1"\n\s+- name: BINDERY_BUNDLE_VERSION_NUMBER\n\s+value: "true"`).MatchString(out) {
		t.Errorf("the server is not told of a number:\n%s", out)
	}
}

// TestKept: what a site has against a pod that goes when the link has ended: another
// source, a volume, or a budget that lets no pod go.
func TestKept(t *testing.T) {
	const (
		link   = "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b.tar.gz?sig=1'}\n"
		bucket = "staticExport: {enabled: true, bundleUrl: 's3://bucket/b'}\n"
		fresh  = "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b.tar.gz?sig=1', source: {api: 'https://api', jobId: exp_1, keySecret: {name: k, key: bundles}}}\n"
	)
	for name, c := range map[string]struct {
		values string
		claim  string // on which versions are
		gone   string // how many pods may be gone at once
	}{
		"a link":                    {link, "docs-bindery", "1"},
		"a link without a volume":   {link + "persistence: {enabled: false}", "", "0"},
		"… by the operator's order": {link + "persistence: {enabled: false}\npodDisruptionBudget: {maxUnavailable: 50%}", "", "50%"},
		"a claim that exists":       {link + "persistence: {existingClaim: mine}", "mine", "1"},
		"pods that share a volume":  {link + "replicas: 2\npersistence: {accessModes: [ReadWriteMany]}", "docs-bindery", "1"},
		"a source":                  {fresh + "replicas: 3", "", "1"},
		"a source and a volume":     {fresh + "persistence: {enabled: true}", "docs-bindery", "1"},
		"a source that grows":       {fresh + "autoscaling: {enabled: true}", "", "1"},
		"a bucket":                  {bucket, "", "1"},
		"a bucket and a volume":     {bucket + "persistence: {enabled: true}", "docs-bindery", "1"},
		"a secret":                  {"staticExport: {enabled: true, existingSecret: {name: mine}}", "docs-bindery", "1"},
		"a secret without a volume": {"staticExport: {enabled: true, existingSecret: {name: mine}}\npersistence: {enabled: false}", "", "0"},
		"a secret of s3":            {"staticExport: {enabled: true, existingSecret: {name: mine, durable: true}}", "", "1"},
		"in the image":              {"staticExport: {enabled: true, bundleUrl: 'file:///bundle.tar.gz'}", "", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := decode(t, render(t, c.values))
			budget := get[*policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget/docs-bindery").Spec
			if got := budget.MaxUnavailable.String(); got != c.gone {
				t.Errorf("%s pods may be gone, want %s", got, c.gone)
			}
			pod := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec
			claim := ""
			for _, v := range pod.Volumes {
				if v.Name == "data" && v.PersistentVolumeClaim != nil {
					claim = v.PersistentVolumeClaim.ClaimName
				}
			}
			if claim != c.claim || (objects["PersistentVolumeClaim/docs-bindery"] != nil) != (claim == "docs-bindery") || (pod.SecurityContext.FSGroup != nil) != (claim != "") {
				t.Errorf("versions are on the claim %q, want %q; there are %v", claim, c.claim, names(objects))
			}
		})
	}
}

// TestSource: pods know where a fresh link comes from. The key is mounted as a file,
// and both forms of its Secret are the same.
func TestSource(t *testing.T) {
	for form, key := range map[string]string{"{name: k, key: bundles}": "bundles", "{name: k}": "adminKey", "k": "adminKey"} {
		values := "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b', source: {api: 'https://api.example.com:8443/base', jobId: exp_1, keySecret: " + form + "}}"
		objects := decode(t, render(t, values))
		pod := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec
		env := map[string]string{}
		for _, e := range pod.Containers[0].Env {
			env[e.Name] = e.Value
		}
		if env["BINDERY_SOURCE_API"] != "https://api.example.com:8443/base" || env["BINDERY_SOURCE_JOB_ID"] != "exp_1" || env["BINDERY_SOURCE_KEY_FILE"] != "/etc/bindery/source/key" {
			t.Errorf("%s: %v", form, env)
		}
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "source" })
		if s := pod.Volumes[max(i, 0)].Secret; i < 0 || s == nil || s.SecretName != "k" || s.Items[0].Key != key || s.Items[0].Path != "key" {
			t.Errorf("%s: the volume with the key is %+v", form, pod.Volumes)
		}
	}
}

// TestPullSecrets: names and objects, of the chart's and of all charts, each once.
func TestPullSecrets(t *testing.T) {
	loop, err := os.ReadFile("testdata/loop.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, render(t, string(loop)+"global: {imagePullSecrets: [a, {name: b}]}\nimage: {pullSecrets: [{name: a}, c]}"))
	want := []corev1.LocalObjectReference{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for what, pod := range map[string]corev1.PodSpec{
		"the server": get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec,
		"the loop":   get[*batchv1.CronJob](t, objects, "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec.Template.Spec,
	} {
		if !slices.Equal(pod.ImagePullSecrets, want) {
			t.Errorf("%s has %v", what, pod.ImagePullSecrets)
		}
	}
}

// TestContainersBeside: those of the operator's may do no more than the server,
// unless they say so.
func TestContainersBeside(t *testing.T) {
	pod := get[*appsv1.Deployment](t, decode(t, render(t, minimal+"initContainers: [{name: a, image: b}]\nsidecars: [{name: c, image: d, securityContext: {readOnlyRootFilesystem: false}}]")),
		"Deployment/docs-bindery").Spec.Template.Spec
	if len(pod.InitContainers) != 1 || len(pod.Containers) != 2 || pod.Containers[0].Name != "serve" {
		t.Fatalf("containers %+v", pod)
	}
	open := get[*appsv1.Deployment](t, decode(t, render(t, minimal+"containerSecurityContext: {readOnlyRootFilesystem: false}")), "Deployment/docs-bindery").Spec.Template.Spec
	if s := open.Containers[0].SecurityContext; *s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation {
		t.Errorf("with a file system that may be written to, the server may do %+v", s)
	}
	first, beside := pod.InitContainers[0].SecurityContext, pod.Containers[1].SecurityContext
	if !cmp.Equal(first, pod.Containers[0].SecurityContext) {
		t.Errorf("the first may do %+v", first)
	}
	if *beside.ReadOnlyRootFilesystem || *beside.AllowPrivilegeEscalation || !*beside.RunAsNonRoot {
		t.Errorf("the one beside may do %+v", beside)
	}
}

// TestRoute: the router speaks to pods as they do.
func TestRoute(t *testing.T) {
	for values, want := range map[string]string{
		"route: {enabled: true}":                                               "edge",
		"route: {enabled: true}\ntls: {secretName: docs}":                      "reencrypt",
		"route: {enabled: true, tls: {termination: passthrough}}":              "passthrough",
		"route: {enabled: true, tls: null, host: docs.example.com}":            "",
		"route: {enabled: true, annotations: {a: b}}\ntls: {secretName: docs}": "reencrypt",
	} {
		r := get[*route](t, decode(t, render(t, minimal+values)), "Route/docs-bindery").Spec
		got := ""
		if r.TLS != nil {
			got = r.TLS.Termination
		}
		if got != want || r.To.Name != "docs-bindery" || r.Port.TargetPort != "http" {
			t.Errorf("%s: %+v", values, r)
		}
	}
}

// TestRegistry: global.imageRegistry replaces the registry of every image, and
// nothing else of its name.
func TestRegistry(t *testing.T) {
	loop, err := os.ReadFile("testdata/loop.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for repository, want := range map[string]string{
		"ghcr.io/bindery-docs/bindery-serve": "mirror.example.com:5000/bindery-docs/bindery-serve",
		"bindery-docs/bindery-serve":         "mirror.example.com:5000/bindery-docs/bindery-serve",
		"docs":                               "mirror.example.com:5000/docs",
		"localhost/docs":                     "mirror.example.com:5000/docs",
		"registry:5000/web/docs":             "mirror.example.com:5000/web/docs",
	} {
		objects := decode(t, render(t, string(loop), "--set", "global.imageRegistry=mirror.example.com:5000,image.tag=v1,loop.image.tag=v1,image.repository="+repository+",loop.image.repository="+repository))
		job := get[*batchv1.CronJob](t, objects, "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec.Template.Spec
		server := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec
		for _, c := range slices.Concat(server.Containers, job.InitContainers, job.Containers) {
			if c.Image != want+":v1" {
				t.Errorf("%s of %s: %s, want %s:v1", c.Name, repository, c.Image, want)
			}
		}
	}
}

// TestAlertsHaveTheirMetrics: the server tells every figure that an alert is about.
func TestAlertsHaveTheirMetrics(t *testing.T) {
	source, err := os.ReadFile("../../shared/delivery/serve/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`bindery_serve_[a-z_]+`)
	rule := get[*monitoringv1.PrometheusRule](t, decode(t, render(t, minimal+"serviceMonitor: {enabled: true}\nprometheusRule: {enabled: true}")), "PrometheusRule/docs-bindery")
	seen := map[string]bool{}
	for _, alert := range rule.Spec.Groups[0].Rules {
		for _, name := range metric.FindAllString(alert.Expr.String(), -1) {
			seen[name] = true
			if !strings.Contains(string(source), name) {
				t.Errorf("the alert %s is about %s, which no server tells", alert.Alert, name)
			}
		}
	}
	if len(seen) < 6 {
		t.Errorf("alerts are about %v alone", slices.Sorted(maps.Keys(seen)))
	}
}

// TestAround holds the values for what is around the server against the objects.
func TestAround(t *testing.T) {
	values, err := os.ReadFile("testdata/around.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := decode(t, render(t, string(values)))
	for key, o := range objects {
		if strings.HasPrefix(key, "ConfigMap/") {
			continue // those of extraDeploy are the operator's
		}
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if o.GetLabels()["team"] != "docs" || !strings.Contains(string(text), "owner: docs@example.com") {
			t.Errorf("%s lacks what all objects have", key)
		}
	}
	deployment := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec
	pod, serve := deployment.Template, deployment.Template.Spec.Containers[0]
	if _, ok := deployment.Selector.MatchLabels["team"]; ok || pod.Labels["team"] != "docs" || pod.Annotations["owner"] != "pods@example.com" {
		t.Errorf("selector %v, labels %v, annotations %v of pods", deployment.Selector.MatchLabels, pod.Labels, pod.Annotations)
	}
	env := map[string]string{}
	for _, e := range serve.Env {
		env[e.Name] = e.Value
	}
	for name, want := range map[string]string{
		"BINDERY_VERIFY": "15m", "BINDERY_CACHE_MIB": "128", "BINDERY_DRAIN_DELAY": "15s", "BINDERY_DRAIN_TIMEOUT": "30s",
		"BINDERY_TLS_CERT": "/etc/bindery/tls/tls.crt", "BINDERY_TLS_KEY": "/etc/bindery/tls/tls.key", "AWS_CA_BUNDLE": "/etc/extra/ca.pem",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	mounts := map[string]string{}
	for _, m := range serve.VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	for _, v := range pod.Spec.Volumes {
		if mounts[v.Name] == "" {
			t.Errorf("the volume %s is nowhere", v.Name)
		}
	}
	if mounts["extra"] != "/etc/extra" || mounts["tls"] != "/etc/bindery/tls" {
		t.Errorf("mounts %v", mounts)
	}
	if s := pod.Spec.TopologySpreadConstraints; len(s) != 1 || s[0].MaxSkew != 2 || !cmp.Equal(s[0].LabelSelector.MatchLabels, deployment.Selector.MatchLabels) {
		t.Errorf("spread %+v", s)
	}
	if s := pod.Spec.SecurityContext; *s.RunAsGroup != 2000 || !*s.RunAsNonRoot || *s.SeccompProfile.LocalhostProfile != "serve.json" {
		t.Errorf("pods may do %+v", s)
	}
	if p := serve.SecurityContext.SeccompProfile; p.Type != corev1.SeccompProfileTypeLocalhost {
		t.Errorf("the container's profile is %+v, and not the pod's", p)
	}
	if serve.LivenessProbe.PeriodSeconds != 30 || serve.ReadinessProbe.FailureThreshold != 5 || serve.StartupProbe.FailureThreshold != 60 ||
		serve.StartupProbe.HTTPGet.Path != "/healthz" {
		t.Errorf("probes %+v %+v %+v", serve.LivenessProbe, serve.ReadinessProbe, serve.StartupProbe)
	}
	service := get[*corev1.Service](t, objects, "Service/docs-bindery").Spec
	if service.Ports[0].NodePort != 30443 || *service.Ports[0].AppProtocol != "https" || service.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal ||
		*service.LoadBalancerClass != "example.com/internal" || service.LoadBalancerIP != "192.0.2.10" || !slices.Equal(service.LoadBalancerSourceRanges, []string{"192.0.2.0/24"}) ||
		!*service.AllocateLoadBalancerNodePorts {
		t.Errorf("the Service is %+v", service)
	}
	if get[*corev1.ConfigMap](t, objects, "ConfigMap/docs-extra").Data["tier"] != "web" || get[*corev1.ConfigMap](t, objects, "ConfigMap/second").Labels["team"] != "docs" {
		t.Error("the extra objects are others")
	}
}

// TestEgress: the way out is the bundle's source and nothing else.
func TestEgress(t *testing.T) {
	for name, c := range map[string]struct {
		values string
		ports  []int32 // besides those of name servers
		closed bool
	}{
		"https":              {values: minimal, ports: []int32{443}},
		"a port of its own":  {values: "staticExport: {enabled: true, bundleUrl: 'http://store:9000/b', sha256: " + digest + "}", ports: []int32{9000}},
		"http":               {values: "staticExport: {enabled: true, bundleUrl: 'http://store/b:81', sha256: " + digest + "}", ports: []int32{80}},
		"s3":                 {values: "staticExport: {enabled: true, bundleUrl: 's3://bucket/b'}", ports: []int32{443, 80}},
		"an endpoint":        {values: "staticExport: {enabled: true, bundleUrl: 's3://bucket/b', s3: {endpoint: 'http://minio:9000'}}", ports: []int32{9000, 80}},
		"a proxy":            {values: minimal + "proxy: {httpsProxy: 'http://proxy:3128'}", ports: []int32{3128}},
		"a proxy in secret":  {values: minimal + "proxy: {existingSecret: out}\nnetworkPolicy: {sourcePort: 3129}", ports: []int32{3129}},
		"a secret":           {values: "staticExport: {enabled: true, existingSecret: {name: mine}}", ports: []int32{443}},
		"a secret of s3":     {values: "staticExport: {enabled: true, existingSecret: {name: mine, durable: true}}", ports: []int32{443, 80}},
		"an address of IPv6": {values: "staticExport: {enabled: true, bundleUrl: 'https://[2001:db8::1]:8443/b'}", ports: []int32{8443}},
		"in the image":       {values: "staticExport: {enabled: true, bundleUrl: 'file:///bundle.tar.gz'}", closed: true},
		"a source":           {values: "staticExport: {enabled: true, bundleUrl: 'https://store/b', source: {api: 'https://api:8443', jobId: e, keySecret: k}}", ports: []int32{443, 8443}},
		"one port for both":  {values: "staticExport: {enabled: true, bundleUrl: 'https://store/b', source: {api: 'https://api', jobId: e, keySecret: k}}", ports: []int32{443}},
		"a source by proxy":  {values: "staticExport: {enabled: true, bundleUrl: 'https://store/b', source: {api: 'https://api:8443', jobId: e, keySecret: k}}\nproxy: {httpsProxy: 'http://proxy:3128'}", ports: []int32{3128}},
		"a file and source":  {values: "staticExport: {enabled: true, bundleUrl: 'file:///bundle.tar.gz', source: {api: 'https://api:8443', jobId: e, keySecret: k}}", ports: []int32{8443}},
		"on a volume":        {values: "staticExport: {enabled: true, bundleUrl: 'file:///bundle/b', volume: {persistentVolumeClaim: {claimName: b}}}", closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := get[*networkingv1.NetworkPolicy](t, decode(t, render(t, c.values)), "NetworkPolicy/docs-bindery").Spec
			if !slices.Contains(policy.PolicyTypes, networkingv1.PolicyTypeEgress) || !slices.Contains(policy.PolicyTypes, networkingv1.PolicyTypeIngress) {
				t.Fatalf("it leaves a direction open: %v", policy.PolicyTypes)
			}
			if c.closed {
				if len(policy.Egress) != 0 {
					t.Errorf("there is a way out: %+v", policy.Egress)
				}
				return
			}
			var ports []int32
			for i, rule := range policy.Egress {
				for _, port := range rule.Ports {
					if i == 0 {
						// Those of the node itself, too: NodeLocal DNSCache and Cloud DNS.
						if !slices.ContainsFunc(rule.To, func(p networkingv1.NetworkPolicyPeer) bool {
							return p.IPBlock != nil && p.IPBlock.CIDR == "169.254.0.0/16"
						}) {
							t.Errorf("name servers at link-local addresses are not among %+v", rule.To)
						}
						if n := port.Port.IntVal; n != 53 && n != 5353 || len(rule.To) == 0 {
							t.Errorf("name servers: %+v", rule)
						}
						continue
					}
					ports = append(ports, port.Port.IntVal)
				}
			}
			if !slices.Equal(ports, c.ports) {
				t.Errorf("ports %v, want %v", ports, c.ports)
			}
		})
	}
}

// TestLoopKeepsKeyAndRightsApart: the container that has the admin key has no
// token of the cluster, and the one with the token has no key.
func TestLoopKeepsKeyAndRightsApart(t *testing.T) {
	values, err := os.ReadFile("testdata/loop.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	pod := get[*batchv1.CronJob](t, decode(t, render(t, string(values))), "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec.Template.Spec
	export, upgrade := pod.InitContainers[0], pod.Containers[0]
	for _, mount := range export.VolumeMounts {
		if mount.Name == "token" {
			t.Error("the export may speak to the cluster")
		}
	}
	has := func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil })
	}
	if !has(export) || has(upgrade) {
		t.Errorf("the key: export %v, upgrade %v", has(export), has(upgrade))
	}
	for _, e := range export.Env {
		if e.Name == "BINDERY_ADMIN_KEY" && e.Value != "" {
			t.Error("the key is in the pod's spec")
		}
	}
}

// TestLoopKnowsWhatIsServed: the loop renders nothing and stores nothing where the
// release has the newest bundle, and upgrades nothing where its pods keep that. Pods
// that keep nothing need a link that has not expired.
func TestLoopKnowsWhatIsServed(t *testing.T) {
	values, err := os.ReadFile("testdata/loop.values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("a", 64)
	for set, want := range map[string][]string{
		"loop.interval=10s":                                    nil, // the digest of the release's bundle is not known
		"persistence.enabled=true,loop.interval=10s":           nil,
		"persistence.enabled=false,staticExport.sha256=" + sum: {"--have=" + sum},
		// The first run brings the job, by which the link is renewed from then on.
		"staticExport.sha256=" + sum:                                                                                                      {"--have=" + sum},
		"loop.renew.enabled=false,staticExport.sha256=" + sum:                                                                             {"--have=" + sum, "--if-changed", "--unchanged-code=0"},
		"persistence.enabled=false,staticExport.source.jobId=e,staticExport.sha256=" + sum:                                                {"--have=" + sum, "--if-changed", "--unchanged-code=0"},
		"persistence.enabled=false,loop.renew.enabled=false,staticExport.source.jobId=e,staticExport.sha256=" + sum:                       {"--have=" + sum},
		"staticExport.source.api=https://api,staticExport.source.jobId=e,staticExport.source.keySecret.name=k,staticExport.sha256=" + sum: {"--have=" + sum, "--if-changed", "--unchanged-code=0"},
		"persistence.enabled=true,staticExport.source.jobId=e,staticExport.sha256=" + sum:                                                 {"--have=" + sum, "--if-changed", "--unchanged-code=0"},
	} {
		pod := get[*batchv1.CronJob](t, decode(t, render(t, string(values), "--set", set)), "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec.Template.Spec
		args := pod.InitContainers[0].Args
		if got := args[slices.Index(args, "--helm-values=/loop/values.json")+1:]; !slices.Equal(got, want) {
			t.Errorf("%s: the export has the arguments %q, want %q", set, got, want)
		}
		// Without values that were written, the upgrade ends before helm.
		if got := pod.Containers[0].Command; !slices.Equal(got, []string{"/bindery", "when", "/loop/values.json", "--", "/helm"}) {
			t.Errorf("%s: the upgrade is %q", set, got)
		}
	}
}

// linked are values with a link of a known job, which the loop renews.
const linked = "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b.tar.gz?sig=a', source: {jobId: exp_1}}\n"

// TestRenewal: the loop renews a link that ends, with a right to change the one Secret
// that has it, and a key that is in another container than that right.
func TestRenewal(t *testing.T) {
	objects := decode(t, render(t, linked+loop))
	job := get[*batchv1.CronJob](t, objects, "CronJob/docs-bindery-renew")
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	role := get[*rbacv1.Role](t, objects, "Role/docs-bindery-renew")
	want := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"docs-bindery-link"}, Verbs: []string{"patch"}}}
	if diff := cmp.Diff(want, role.Rules); diff != "" {
		t.Errorf("rights:\n%s", diff)
	}
	binding := get[*rbacv1.RoleBinding](t, objects, "RoleBinding/docs-bindery-renew")
	if binding.RoleRef.Name != role.Name || len(binding.Subjects) != 1 || binding.Subjects[0].Name != pod.ServiceAccountName || pod.ServiceAccountName != "docs-bindery-renew" {
		t.Errorf("%+v for %q", binding, pod.ServiceAccountName)
	}
	get[*corev1.ServiceAccount](t, objects, "ServiceAccount/docs-bindery-renew")
	// Helm has no part in the data: neither upgrades nor rollbacks bring back an old link.
	if secret := get[*corev1.Secret](t, objects, "Secret/docs-bindery-link"); len(secret.Data)+len(secret.StringData) != 0 {
		t.Errorf("the Secret comes with data: %+v", secret)
	}
	ask, patch := pod.InitContainers[0], pod.Containers[0]
	mounts := func(c corev1.Container, name string) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == name })
	}
	key := func(c corev1.Container) string {
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				return e.ValueFrom.SecretKeyRef.Name + "/" + e.ValueFrom.SecretKeyRef.Key
			}
		}
		return ""
	}
	if key(ask) != "key/adminKey" || mounts(ask, "token") || key(patch) != "" || !mounts(patch, "token") {
		t.Errorf("keys %q and %q; tokens %v and %v", key(ask), key(patch), mounts(ask, "token"), mounts(patch, "token"))
	}
	if args := []string{"--job=exp_1", "--in=/link/link.json", "--out=/loop/patch.json", "--every=15m"}; !slices.Equal(ask.Args, args) || !slices.Equal(ask.Command, []string{"/bindery", "renew"}) {
		t.Errorf("%q %q, want %q", ask.Command, ask.Args, args)
	}
	// Pods read the renewed link if there is one, and start without it.
	server := get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template.Spec
	at := slices.IndexFunc(server.Volumes, func(v corev1.Volume) bool { return v.Name == "renewed" })
	if at < 0 || server.Volumes[at].Secret.SecretName != "docs-bindery-link" || server.Volumes[at].Secret.Optional == nil || !*server.Volumes[at].Secret.Optional {
		t.Errorf("volumes: %+v", server.Volumes)
	}
	if !slices.ContainsFunc(server.Containers[0].Env, func(e corev1.EnvVar) bool {
		return e.Name == "BINDERY_RENEWED_FILE" && e.Value == "/etc/bindery/renewed/link.json"
	}) {
		t.Error("the server is not told where the link is")
	}
	// The first export of a release brings the job; the pods are the same before and after.
	before := decode(t, render(t, minimal+loop))
	if before["CronJob/docs-bindery-renew"] != nil {
		t.Error("a link of no known job is renewed")
	}
	after := decode(t, render(t, minimal+loop, "--set", "staticExport.source.jobId=exp_1"))
	pods := func(objects map[string]object) corev1.PodTemplateSpec {
		return get[*appsv1.Deployment](t, objects, "Deployment/docs-bindery").Spec.Template
	}
	if diff := cmp.Diff(pods(before), pods(after)); diff != "" {
		t.Errorf("the pods roll:\n%s", diff)
	}
	// With a link that is renewed a pod that goes is not lost.
	budget := get[*policyv1.PodDisruptionBudget](t, decode(t, render(t, linked+loop, "--set", "persistence.enabled=false")), "PodDisruptionBudget/docs-bindery")
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("the budget lets %s pods go", budget.Spec.MaxUnavailable)
	}
	for name, values := range map[string]string{
		"no loop":      linked,
		"off":          linked + "loop: {enabled: true, apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}, renew: {enabled: false}}",
		"a bucket":     "staticExport: {enabled: true, bundleUrl: 's3://bucket/b', source: {jobId: exp_1}}\n" + loop,
		"a source":     "staticExport: {enabled: true, bundleUrl: 'https://a/b', source: {api: 'https://a', jobId: e, keySecret: k}}\n" + loop,
		"not serving":  "staticExport: {enabled: true, source: {jobId: exp_1}}\n" + loop,
		"switched off": "staticExport: {enabled: false, bundleUrl: 'https://a/b', source: {jobId: exp_1}}\n" + loop,
	} {
		for key := range decode(t, render(t, values)) {
			if strings.HasSuffix(key, "-renew") || strings.HasSuffix(key, "-link") {
				t.Errorf("%s: there is %s", name, key)
			}
		}
	}
	own := get[*batchv1.CronJob](t, decode(t, render(t, linked+loop, "--set", "loop.renew.keySecret.name=links,loop.renew.keySecret.key=k,staticExport.sha256="+digest)), "CronJob/docs-bindery-renew")
	if ask := own.Spec.JobTemplate.Spec.Template.Spec.InitContainers[0]; key(ask) != "links/k" || !slices.Contains(ask.Args, "--sha256="+digest) {
		t.Errorf("key %s, %q", key(ask), ask.Args)
	}
}

// TestRenewalInTime: the CronJob looks four times in a link's life, and never less than
// twice.
func TestRenewalInTime(t *testing.T) {
	for life, want := range map[string]string{
		"3600s": "*/15 * * * *", "45m": "*/10 * * * *", "10m": "*/2 * * * *", "2m": "*/1 * * * *", "2h": "*/30 * * * *", "24h": "0 * * * *",
	} {
		job := get[*batchv1.CronJob](t, decode(t, render(t, linked+loop, "--set", "loop.linkLife="+life)), "CronJob/docs-bindery-renew")
		if job.Spec.Schedule != want {
			t.Errorf("links that live %s are looked at %q, want %q", life, job.Spec.Schedule, want)
		}
	}
	for schedule, gap := range map[string]int{
		"*/30 * * * *": 30, "0,10,25 * * * *": 35, "@hourly": 60, "17 * * * *": 60, "5-20/5 * * * *": 45, "0 */2 * * *": 120, "30 8-18 * * *": 840, "0 5 * * *": 1440,
		"@daily": 1440, "@weekly": 1440, "* * * * 1": 1440, "0 0 1 1 *": 1440, "15,45 8-18,22 * * *": 570, "* * * * *": 1, "7/20 * * * *": 20, "0  12  *  *  *": 1440,
	} {
		for minutes, taken := range map[int]bool{2 * gap: true, 2*gap - 1: false} {
			if taken && gap > 30 { // the message names the gap; two accepted schedules are enough
				continue
			}
			values := linked + fmt.Sprintf("loop: {enabled: true, apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}, linkLife: %dm, renew: {schedule: %q}}", minutes, schedule)
			_, said, err := call(t, values, "template", "docs", folder, "--values", "-")
			if (err == nil) != taken || err != nil && (!strings.Contains(said, "'/loop/renew/schedule'") || !strings.Contains(said, fmt.Sprintf("up to %d minutes", gap))) {
				t.Errorf("%q with links that live %d minutes: %v, %s", schedule, minutes, err, said)
			}
		}
	}
	if _, said, err := call(t, linked+loop, "template", "docs", folder, "--values", "-", "--set", "loop.linkLife=1m"); err == nil || !strings.Contains(said, "'/loop/linkLife'") {
		t.Errorf("links that live a minute: %v, %s", err, said)
	}
}

// TestLongNames: names of CronJobs end with 52 characters, and pods' labels with 63.
func TestLongNames(t *testing.T) {
	for key, o := range decode(t, render(t, linked+loop, "--set", "fullnameOverride="+strings.Repeat("a-long-name-", 5)[:52])) {
		most := 63
		if strings.HasPrefix(key, "CronJob/") {
			most = 52
		}
		if len(o.GetName()) > most {
			t.Errorf("%s has %d characters", key, len(o.GetName()))
		}
	}
}

// TestTheLoopBringsTheFirstBundle: without a link, a release with the loop has the loop
// alone until that has brought one.
func TestTheLoopBringsTheFirstBundle(t *testing.T) {
	values := "staticExport: {enabled: true}\n" + loop
	for key := range decode(t, render(t, values, "--set", "ingress.enabled=true,serviceMonitor.enabled=true,prometheusRule.enabled=true,route.enabled=true")) {
		if !strings.HasSuffix(key, "/docs-bindery-loop") {
			t.Errorf("there is %s", key)
		}
	}
	pod := get[*batchv1.CronJob](t, decode(t, render(t, values)), "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec.Template.Spec
	for _, arg := range pod.InitContainers[0].Args {
		if strings.HasPrefix(arg, "--have") || arg == "--if-changed" {
			t.Errorf("the export has the argument %s", arg)
		}
	}
}

// TestEnabledAsText: values that come as texts (helm --set-string) mean the same.
func TestEnabledAsText(t *testing.T) {
	want := render(t, minimal+loop)
	for _, text := range []string{"true", "false"} {
		got := render(t, minimal+loop, "--set-string", "staticExport.enabled="+text)
		if text == "true" && got != want || text == "false" && len(decode(t, got)) > 0 {
			t.Errorf("the text %s renders\n%s", text, got)
		}
	}
}

// TestLoopEnds: a job of the loop that hangs ends some time, and never before
// what it waits for by its settings.
func TestLoopEnds(t *testing.T) {
	for set, want := range map[string]int64{
		"loop.maxPolls=60":                                           2*(600+600) + 900,
		"loop.interval=1m30s,loop.maxPolls=7":                        2*(630+600) + 900,
		"loop.interval=250ms,loop.maxPolls=8,loop.upgradeTimeout=1h": 2*(8+3600) + 900,
	} {
		values, err := os.ReadFile("testdata/loop.values.yaml")
		if err != nil {
			t.Fatal(err)
		}
		job := get[*batchv1.CronJob](t, decode(t, render(t, string(values), "--set", "loop.interval=10s,loop.upgradeTimeout=10m", "--set", set)), "CronJob/docs-bindery-loop").Spec.JobTemplate.Spec
		if job.ActiveDeadlineSeconds == nil || *job.ActiveDeadlineSeconds != want {
			t.Errorf("%s: %v, want %d", set, job.ActiveDeadlineSeconds, want)
		}
	}
}

// TestNotes renders what helm tells after an installation: where the site is, that
// a link expires where nothing outlives it, and what a claim needs.
func TestNotes(t *testing.T) {
	const (
		expires, claim = "link expires", "stays Pending"
		none           = "persistence: {enabled: false}\n"
		alone          = "loop: {enabled: true, apiUrl: 'https://api', domain: a.b, apiKeySecret: {name: key}, renew: {enabled: false}"
	)
	for values, c := range map[string]struct{ want, also string }{
		"{}":                                     {"Nothing is served: set staticExport.enabled", ""},
		minimal:                                  {"port-forward service/docs-bindery 8080:80", claim},
		minimal + "persistence: {enabled: true}": {"logs deployment/docs-bindery", claim},
		minimal + "persistence: {existingClaim: mine}":                                                                {"logs deployment/docs-bindery", ""},
		minimal + "persistence: {enabled: false}":                                                                     {"the disruption budget lets no pod go", expires},
		minimal + "persistence: {enabled: false}\npodDisruptionBudget: {maxUnavailable: 1}":                           {"upgrade: set staticExport.source", expires},
		"staticExport: {enabled: true, bundleUrl: 's3://bucket/b'}":                                                   {"logs deployment/docs-bindery", ""},
		"staticExport: {enabled: true, bundleUrl: 'file:///bundle.tar.gz'}":                                           {"logs deployment/docs-bindery", ""},
		"staticExport: {enabled: true, existingSecret: {name: mine}}\npersistence: {enabled: false}":                  {"logs deployment/docs-bindery", expires},
		"staticExport: {enabled: true, existingSecret: {name: mine, durable: true}}":                                  {"logs deployment/docs-bindery", ""},
		"staticExport: {enabled: true, bundleUrl: 'https://a/b', source: {api: 'https://a', jobId: e, keySecret: k}}": {"logs deployment/docs-bindery", ""},
		minimal + none + alone + "}":                                                                                  {"Links live 1h (loop.linkLife)", expires},
		minimal + none + alone + ", schedule: '0 5 * * *'}":                                                           {"up to 1440 minutes lie between two runs of the loop (0 5 * * *)", expires},
		minimal + alone + ", schedule: '0 5 * * *'}":                                                                  {"and need the version on their volume", claim},
		minimal + none + loop:                       {"once its first run has given the release staticExport.source.jobId", expires},
		linked + none + loop:                        {"renews the bundle's link at half its life: it looks at */15 * * * * (UTC)", ""},
		linked + loop:                               {"renews the bundle's link at half its life", claim},
		"staticExport: {enabled: true}\n" + loop:    {"the loop brings the first bundle at 17 * * * * (UTC)", ""},
		"staticExport: {enabled: 'false'}\n" + loop: {"Nothing is served: set staticExport.enabled", ""},
	} {
		out, said, err := call(t, values, "install", "docs", folder, "--namespace", "web", "--dry-run=client", "--values", "-")
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		_, notes, _ := strings.Cut(out, "NOTES:")
		if !strings.Contains(notes, c.want) || strings.Contains(notes, expires) != (c.also == expires) || strings.Contains(notes, claim) != (c.also == claim) {
			t.Errorf("the notes lack %q, or have not just %q:\n%s\nwith %s", c.want, c.also, notes, values)
		}
	}
}
