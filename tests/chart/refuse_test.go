package chart

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// source are the values of a source of fresh links.
func source(fields string) string {
	return "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b?sig=1', source: {" + fields + "}}"
}

// TestRefused holds values that can't work against values.schema.json, and
// what a schema can't compare against the templates: helm must name the field.
func TestRefused(t *testing.T) {
	outside.Long(t, "runs helm for every fault")
	const on = "staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b?sig=1'}\n"
	for name, c := range map[string]struct{ values, field string }{
		"no link":                      {"staticExport: {enabled: true}", "/staticExport/bundleUrl"},
		"not a boolean":                {"staticExport: {enabled: 'yes'}", "/staticExport/enabled"},
		"a link that is none":          {"staticExport: {enabled: true, bundleUrl: 'store/b.tar.gz'}", "/staticExport/bundleUrl"},
		"another scheme":               {"staticExport: {enabled: true, bundleUrl: 'ftp://store/b.tar.gz'}", "/staticExport/bundleUrl"},
		"a password in the link":       {"staticExport: {enabled: true, bundleUrl: 'https://me:pw@store/b.tar.gz'}", "/staticExport/bundleUrl"},
		"a file without its path":      {"staticExport: {enabled: true, bundleUrl: 'file://b.tar.gz'}", "/staticExport/bundleUrl"},
		"a bucket alone":               {"staticExport: {enabled: true, bundleUrl: 's3://bucket'}", "/staticExport/bundleUrl"},
		"a link and a secret":          {"staticExport: {enabled: true, bundleUrl: 'https://a/b', existingSecret: {name: link}}", "/staticExport/bundleUrl"},
		"in the clear, no digest":      {"staticExport: {enabled: true, bundleUrl: 'http://store/b'}", "/staticExport/sha256"},
		"a version below zero":         {"staticExport: {version: -1}", "/staticExport/version"},
		"a version that is a list":     {"staticExport: {version: [1]}", "/staticExport/version"},
		"a version with a slash":       {"staticExport: {version: a/b}", "/staticExport/version"},
		"half a digest":                {"staticExport: {sha256: abcdef}", "/staticExport/sha256"},
		"a name with a typo":           {"staticExport: {bundleURL: x}", "bundleURL"},
		"a value of no one":            {"replica: 2", "replica"},
		"a path without a slash":       {"staticExport: {basePath: docs}", "/staticExport/basePath"},
		"a path with one at its end":   {"staticExport: {basePath: /docs/}", "/staticExport/basePath"},
		"an interval without a unit":   {"staticExport: {refresh: '30'}", "/staticExport/refresh"},
		"a folder of the node":         {"staticExport: {volume: {hostPath: {path: /srv}}}", "hostPath"},
		"two volumes":                  {"staticExport: {volume: {csi: {driver: a}, image: {reference: b}}}", "/staticExport/volume"},
		"/bundle without a volume":     {"staticExport: {enabled: true, bundleUrl: 'file:///bundle/b'}", "/staticExport/volume"},
		"pods that come too late":      {on + "replicas: 2", "/replicas"},
		"… with a secret":              {"staticExport: {enabled: true, existingSecret: {name: link}}\nreplicas: 2", "/replicas"},
		"… with a volume of one node":  {on + "replicas: 2\npersistence: {enabled: true}", "/replicas"},
		"… with a volume that is off":  {on + "replicas: 2\npersistence: {enabled: false, accessModes: [ReadWriteMany]}", "/replicas"},
		"… with the volume by default": {on + "replicas: 2\npersistence: {enabled: null}", "/replicas"},
		"a source without its job":     {source("api: 'https://a', keySecret: {name: k}"), "/staticExport/source/jobId"},
		"a source without its key":     {source("api: 'https://a', jobId: exp_1"), "/staticExport/source/keySecret/name"},
		"a source without its API":     {source("jobId: exp_1, keySecret: {name: k}"), "/staticExport/source/api"},
		"a source's key in the clear":  {source("api: 'http://a.example.com', jobId: exp_1, keySecret: k"), "/staticExport/source/api"},
		"a source with a password":     {source("api: 'https://me:pw@a', jobId: exp_1, keySecret: k"), "/staticExport/source/api"},
		"ranges and a claim":           {"staticExport: {enabled: true, bundleUrl: 's3://bucket/b', ranges: true}\npersistence: {enabled: true}", "/persistence/enabled"},
		"ranges of a link that ends":   {"staticExport: {enabled: true, bundleUrl: 'https://store.example.com/b?sig=1', ranges: true}", "/staticExport/ranges"},
		"ranges by a secret that ends": {"staticExport: {enabled: true, existingSecret: {name: link}, ranges: true}", "/staticExport/ranges"},
		"ranges in the clear":          {"staticExport: {enabled: true, bundleUrl: 'http://store/b', sha256: " + strings.Repeat("a", 64) + ", ranges: true}", "/staticExport/ranges"},
		"ranges that are a text":       {"staticExport: {ranges: 'yes'}", "/staticExport/ranges"},
		"a job that is a path":         {source("api: 'https://a', jobId: ../a, keySecret: k"), "/staticExport/source/jobId"},
		"a source's key itself":        {source("key: bnd_secret"), "key"},
		"a Secret by two names":        {"image: {pullSecrets: [{name: a, namespace: b}]}", "/image/pullSecrets/0"},
		"a Secret without a name":      {"global: {imagePullSecrets: [{}]}", "/global/imagePullSecrets/0"},
		"a strategy of no Deployment":  {"updateStrategy: {type: OnDelete}", "/updateStrategy/type"},
		"a container by the server's":  {"sidecars: [{name: serve, image: a}]", "/sidecars/0/name"},
		"a container without an image": {"initContainers: [{name: a}]", "/initContainers/0"},
		"an address without names":     {"hostAliases: [{ip: 10.0.0.1}]", "/hostAliases/0"},
		"a hook of no container":       {"lifecycle: {preStart: {}}", "preStart"},
		"alerts without metrics":       {"prometheusRule: {enabled: true}", "/serviceMonitor/enabled"},
		"a Route with a port":          {"route: {host: 'docs.example.com:443'}", "/route/host"},
		"… by autoscaling":             {on + "autoscaling: {enabled: true}", "/autoscaling/maxReplicas"},
		"fewest above the most":        {"staticExport: {enabled: true, bundleUrl: 's3://bucket/b'}\nautoscaling: {enabled: true, minReplicas: 9}", "/autoscaling/minReplicas"},
		"less than no pod":             {"replicas: -1", "/replicas"},
		"half a pod":                   {"replicas: 1.5", "/replicas"},
		"root":                         {"runAsUser: 0", "/runAsUser"},
		"a tag and its name":           {"image: {tag: 'a:b'}", "/image/tag"},
		"a digest of another kind":     {"image: {digest: 'md5:0'}", "/image/digest"},
		"a policy of no kubelet":       {"image: {pullPolicy: Sometimes}", "/image/pullPolicy"},
		"a port that is none":          {"service: {port: 70000}", "/service/port"},
		"a service by another name":    {"service: {type: ExternalName}", "/service/type"},
		"a host with a path":           {"ingress: {hosts: [docs.example.com/a]}", "/ingress/hosts/0"},
		"a route to nowhere":           {"gateway: {enabled: true}", "/gateway/parentRefs"},
		"a size in words":              {"persistence: {size: large}", "/persistence/size"},
		"a mode of reading":            {"persistence: {accessModes: [ReadOnlyMany]}", "/persistence/accessModes/0"},
		"a key in the proxy's name":    {"proxy: {httpsProxy: 'http://me:pw@proxy:3128'}", "/proxy/httpsProxy"},
		"two proxies":                  {"proxy: {httpsProxy: 'http://proxy:3128', existingSecret: out}", "/proxy/httpsProxy"},
		"more than all":                {"podDisruptionBudget: {maxUnavailable: 120%}", "/podDisruptionBudget/maxUnavailable"},
		"peers that are everyone":      {"networkPolicy: {sourceTo: [{}]}", "/networkPolicy/sourceTo/0"},
		"a loop without an API":        {on + "loop: {enabled: true, domain: a.b, apiKeySecret: {name: key}}", "/loop/apiUrl"},
		"a key in the clear":           {on + "loop: {enabled: true, apiUrl: 'http://bindery.example.com', domain: a.b, apiKeySecret: {name: key}}", "/loop/apiUrl"},
		"a password in the API's":      {on + "loop: {enabled: true, apiUrl: 'https://me:pw@a', domain: a.b, apiKeySecret: {name: key}}", "/loop/apiUrl"},
		"a loop without a domain":      {on + "loop: {enabled: true, apiUrl: 'https://a', apiKeySecret: {name: key}}", "/loop/domain"},
		"a loop without a key":         {on + "loop: {enabled: true, apiUrl: 'https://a', domain: a.b}", "/loop/apiKeySecret/name"},
		"a key in the values":          {"loop: {apiKey: bnd_secret}", "apiKey"},
		"a schedule of three fields":   {"loop: {schedule: '1 2 3'}", "/loop/schedule"},
		"a registry with a scheme":     {"global: {imageRegistry: 'https://mirror.example.com'}", "/global/imageRegistry"},
		"a setting of the server":      {"extraEnv: [{name: BINDERY_DATA, value: /tmp}]", "/extraEnv/0/name"},
		"the link in the environment":  {"extraEnv: [{name: BINDERY_BUNDLE_URL, value: 'https://a/b?sig=1'}]", "/extraEnv/0/name"},
		"a variable by a wrong field":  {"extraEnv: [{name: A, val: b}]", "val"},
		"a folder of the node, extra":  {"extraVolumes: [{name: a, hostPath: {path: /srv}}]", "hostPath"},
		"a volume of the chart's":      {"extraVolumes: [{name: data, emptyDir: {}}]", "/extraVolumes/0/name"},
		"a volume of two kinds":        {"extraVolumes: [{name: a, emptyDir: {}, secret: {}}]", "/extraVolumes/0"},
		"a mount over the versions":    {"extraVolumeMounts: [{name: a, mountPath: /data/versions}]", "/extraVolumeMounts/0/mountPath"},
		"a mount without a place":      {"extraVolumeMounts: [{name: a}]", "mountPath"},
		"pods as root":                 {"podSecurityContext: {runAsNonRoot: false}", "runAsNonRoot"},
		"a group of root":              {"podSecurityContext: {runAsGroup: 0}", "/podSecurityContext/runAsGroup"},
		"no seccomp":                   {"podSecurityContext: {seccompProfile: {type: Unconfined}}", "/podSecurityContext/seccompProfile/type"},
		"a privileged container":       {"containerSecurityContext: {privileged: true}", "privileged"},
		"a capability":                 {"containerSecurityContext: {capabilities: {add: [NET_ADMIN]}}", "capabilities"},
		"a label that tells pods":      {"commonLabels: {app.kubernetes.io/name: other}", "app.kubernetes.io/name"},
		"a label that is a number":     {"commonLabels: {a: 1}", "/commonLabels/a"},
		"a spread without a measure":   {"topologySpreadConstraints: [{topologyKey: zone}]", "maxSkew"},
		"a probe of one's own":         {"probes: {liveness: {exec: {command: [true]}}}", "exec"},
		"a probe at every moment":      {"probes: {readiness: {periodSeconds: 0}}", "/probes/readiness/periodSeconds"},
		"a cache of less than nothing": {"cacheMiB: -1", "/cacheMiB"},
		"a delay without a unit":       {"drain: {delay: '5'}", "/drain/delay"},
		"more waiting than time":       {on + "drain: {timeout: 28s}", "/drain"},
		"a delay of all the time":      {on + "drain: {delay: 28s}", "/drain"},
		"h2c with TLS":                 {"tls: {secretName: docs, h2c: true}", "/tls/h2c"},
		"a port of nodes in a cluster": {"service: {nodePort: 30080}", "/service/type"},
		"a policy for no one outside":  {"service: {externalTrafficPolicy: Local}", "/service/type"},
		"a balancer that is none":      {"service: {type: NodePort, loadBalancerClass: a}", "/service/type"},
		"addresses without a balancer": {"service: {loadBalancerSourceRanges: [192.0.2.0/24]}", "/service/type"},
		"an address for a range":       {"service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.1]}", "/service/loadBalancerSourceRanges/0"},
		"an object that is none":       {"extraDeploy: [{data: {}}]", "/extraDeploy/0"},
		"a check that is no time":      {"staticExport: {verify: often}", "/staticExport/verify"},
		"too little time to stop":      {"terminationGracePeriodSeconds: 3", "/terminationGracePeriodSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, said, err := call(t, c.values, "template", "docs", folder, "--values", "-")
			if err == nil {
				t.Fatalf("it is taken:\n%s", out)
			}
			if !strings.Contains(said, "'"+c.field+"'") {
				t.Errorf("helm does not name %s:\n%s", c.field, said)
			}
			if strings.Contains(said, "sig=1") || strings.Contains(said, "pw@") {
				t.Errorf("helm shows a secret:\n%s", said)
			}
		})
	}
}
