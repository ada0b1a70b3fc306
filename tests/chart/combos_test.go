package chart

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestCombinations renders sets of values that platforms use together, by Helm 4 and by
// Helm 3: both accept and refuse the same, and render the same objects.
func TestCombinations(t *testing.T) {
	outside.Long(t, "runs helm twice for every set of values")
	helm3 := outside.Tool(t, "Helm 3", "bin", "helm3")
	const (
		on    = "--set=staticExport.enabled=true"
		link  = "--set-literal=staticExport.bundleUrl=https://b.s3.amazonaws.com/x/bundle.tar.gz?X-Amz-Signature=abc"
		s3    = "--set=staticExport.bundleUrl=s3://bucket/key.tar.gz"
		fresh = "--set=staticExport.source.api=https://api.example.com,staticExport.source.jobId=exp_1,staticExport.source.keySecret.name=k"
		loop  = "--set=loop.enabled=true,loop.apiUrl=https://api.example.com,loop.domain=docs.example.com,loop.apiKeySecret.name=k"
	)
	sha := strings.Repeat("a", 64)
	for name, c := range map[string]struct {
		refused string // the field that helm names; empty where it takes all
		args    []string
	}{
		"defaults":                 {"", nil},
		"enabled, no link":         {"/staticExport/bundleUrl", []string{on}},
		"three values":             {"", []string{on, link, "--set=staticExport.version=2026-03"}},
		"a version of digits":      {"", []string{on, link, "--set=staticExport.version=12"}},
		"a version with a dot":     {"", []string{on, link, "--set-json=staticExport.version=2026.03"}},
		"two pods, a link":         {"/replicas", []string{on, link, "--set=replicas=2"}},
		"two pods, a source":       {"", []string{on, link, fresh, "--set=replicas=2"}},
		"two pods, RWX":            {"", []string{on, link, "--set=replicas=2,persistence.accessModes={ReadWriteMany}"}},
		"two pods, RWO":            {"/replicas", []string{on, link, "--set=replicas=2,persistence.enabled=true"}},
		"growing, a link":          {"/autoscaling/maxReplicas", []string{on, link, "--set=autoscaling.enabled=true"}},
		"growing, a source":        {"", []string{on, link, fresh, "--set=autoscaling.enabled=true"}},
		"growing, a bucket":        {"", []string{on, s3, "--set=autoscaling.enabled=true,autoscaling.behavior.scaleDown.stabilizationWindowSeconds=60"}},
		"http without a digest":    {"/staticExport/sha256", []string{on, "--set=staticExport.bundleUrl=http://minio.web.svc/b.tar.gz"}},
		"http with one":            {"", []string{on, "--set=staticExport.bundleUrl=http://minio.web.svc/b.tar.gz,staticExport.sha256=" + sha}},
		"ftp":                      {"/staticExport/bundleUrl", []string{on, "--set=staticExport.bundleUrl=ftp://x/y"}},
		"a typo":                   {"verison", []string{on, link, "--set=staticExport.verison=1"}},
		"ranges of a bucket":       {"", []string{on, s3, "--set=staticExport.ranges=true,replicas=3"}},
		"ranges of a link":         {"/staticExport/ranges", []string{on, link, "--set=staticExport.ranges=true"}},
		"ranges and a source":      {"", []string{on, link, fresh, "--set=staticExport.ranges=true,replicas=2"}},
		"ranges and the loop":      {"", []string{on, link, loop, "--set=staticExport.ranges=true,staticExport.source.jobId=exp_1"}},
		"ranges and a volume":      {"", []string{on, "--set=staticExport.bundleUrl=file:///bundle/x.tar.gz,staticExport.volume.persistentVolumeClaim.claimName=b,staticExport.ranges=true"}},
		"a secret":                 {"", []string{on, "--set=staticExport.existingSecret.name=x"}},
		"a link and a secret":      {"/staticExport/bundleUrl", []string{on, link, "--set=staticExport.existingSecret.name=x"}},
		"a volume":                 {"", []string{on, "--set=staticExport.bundleUrl=file:///bundle/x.tar.gz,staticExport.volume.persistentVolumeClaim.claimName=b,replicas=3"}},
		"a folder of the node":     {"hostPath", []string{on, "--set=staticExport.bundleUrl=file:///bundle/x.tar.gz,staticExport.volume.hostPath.path=/x"}},
		"an Ingress":               {"", []string{on, link, "--set=ingress.enabled=true,ingress.hosts={docs.example.com},ingress.tls[0].secretName=t,ingress.tls[0].hosts[0]=docs.example.com"}},
		"an HTTPRoute":             {"", []string{on, link, "--set=gateway.enabled=true,gateway.parentRefs[0].name=gw,gateway.hostnames[0]=docs.example.com"}},
		"an HTTPRoute to nothing":  {"/gateway/parentRefs", []string{on, link, "--set=gateway.enabled=true"}},
		"a Route":                  {"", []string{on, link, "--set=route.enabled=true,route.host=docs.example.com"}},
		"a monitor and alerts":     {"", []string{on, link, "--set=serviceMonitor.enabled=true,prometheusRule.enabled=true"}},
		"alerts alone":             {"/serviceMonitor/enabled", []string{on, link, "--set=prometheusRule.enabled=true"}},
		"the loop":                 {"", []string{on, link, loop}},
		"the loop and a source":    {"", []string{on, link, fresh, loop}},
		"the loop and a job":       {"", []string{on, link, loop, "--set=staticExport.source.jobId=exp_1"}},
		"the loop alone":           {"", []string{on, loop}},
		"a renewal that is late":   {"/loop/renew/schedule", []string{on, link, loop, "--set-json=loop.renew.schedule=\"0 * * * *\""}},
		"enabled as a text":        {"", []string{link, "--set-string=staticExport.enabled=true"}},
		"enabled, in words":        {"/staticExport/enabled", []string{link, "--set=staticExport.enabled=yes"}},
		"off as a text":            {"", []string{"--set-string=staticExport.enabled=false"}},
		"a version below ten":      {"", []string{on, link, "--set-json=staticExport.version=1.10"}},
		"a version too long":       {"/staticExport/version", []string{on, link, "--set-json=staticExport.version=20260101123045123"}},
		"the loop without a key":   {"/loop/apiKeySecret/name", []string{on, link, "--set=loop.enabled=true,loop.apiUrl=https://api.example.com,loop.domain=docs.example.com"}},
		"an image by digest":       {"", []string{on, link, "--set=image.digest=sha256:" + sha}},
		"root":                     {"runAsUser", []string{on, link, "--set=podSecurityContext.runAsUser=0"}},
		"privileged":               {"privileged", []string{on, link, "--set=containerSecurityContext.privileged=true"}},
		"more of a pod":            {"", []string{on, link, "--set=extraEnv[0].name=FOO,extraEnv[0].value=bar,extraVolumes[0].name=t,extraVolumes[0].emptyDir.sizeLimit=1Mi,extraVolumeMounts[0].name=t,extraVolumeMounts[0].mountPath=/t"}},
		"a setting of the server":  {"/extraEnv/0/name", []string{on, link, "--set=extraEnv[0].name=BINDERY_DATA,extraEnv[0].value=/x"}},
		"a registry of all":        {"", []string{on, link, "--set=global.imageRegistry=mirror:5000"}},
		"a port of nodes":          {"", []string{on, link, "--set=service.type=NodePort,service.nodePort=30080"}},
		"TLS":                      {"", []string{on, link, "--set=tls.secretName=t"}},
		"a base path":              {"", []string{on, link, "--set=staticExport.basePath=/docs,ingress.enabled=true"}},
		"values of another chart":  {"", []string{on, link, "--set=global.foo=bar"}},
		"pull secrets by name":     {"", []string{on, link, "--set=image.pullSecrets[0]=x,global.imagePullSecrets[0]=y"}},
		"pull secrets as in pods":  {"", []string{on, link, "--set=image.pullSecrets[0].name=x,global.imagePullSecrets[0].name=y"}},
		"variables of a Secret":    {"", []string{on, link, "--set=extraEnvFrom[0].secretRef.name=x"}},
		"containers before":        {"", []string{on, link, "--set=initContainers[0].name=x,initContainers[0].image=y,sidecars[0].name=z,sidecars[0].image=y"}},
		"a strategy":               {"", []string{on, link, "--set=updateStrategy.type=Recreate"}},
		"DNS":                      {"", []string{on, link, "--set=dnsPolicy=Default,dnsConfig.searches={a.b},hostAliases[0].ip=10.0.0.1,hostAliases[0].hostnames={a.b}"}},
		"hooks":                    {"", []string{on, link, "--set=lifecycle.preStop.sleep.seconds=5"}},
		"nothing that may go":      {"", []string{on, link, "--set=persistence.enabled=false"}},
		"a budget of another kind": {"minAvailable", []string{on, link, "--set=podDisruptionBudget.minAvailable=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"template", "docs", folder, "--namespace", "web", "--kube-version", "v1.34.0"}, c.args...)
			out, said, err := call(t, "", args...)
			if (err != nil) != (c.refused != "") || !strings.Contains(said, c.refused) {
				t.Fatalf("refused: %v, want %q:\n%s", err, c.refused, said)
			}
			if err == nil {
				decode(t, out)
			}
			var old, complaint bytes.Buffer
			cmd := exec.CommandContext(t.Context(), helm3, args...)
			cmd.Env = []string{"HOME=" + t.TempDir()}
			cmd.Stdout, cmd.Stderr = &old, &complaint
			if failed := cmd.Run(); (failed != nil) != (err != nil) || !strings.Contains(complaint.String(), c.refused) {
				t.Fatalf("Helm 3 refused: %v, want %q:\n%s", failed, c.refused, &complaint)
			}
			if lines(old.String()) != lines(out) {
				t.Error("Helm 3 renders something else")
			}
		})
	}
}

// lines returns a text without its empty lines: the two versions differ in these.
func lines(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			kept.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	return kept.String()
}
