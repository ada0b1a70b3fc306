package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestChart installs the Helm chart on a cluster with real pods: our own images,
// a bundle from a `bindery up` on this machine, roll-outs under load, bundles
// that are refused, pods that move after their link's end, a volume that somebody
// defaced, rollback, the loop, removal. The cluster is the test bed of the shared
// folder. Its README says what a pass there proves; it takes ten minutes to build the
// first time.
func TestChart(t *testing.T) {
	if os.Getenv("BINDERY_CHART") == "" {
		t.Skip("not run: make test-chart does")
	}
	c := newCluster(t)
	u := harness.StartAt(t, t.TempDir(), c.machine+":0")
	p := &publisher{u: u, domain: harness.SeededDomain(t, u)}
	c.image("serve", "localhost/bindery-serve:1")
	c.kubectl("create", "namespace", "web")
	c.kubectl("label", "namespace", "web", "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/warn=restricted")

	first := p.bundle(t, harness.MadeSite(t, 20))
	base := filepath.Join(c.dir, "base.json")
	writeJSON(t, base, map[string]any{
		"image":     map[string]any{"repository": "localhost/bindery-serve", "tag": "1", "pullPolicy": "Never"},
		"runAsUser": 1000730000 + os.Getpid()%9999, "progressDeadlineSeconds": 20, "terminationGracePeriodSeconds": 20,
		// The test bed has no storage class, and these tests are about links alone.
		"persistence": map[string]any{"enabled": false},
		"resources":   map[string]any{"requests": map[string]any{"cpu": "10m"}},
	})
	said := c.helm("install", "docs", c.chart, "--namespace", "web", "--values", base, "--values", first.values, "--wait", "--timeout", "120s")
	if strings.Contains(said, "would violate PodSecurity") {
		t.Errorf("the pods are not restricted:\n%s", said)
	}
	c.reads("docs", "/part-00/page-0001", "Page 1", first)
	site := c.site("docs")

	t.Run("the link is in the Secret alone", func(t *testing.T) { c.hidesLinks(t, first) })

	t.Run("a new link to the same bundle rolls nothing", func(t *testing.T) {
		c.sameBundle("docs", first.expired())
	})

	t.Run("another link and version under load", func(t *testing.T) {
		second := p.bundle(t, harness.MadeSite(t, 30))
		load := c.load(t, site+"/part-00/page-0001")
		c.upgrade(t, second)
		c.settled("docs")
		load.check(t)
		c.reads("docs", "/part-00/page-0029", "Page 29", second)
		c.hidesLinks(t, second)
		c.helm("rollback", "docs", "1", "--namespace", "web", "--wait", "--timeout", "120s")
		c.reads("docs", "/part-00/page-0001", "Page 1", first)
		c.eventually(func() string {
			if status, _ := c.get(site + "/part-00/page-0029"); status != http.StatusNotFound {
				return fmt.Sprintf("after a rollback a page of the newer version answers %d", status)
			}
			return ""
		})
	})

	good := p.bundle(t, harness.MadeSite(t, 25))
	for name, r := range map[string]struct {
		values map[string]any
		says   string // what the new pod's message says
	}{
		"an expired link": {map[string]any{"bundleUrl": good.expired(), "version": good.Version, "sha256": good.SHA256}, "Generate a new link"},
		"a wrong digest":  {map[string]any{"bundleUrl": good.BundleURL, "version": good.Version, "sha256": strings.Repeat("0", 64)}, "SHA-256"},
		"a wrong version": {map[string]any{"bundleUrl": good.BundleURL, "version": "not-this-one", "sha256": good.SHA256}, "version"},
	} {
		t.Run(name+" holds the roll-out", func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "values.json")
			writeJSON(t, file, map[string]any{"staticExport": r.values})
			load := c.load(t, site+"/part-00/page-0001")
			if _, err := c.tryHelm("upgrade", "docs", c.chart, "--namespace", "web", "--reset-then-reuse-values", "--values", file, "--wait", "--timeout", "25s"); err == nil {
				t.Error("helm is content")
			}
			message := c.waitingPod(t)
			if !strings.Contains(message, r.says) {
				t.Errorf("the pod does not say %q:\n%s", r.says, message)
			}
			t.Logf("the pod says: %s", message)
			if strings.Contains(message, "signature=") {
				t.Errorf("the pod's message shows the link")
			}
			c.reads("docs", "/part-00/page-0001", "Page 1", first)
			// Helm's own --wait can read the passed deadline of the roll-out that
			// failed, before the controller has looked at the rollback.
			c.helm("rollback", "docs", "--namespace", "web")
			c.rolledOut("docs")
			c.settled("docs")
			load.check(t)
			c.reads("docs", "/part-00/page-0001", "Page 1", first)
		})
	}

	t.Run("a pod that moves after the link's end", func(t *testing.T) { c.moves(t, p, good, base) })
	t.Run("a volume that pods share", func(t *testing.T) { c.sharedVolume(t, good, base) })
	t.Run("the bundle in the image", func(t *testing.T) { c.bundleInImage(t, good, base) })

	t.Run("the loop", func(t *testing.T) {
		c.image("loop", "localhost/bindery-loop:1")
		c.kubectl("--namespace", "web", "create", "secret", "generic", "bindery-key", "--from-literal=adminKey="+u.Key)
		c.kubectl("--namespace", "web", "create", "secret", "generic", "bindery-links", "--from-literal=adminKey="+p.bundleKey(t))
		values := filepath.Join(t.TempDir(), "loop.json")
		writeJSON(t, values, map[string]any{"loop": map[string]any{
			"enabled": true, "schedule": "0 0 1 1 *", "apiUrl": u.URL, "allowHttp": true, "domain": p.domain, "apiKeySecret": map[string]any{"name": "bindery-key"},
			"interval": "1s", "upgradeTimeout": "100s",
			// Neither CronJob begins by itself. Links live shorter than this says.
			"linkLife": "100h", "renew": map[string]any{"schedule": "0 0 1 1 *", "keySecret": map[string]any{"name": "bindery-links"}},
			"image": map[string]any{"repository": "localhost/bindery-loop", "tag": "1", "pullPolicy": "Never"},
		}})
		c.helm("upgrade", "docs", c.chart, "--namespace", "web", "--reset-then-reuse-values", "--values", values, "--wait", "--timeout", "120s")
		p.publish(t, harness.MadeSite(t, 40))
		logs := c.job(t, "now", "docs-bindery-loop")
		for _, secret := range []string{u.Key, "signature="} {
			if strings.Contains(logs, secret) {
				t.Errorf("the loop's log shows a secret:\n%s", logs)
			}
		}
		c.reads("docs", "/part-00/page-0039", "Page 39", bundleLink{})
		c.settled("docs")
	})
	t.Run("the loop renews the link", func(t *testing.T) { c.renews(t) })

	t.Run("uninstall leaves nothing", func(t *testing.T) {
		c.helm("uninstall", "docs", "--namespace", "web", "--wait", "--timeout", "120s")
		c.kubectl("--namespace", "web", "delete", "job", "--all")
		c.kubectl("--namespace", "web", "delete", "secret", "bindery-key", "bindery-links")
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(time.Second) {
			left := c.left("web")
			if len(left) == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("still there: %v", left)
			}
		}
	})
}

// cluster is the test bed, with its helm and kubectl.
type cluster struct {
	t       *testing.T
	bed     string // the test bed's scripts
	dir     string // the cluster's own folder
	machine string // this machine's address for pods
	chart   string
	env     []string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, bed: outside.Folder(t, "testbeds", "k8s"), chart: filepath.Join(outside.Checkout(t), "infra", "chart")}
	outside.WatchSources(t)
	outside.Watch(t, "infra/chart", "infra/image")
	if os.Geteuid() != 0 {
		outside.OutOfReach(t, "root, for a node with real pods")
	}
	c.env = os.Environ()
	work, err := os.MkdirTemp("", "bk8s-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	c.dir = work
	bin := strings.TrimSpace(c.must(filepath.Join(c.bed, "build.sh")))
	tools := filepath.Join(outside.Checkout(t), ".cache", "bin")
	c.env = append(c.env, "PATH="+tools+":"+bin+":"+os.Getenv("PATH"),
		"HELM_CONFIG_HOME="+work, "HELM_CACHE_HOME="+work, "HELM_DATA_HOME="+work, "KUBECACHEDIR="+work)
	bed := filepath.Join(work, "c")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("events:\n%s", c.events())
		}
		// The test's own context is over by now.
		if out, err := exec.Command(filepath.Join(c.bed, "down.sh"), bed).CombinedOutput(); err != nil {
			t.Errorf("down.sh: %v\n%s", err, out)
		}
	})
	kubeconfig := strings.TrimSpace(c.must(filepath.Join(c.bed, "up.sh"), bed, "kubelet"))
	c.env = append(c.env, "KUBECONFIG="+kubeconfig)
	settings, err := os.ReadFile(filepath.Join(bed, "env"))
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`(?m)^number=(\d+)$`).FindSubmatch(settings)
	if number == nil {
		t.Fatalf("the test bed does not tell its number:\n%s", settings)
	}
	c.machine = fmt.Sprintf("198.19.%s.129", number[1])
	return c
}

// try runs a program and gives what it says, on both streams.
func (c *cluster) try(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 75*time.Minute)
	defer cancel()
	return c.tryContext(ctx, name, args...)
}

func (c *cluster) tryContext(ctx context.Context, name string, args ...string) (string, error) {
	for _, set := range c.env {
		if path, ok := strings.CutPrefix(set, "PATH="); ok && !strings.Contains(name, "/") {
			for _, dir := range filepath.SplitList(path) {
				if file := filepath.Join(dir, name); isProgram(file) {
					name = file
					break
				}
			}
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = c.env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		return out.String() + said.String(), err
	}
	return out.String(), nil
}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func (c *cluster) must(name string, args ...string) string {
	c.t.Helper()
	out, err := c.try(name, args...)
	if err != nil {
		c.t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, harness.LastBytes(out))
	}
	return out
}

func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	return c.must("kubectl", args...)
}

func (c *cluster) tryHelm(args ...string) (string, error) { return c.try("helm", args...) }

func (c *cluster) helm(args ...string) string {
	c.t.Helper()
	out, err := c.tryHelm(args...)
	if err != nil {
		c.t.Fatalf("helm %s: %v\n%s\n%s", strings.Join(args, " "), err, harness.LastBytes(out), harness.LastBytes(c.pods()))
	}
	return out
}

func (c *cluster) jsonpath(what, path string) string {
	c.t.Helper()
	return c.kubectl("--namespace", "web", "get", what, "--output", "jsonpath="+path)
}

func (c *cluster) events() string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, _ := c.tryContext(ctx, "kubectl", "get", "events", "--all-namespaces", "--sort-by", ".lastTimestamp")
	return harness.LastBytes(out)
}

func (c *cluster) pods() string {
	out, _ := c.try("kubectl", "--namespace", "web", "describe", "pods")
	return out
}

// image builds an image with our own builder and gives it to the node.
func (c *cluster) image(kind, name string, flags ...string) {
	c.t.Helper()
	archive := filepath.Join(c.dir, strings.NewReplacer("/", "-", ":", "-").Replace(name)+".tar")
	args := append([]string{"run", "./infra/image", kind, "--arch", goArch(c.t), "--out", archive, "--name", name}, flags...)
	cmd := exec.CommandContext(c.t.Context(), "go", args...)
	cmd.Dir = outside.Checkout(c.t)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	c.must(filepath.Join(c.bed, "image.sh"), filepath.Join(c.dir, "c"), archive)
}

func goArch(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// get asks as a reader does.
func (c *cluster) get(url string) (status int, body string) {
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(data)
}

// reads waits until readers get a page, and every pod of a release shows the
// version: what the cluster knows of a pod takes a moment to reach everybody.
func (c *cluster) reads(release, page, want string, b bundleLink) {
	c.t.Helper()
	c.eventually(func() string {
		if status, body := c.get(c.site(release) + page); status != http.StatusOK || !strings.Contains(body, want) {
			return fmt.Sprintf("%s: status %d, without %q: %s", page, status, want, harness.LastBytes(body))
		}
		return ""
	})
	if b.Version == "" {
		return
	}
	c.settled(release) // a pod on its way out counts as ready until it is gone
	c.eventually(func() string {
		for _, pod := range c.podIPs(release) {
			var about struct{ Version string }
			_, body := c.get("http://" + pod + ":9090/readyz")
			if err := json.Unmarshal([]byte(body), &about); err != nil || about.Version != b.Version {
				return fmt.Sprintf("the pod %s shows the version %q, want %q (%v)", pod, about.Version, b.Version, err)
			}
		}
		return ""
	})
}

// settled waits until no pod of a release is on its way out: requests are lost
// then, if at all.
func (c *cluster) settled(release string) {
	c.t.Helper()
	c.eventually(func() string {
		leaving := c.kubectl("--namespace", "web", "get", "pods", "--selector", "app.kubernetes.io/instance="+release,
			"--output", `jsonpath={range .items[?(@.metadata.deletionTimestamp)]}{.metadata.name}{" "}{end}`)
		if leaving != "" {
			return "pods that do not go: " + leaving
		}
		return ""
	})
}

// rolledOut waits until all pods of a release are of its newest deployment and
// ready.
func (c *cluster) rolledOut(release string) {
	c.t.Helper()
	c.eventually(func() string {
		state := c.jsonpath("deployment/"+release+"-bindery",
			"{.metadata.generation} {.status.observedGeneration} {.spec.replicas} {.status.replicas} {.status.updatedReplicas} {.status.readyReplicas}")
		n := strings.Fields(state)
		if len(n) != 6 || n[0] != n[1] || n[2] != n[3] || n[3] != n[4] || n[4] != n[5] {
			return "generations and replicas of the deployment: " + state
		}
		return ""
	})
}

// eventually tries until there is nothing to say.
func (c *cluster) eventually(try func() string) {
	c.t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		said := try()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			c.t.Error(said)
			return
		}
	}
}

// site is where readers get the site of a release.
func (c *cluster) site(release string) string {
	c.t.Helper()
	return "http://" + c.jsonpath("service/"+release+"-bindery", "{.spec.clusterIP}")
}

// podIPs are the addresses of a release's servers that are ready.
func (c *cluster) podIPs(release string) []string {
	c.t.Helper()
	ips := strings.Fields(c.kubectl("--namespace", "web", "get", "pods", "--field-selector", "status.phase=Running", "--selector",
		"app.kubernetes.io/component=server,app.kubernetes.io/instance="+release, "--output", `jsonpath={range .items[?(@.status.containerStatuses[0].ready==true)]}{.status.podIP}{" "}{end}`))
	if len(ips) == 0 {
		c.t.Fatalf("no pod of %s is ready", release)
	}
	return ips
}

func (c *cluster) upgrade(t *testing.T, b bundleLink) {
	t.Helper()
	out, err := c.tryHelm("upgrade", "docs", c.chart, "--namespace", "web", "--reset-then-reuse-values", "--values", b.values, "--wait", "--timeout", "120s", "--rollback-on-failure")
	if err != nil {
		t.Fatalf("helm upgrade: %v\n%s\n%s", err, out, c.pods())
	}
}

// waitingPod gives what a pod that does not become ready says about it.
func (c *cluster) waitingPod(t *testing.T) string {
	t.Helper()
	var message string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		var pods struct {
			Items []struct {
				Status struct {
					ContainerStatuses []struct {
						Ready            bool
						State, LastState struct{ Terminated struct{ Message string } }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(c.kubectl("--namespace", "web", "get", "pods", "--output", "json")), &pods); err != nil {
			t.Fatal(err)
		}
		for _, pod := range pods.Items {
			for _, s := range pod.Status.ContainerStatuses {
				if !s.Ready {
					message = s.State.Terminated.Message + s.LastState.Terminated.Message
				}
			}
		}
		if message != "" {
			return message
		}
	}
	t.Fatalf("no pod says why it is not ready:\n%s", c.pods())
	return ""
}

// hidesLinks looks for a link where it must not be.
func (c *cluster) hidesLinks(t *testing.T, b bundleLink) {
	t.Helper()
	signature := b.BundleURL[strings.LastIndex(b.BundleURL, "signature="):]
	places := map[string]string{
		"objects": c.kubectl("--namespace", "web", "get", "deployments,replicasets,pods,services,networkpolicies,events", "--output", "json"),
		"logs":    c.kubectl("--namespace", "web", "logs", "deployment/docs-bindery", "--all-pods", "--tail", "-1"),
	}
	for _, pod := range c.podIPs("docs") {
		status, text := c.get("http://" + pod + ":9090/metrics")
		if status != http.StatusOK || !strings.Contains(text, "# TYPE ") {
			t.Errorf("metrics of %s: status %d", pod, status)
		}
		places["metrics of "+pod] = text
		_, places["readiness of "+pod] = c.get("http://" + pod + ":9090/readyz")
	}
	for place, text := range places {
		if strings.Contains(text, signature) {
			t.Errorf("the %s show the link", place)
		}
	}
}

// sharedVolume installs a second release with two pods on one volume, then
// takes the source away: pods that come later serve what is on it.
func (c *cluster) sharedVolume(t *testing.T, b bundleLink, base string) {
	store := c.volume(t, "shared", "ReadWriteMany", "by-hand")
	c.helm("install", "two", c.chart, "--namespace", "web", "--values", base, "--values", b.values, "--wait", "--timeout", "120s",
		"--set", "replicas=2,persistence.enabled=true,persistence.accessModes={ReadWriteMany},persistence.storageClassName=by-hand",
		// A page that a pod has in memory is read from the volume by no reader.
		"--set", "staticExport.verify=1s")
	defer c.helm("uninstall", "two", "--namespace", "web", "--wait", "--timeout", "120s")
	c.reads("two", "/part-00/page-0024", "Page 24", b)

	site := c.site("two")
	load := c.load(t, site+"/part-00/page-0001")
	c.deface(t, store, b, "23")
	c.eventually(func() string {
		status, body := c.get(site + "/part-00/page-0023")
		if strings.Contains(body, "Defaced") {
			t.Fatalf("a reader gets what somebody wrote to the volume (status %d)", status)
		}
		if healed := c.sum("two", "bindery_serve_healed_total"); status != http.StatusOK || !strings.Contains(body, "Page 23") || healed == 0 {
			return fmt.Sprintf("the defaced page: status %d, healed %d times", status, healed)
		}
		return ""
	})
	load.check(t)

	// The same version with a link that has ended: new pods find the version on
	// the volume.
	c.sameBundle("two", b.expired())
	c.kubectl("--namespace", "web", "rollout", "restart", "deployment/two-bindery")
	c.rolledOut("two")
	c.reads("two", "/part-00/page-0024", "Page 24", b)

	// Damaged and without a source, they do not become ready; those that are
	// there go on, and none sends what differs.
	c.deface(t, store, b, "22")
	c.kubectl("--namespace", "web", "rollout", "restart", "deployment/two-bindery")
	if message := c.waitingPod(t); !strings.Contains(message, "Generate a new link") {
		t.Errorf("the pod says: %s", message)
	}
	c.reads("two", "/part-00/page-0024", "Page 24", bundleLink{})
	// Pods that have the page in memory send it as it was.
	status, body := c.get(site + "/part-00/page-0022")
	asItWas := status == http.StatusOK && strings.Contains(body, "Page 22")
	if strings.Contains(body, "Defaced") || !asItWas && status != http.StatusInternalServerError {
		t.Errorf("the page that differs: status %d, %s", status, harness.LastBytes(body))
	}
}

// moves drains the node of a pod once its link has ended: with a source of fresh
// links, with the volume that a release has by default, and with neither.
func (c *cluster) moves(t *testing.T, p *publisher, b bundleLink, base string) {
	node := c.kubectl("get", "nodes", "--output", "jsonpath={.items[0].metadata.name}")
	drain := func(release string) (string, error) {
		defer c.kubectl("uncordon", node)
		return c.try("kubectl", "drain", node, "--delete-emptydir-data", "--timeout=20s",
			"--pod-selector", "app.kubernetes.io/component=server,app.kubernetes.io/instance="+release)
	}
	pod := func(release string) string {
		return c.kubectl("--namespace", "web", "get", "pods", "--selector", "app.kubernetes.io/component=server,app.kubernetes.io/instance="+release, "--output", "name")
	}
	install := func(release string, more ...string) {
		c.helm(append([]string{"install", release, c.chart, "--namespace", "web", "--values", base, "--values", b.values, "--wait", "--timeout", "120s"}, more...)...)
		t.Cleanup(func() { c.helm("uninstall", release, "--namespace", "web", "--wait", "--timeout", "120s") })
		c.reads(release, "/part-00/page-0024", "Page 24", b)
		c.sameBundle(release, b.expired())
	}
	// moved drains the node, and waits for another pod with the site.
	moved := func(release string) {
		before := pod(release)
		if said, err := drain(release); err != nil {
			t.Fatalf("the node can't be drained: %v\n%s", err, said)
		}
		c.rolledOut(release)
		if after := pod(release); after == before {
			t.Fatalf("%s did not go", after)
		}
		c.reads(release, "/part-00/page-0024", "Page 24", b)
	}

	t.Run("a source", func(t *testing.T) {
		key := p.bundleKey(t)
		c.kubectl("--namespace", "web", "create", "secret", "generic", "links", "--from-literal=adminKey="+key)
		t.Cleanup(func() { c.kubectl("--namespace", "web", "delete", "secret", "links") })
		install("fresh", "--set", "staticExport.source.allowHttp=true,staticExport.source.keySecret.name=links,staticExport.source.api="+p.u.URL)
		moved("fresh")
		logs := c.kubectl("--namespace", "web", "logs", "deployment/fresh-bindery")
		if !strings.Contains(logs, "asking the API for a fresh link") || strings.Contains(logs, key) || strings.Contains(logs, "signature=") {
			t.Errorf("the pod did not ask for a link, or shows a secret:\n%s", logs)
		}
	})

	t.Run("the volume by default", func(t *testing.T) {
		// Without a storage class the claim waits for a volume, and the pod says so.
		values := []string{"--set", "persistence.enabled=null,persistence.fsGroup=null"}
		c.helm(append([]string{"install", "kept", c.chart, "--namespace", "web", "--values", base, "--values", b.values}, values...)...)
		t.Cleanup(func() { c.helm("uninstall", "kept", "--namespace", "web", "--wait", "--timeout", "120s") })
		c.eventually(func() string {
			said := c.kubectl("--namespace", "web", "get", "pods", "--selector", "app.kubernetes.io/instance=kept",
				"--output", "jsonpath={.items[*].status.conditions[?(@.type=='PodScheduled')].message}")
			if !strings.Contains(said, "unbound immediate PersistentVolumeClaims") {
				return "the pod says: " + said
			}
			return ""
		})
		if phase := c.jsonpath("persistentvolumeclaim/kept-bindery", "{.status.phase}"); phase != "Pending" {
			t.Errorf("the claim is %s", phase)
		}
		c.volume(t, "by-default", "ReadWriteOnce", "")
		c.rolledOut("kept")
		c.reads("kept", "/part-00/page-0024", "Page 24", b)
		c.sameBundle("kept", b.expired())
		moved("kept")
	})

	t.Run("neither", func(t *testing.T) {
		install("held")
		before := pod("held")
		if said, err := drain("held"); err == nil || !strings.Contains(said, "disruption budget") {
			t.Errorf("the pod may go: %v\n%s", err, said)
		}
		if after := pod("held"); after != before {
			t.Errorf("%s went, and there is %s", before, after)
		}
		c.reads("held", "/part-00/page-0024", "Page 24", b)
	})
}

// job runs a job of a CronJob to its end, and returns its log.
func (c *cluster) job(t *testing.T, name, of string) (logs string) {
	t.Helper()
	c.kubectl("--namespace", "web", "create", "job", "--from=cronjob/"+of, name)
	if _, err := c.try("kubectl", "--namespace", "web", "wait", "--for=condition=complete", "job/"+name, "--timeout=180s"); err != nil {
		logs, _ := c.try("kubectl", "--namespace", "web", "logs", "job/"+name, "--all-containers", "--prefix")
		state, _ := c.try("kubectl", "--namespace", "web", "describe", "pods", "--selector", "job-name="+name)
		t.Fatalf("the job %s did not complete:\n%s\n%s", name, logs, state)
	}
	return c.kubectl("--namespace", "web", "logs", "job/"+name, "--all-containers")
}

// renews has the loop renew the link of the release: no pod goes, an upgrade leaves the
// fresh link alone, and a pod that starts after the first link's end finds it.
func (c *cluster) renews(t *testing.T) {
	pods := func() string {
		return strings.TrimSpace(c.kubectl("--namespace", "web", "get", "pods", "--selector", "app.kubernetes.io/component=server,app.kubernetes.io/instance=docs", "--output", "name"))
	}
	link := func() string { return c.jsonpath("secret/docs-bindery-link", "{.data.renewed}") }
	before := pods()
	if fresh := link(); fresh != "" {
		t.Fatalf("there is a fresh link before it was renewed: %s", fresh)
	}
	logs := c.job(t, "renew-1", "docs-bindery-renew")
	fresh := link()
	if fresh == "" || !strings.Contains(logs, "has the fresh link") || !strings.Contains(logs, "set loop.linkLife to") || strings.Contains(logs, "signature=") {
		t.Errorf("the fresh link has %d characters; the log:\n%s", len(fresh), logs)
	}
	if logs := c.job(t, "renew-2", "docs-bindery-renew"); link() != fresh || !strings.Contains(logs, "half of its life is not over") {
		t.Errorf("a young link was renewed:\n%s", logs)
	}
	var values struct{ StaticExport bundleLink }
	if err := json.Unmarshal([]byte(c.helm("get", "values", "docs", "--namespace", "web", "--output", "json")), &values); err != nil {
		t.Fatal(err)
	}
	c.sameBundle("docs", values.StaticExport.expired())
	if after := pods(); after != before || link() != fresh {
		t.Errorf("pods %q and %q; the fresh link is the same: %v", before, after, link() == fresh)
	}
	c.kubectl("--namespace", "web", "delete", before)
	c.rolledOut("docs")
	c.reads("docs", "/part-00/page-0039", "Page 39", values.StaticExport)
	if logs := c.kubectl("--namespace", "web", "logs", "deployment/docs-bindery"); !strings.Contains(logs, "trying the fresh link in the file") || strings.Contains(logs, "signature=") {
		t.Errorf("the pod did not use the fresh link, or shows it:\n%s", logs)
	}
	for what, want := range map[string]string{
		"patch secret/docs-bindery-link": "yes", "get secret/docs-bindery-link": "no", "update secret/docs-bindery-link": "no", "delete secret/docs-bindery-link": "no",
		"patch secret/docs-bindery": "no", "list secrets": "no", "create secrets": "no", "get pods": "no",
	} {
		said, _ := c.try("kubectl", append([]string{"--namespace", "web", "--as", "system:serviceaccount:web:docs-bindery-renew", "auth", "can-i"}, strings.Fields(what)...)...)
		if got := strings.TrimSpace(said); got != want {
			t.Errorf("the renewal may %s: %s, want %s", what, got, want)
		}
	}
}

// volume makes a volume of a folder of this machine, which ends with the test.
func (c *cluster) volume(t *testing.T, name, mode, class string) (folder string) {
	t.Helper()
	folder = filepath.Join(c.dir, "volume-"+name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	// MkdirTemp and the umask keep others out.
	for _, dir := range []string{c.dir, folder} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	manifest := filepath.Join(t.TempDir(), "volume.json")
	writeJSON(t, manifest, map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolume", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"capacity": map[string]any{"storage": "4Gi"}, "accessModes": []string{mode}, "storageClassName": class,
			"persistentVolumeReclaimPolicy": "Retain", "hostPath": map[string]any{"path": folder},
		},
	})
	c.kubectl("apply", "--filename", manifest)
	t.Cleanup(func() { c.kubectl("delete", "pv", name, "--wait=false") })
	return folder
}

// deface overwrites the title of a page on a volume, by one of its size.
func (c *cluster) deface(t *testing.T, store string, b bundleLink, page string) {
	t.Helper()
	name := filepath.Join(store, "versions", b.SHA256, "site", "part-00", "page-00"+page+".html")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(bytes.ReplaceAll(data, []byte("Page "+page), []byte("Defaced")), 0); err != nil {
		t.Fatal(err)
	}
}

// sameBundle upgrades a release to another link of the bundle that it shows: no
// pod goes.
func (c *cluster) sameBundle(release, link string) {
	c.t.Helper()
	pods := func() string {
		return c.kubectl("--namespace", "web", "get", "pods", "--selector", "app.kubernetes.io/instance="+release, "--output", "name")
	}
	before := pods()
	file := filepath.Join(c.t.TempDir(), "values.json")
	writeJSON(c.t, file, map[string]any{"staticExport": map[string]any{"bundleUrl": link}})
	c.helm("upgrade", release, c.chart, "--namespace", "web", "--reset-then-reuse-values", "--values", file, "--wait", "--timeout", "120s")
	if after := pods(); after != before {
		c.t.Errorf("a new link to the same bundle made of the pods %q %q", before, after)
	}
}

// sum adds up a figure of all pods of a release.
func (c *cluster) sum(release, metric string) (n int) {
	c.t.Helper()
	for _, pod := range c.podIPs(release) {
		_, text := c.get("http://" + pod + ":9090/metrics")
		if m := regexp.MustCompile(`(?m)^` + metric + ` (\d+)$`).FindStringSubmatch(text); m != nil {
			one, _ := strconv.Atoi(m[1])
			n += one
		}
	}
	return n
}

// bundleInImage installs a release that fetches nothing at all.
func (c *cluster) bundleInImage(t *testing.T, b bundleLink, base string) {
	archive := filepath.Join(t.TempDir(), "bundle.tar.gz")
	status, body := c.get(b.BundleURL)
	if status != http.StatusOK {
		t.Fatalf("the bundle: status %d", status)
	}
	if err := os.WriteFile(archive, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
	c.image("serve", "localhost/docs:1", "--bundle", archive)
	c.helm("install", "own", c.chart, "--namespace", "web", "--values", base, "--wait", "--timeout", "120s", "--set",
		"image.repository=localhost/docs,replicas=2,staticExport.enabled=true,staticExport.bundleUrl=file:///bundle.tar.gz,staticExport.basePath=/docs")
	defer c.helm("uninstall", "own", "--namespace", "web", "--wait", "--timeout", "120s")
	c.reads("own", "/docs/part-00/page-0024", "Page 24", bundleLink{})
}

// left names what is in a namespace beyond what every namespace has.
func (c *cluster) left(namespace string) (left []string) {
	c.t.Helper()
	for kind := range strings.FieldsSeq(c.kubectl("api-resources", "--namespaced", "--verbs=list", "--output", "name")) {
		if strings.HasPrefix(kind, "events") {
			continue
		}
		for name := range strings.FieldsSeq(c.kubectl("--namespace", namespace, "get", kind, "--output", "name", "--ignore-not-found")) {
			if !slices.Contains([]string{"configmap/kube-root-ca.crt", "serviceaccount/default"}, name) {
				left = append(left, name)
			}
		}
	}
	return left
}

// load are readers that never stop asking: wrk, where it is, and one of ours
// that looks at each answer.
type load struct {
	stop     context.CancelFunc
	done     chan struct{}
	asked    atomic.Int64
	failures atomic.Pointer[string]
	wrk      *exec.Cmd
	report   *bytes.Buffer
}

func (c *cluster) load(t *testing.T, url string) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel, done: make(chan struct{}), report: new(bytes.Buffer)}
	// INT has it report what it did; the time is longer than any roll-out.
	l.wrk = exec.Command(outside.Program(t, "wrk"), "--threads", "1", "--connections", "4", "--timeout", "10s", "--duration", "10m", url)
	l.wrk.Stdout, l.wrk.Stderr = l.report, l.report
	if err := l.wrk.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.done)
		for ctx.Err() == nil {
			status, body := c.get(url)
			if ctx.Err() != nil {
				return
			}
			if l.asked.Add(1); status != http.StatusOK || !strings.Contains(body, "Page 1") {
				failure := fmt.Sprintf("status %d: %s", status, harness.LastBytes(body))
				l.failures.CompareAndSwap(nil, &failure)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	t.Cleanup(l.end)
	return l
}

func (l *load) end() {
	l.stop()
	<-l.done
	if l.wrk.ProcessState == nil {
		_ = l.wrk.Process.Signal(os.Interrupt)
		_ = l.wrk.Wait()
	}
}

// check ends the load: no request has failed.
func (l *load) check(t *testing.T) {
	t.Helper()
	l.end()
	if failure := l.failures.Load(); failure != nil {
		t.Errorf("a reader got %s", *failure)
	}
	report := l.report.String()
	requests := regexp.MustCompile(`(\d+) requests in`).FindStringSubmatch(report)
	if requests == nil {
		t.Fatalf("wrk reports nothing:\n%s", report)
	}
	if n, _ := strconv.Atoi(requests[1]); n < 100 || l.asked.Load() < 10 {
		t.Errorf("only %d requests of wrk and %d of ours", n, l.asked.Load())
	}
	if strings.Contains(report, "Non-2xx") || strings.Contains(report, "Socket errors") {
		t.Errorf("requests failed:\n%s", report)
	}
	t.Logf("%s requests of wrk and %d of ours, none failed", requests[1], l.asked.Load())
}

// publisher exports sites for a cluster.
type publisher struct {
	u      *harness.Up
	domain string
}

// bundleKey makes a key that can do nothing but make links to the bundles of the
// domain.
func (p *publisher) bundleKey(t *testing.T) string {
	t.Helper()
	var orgs []struct{ ID string }
	text, err := p.u.Command(t, "org", "list", "--data", p.u.Data, "--json")
	if err == nil {
		err = json.Unmarshal(text, &orgs)
	}
	if err != nil || len(orgs) == 0 {
		t.Fatalf("the organisations: %v\n%s", err, text)
	}
	key, err := p.u.Command(t, "key", "create", "--data", p.u.Data, "--org", orgs[0].ID, "--name", "readers", "--scope", "bundle", "--domain", p.domain)
	if err != nil {
		t.Fatal("the key can't be made")
	}
	return strings.TrimSpace(string(key))
}

// bundleLink is a bundle that pods can fetch.
type bundleLink struct {
	BundleURL string `json:"bundleUrl"`
	Version   string `json:"version"`
	SHA256    string `json:"sha256"`
	Source    struct {
		JobID string `json:"jobId"`
	} `json:"source"`
	values string // a file of values of the chart
}

func (p *publisher) publish(t *testing.T, site string) {
	t.Helper()
	if _, err := p.u.Command(t, "publish", site, "--domain", p.domain); err != nil {
		t.Fatal("the site can't be published")
	}
}

func (p *publisher) bundle(t *testing.T, site string) bundleLink {
	t.Helper()
	p.publish(t, site)
	values := filepath.Join(p.u.Data, fmt.Sprintf("values-%d.json", time.Now().UnixNano()))
	if _, err := p.u.Command(t, "export", "--domain", p.domain, "--no-download", "--helm-values", values); err != nil {
		t.Fatal("the site can't be exported")
	}
	text, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		StaticExport bundleLink `json:"staticExport"`
	}
	if err := json.Unmarshal(text, &file); err != nil || file.StaticExport.BundleURL == "" {
		t.Fatalf("values of an export: %v", err)
	}
	file.StaticExport.values = values
	return file.StaticExport
}

// expired is the link after its end: the service refuses it.
func (b bundleLink) expired() string {
	return regexp.MustCompile(`expires=\d+`).ReplaceAllString(b.BundleURL, "expires=1")
}

func writeJSON(t *testing.T, file string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
