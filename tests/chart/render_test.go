package chart

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

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
	// Nor is another link to a bundle of which the version or the digest is known.
	for name, pin := range map[string]string{"version": "2026-03", "sha256": digest} {
		pinned := pods("--set-literal", "staticExport."+name+"="+pin)
		if got := pinned.Annotations["bindery/"+name]; got != pin {
			t.Errorf("the annotation of the %s is %q", name, got)
		}
		if !cmp.Equal(pinned, pods("--set-literal", "staticExport."+name+"="+pin, "--set-literal", "staticExport.bundleUrl=https://other.example.com/x?sig=9")) {
			t.Errorf("another link to the same %s rolls the pods", name)
		}
		for key, value := range pinned.Annotations {
			if strings.HasPrefix(key, "bindery/") && key != "bindery/"+name {
				t.Errorf("there is an annotation %s: %s", key, value)
			}
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
		"loop.interval=10s":                                   nil, // the digest of the release's bundle is not known
		"persistence.enabled=true,loop.interval=10s":          nil,
		"staticExport.sha256=" + sum:                          {"--have=" + sum},
		"persistence.enabled=true,staticExport.sha256=" + sum: {"--have=" + sum, "--if-changed", "--unchanged-code=0"},
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

// TestNotes renders what helm tells after an installation: where the site is,
// and that a link expires where nothing outlives it.
func TestNotes(t *testing.T) {
	const expires = "link expires"
	for values, c := range map[string]struct {
		want    string
		expires bool
	}{
		"{}":                                     {"Nothing is served: set staticExport.enabled", false},
		minimal:                                  {"port-forward service/docs-bindery 8080:80", true},
		minimal + "persistence: {enabled: true}": {"logs deployment/docs-bindery", false},
		"staticExport: {enabled: true, bundleUrl: 's3://bucket/b'}":                  {"logs deployment/docs-bindery", false},
		"staticExport: {enabled: true, bundleUrl: 'file:///bundle.tar.gz'}":          {"logs deployment/docs-bindery", false},
		"staticExport: {enabled: true, existingSecret: {name: mine}}":                {"logs deployment/docs-bindery", true},
		"staticExport: {enabled: true, existingSecret: {name: mine, durable: true}}": {"logs deployment/docs-bindery", false},
	} {
		out, said, err := call(t, values, "install", "docs", folder, "--namespace", "web", "--dry-run=client", "--values", "-")
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		if _, notes, _ := strings.Cut(out, "NOTES:"); !strings.Contains(notes, c.want) || strings.Contains(notes, expires) != c.expires {
			t.Errorf("the notes lack %q, or the link expires is not %t:\n%s\nwith %s", c.want, c.expires, notes, values)
		}
	}
}
