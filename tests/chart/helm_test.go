package chart

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/tests/outside"
)

// folder is the chart.
const folder = "../../infra/chart"

// call runs helm away from anybody's clusters and settings.
func call(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	outside.Watch(t, "infra/chart")
	cmd := exec.CommandContext(t.Context(), outside.Program(t, "helm"), args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none")}
	cmd.Stdin = strings.NewReader(stdin)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	return out.String(), said.String(), err
}

// render gives what the release "docs" in the namespace "web" consists of.
func render(t *testing.T, values string, more ...string) string {
	t.Helper()
	out, said, err := call(t, values, append([]string{"template", "docs", folder, "--namespace", "web", "--values", "-"}, more...)...)
	if err != nil {
		t.Fatalf("helm template: %v\n%s\nwith\n%s", err, said, values)
	}
	return out
}

// object is what every object of Kubernetes has.
type object interface {
	GetName() string
	GetNamespace() string
	GetLabels() map[string]string
}

// kinds are all kinds that the chart may render.
var kinds = map[string]func() object{
	"v1 Secret":                                func() object { return new(corev1.Secret) },
	"v1 ConfigMap":                             func() object { return new(corev1.ConfigMap) },
	"v1 Service":                               func() object { return new(corev1.Service) },
	"v1 ServiceAccount":                        func() object { return new(corev1.ServiceAccount) },
	"v1 PersistentVolumeClaim":                 func() object { return new(corev1.PersistentVolumeClaim) },
	"apps/v1 Deployment":                       func() object { return new(appsv1.Deployment) },
	"batch/v1 CronJob":                         func() object { return new(batchv1.CronJob) },
	"autoscaling/v2 HorizontalPodAutoscaler":   func() object { return new(autoscalingv2.HorizontalPodAutoscaler) },
	"networking.k8s.io/v1 NetworkPolicy":       func() object { return new(networkingv1.NetworkPolicy) },
	"networking.k8s.io/v1 Ingress":             func() object { return new(networkingv1.Ingress) },
	"policy/v1 PodDisruptionBudget":            func() object { return new(policyv1.PodDisruptionBudget) },
	"rbac.authorization.k8s.io/v1 Role":        func() object { return new(rbacv1.Role) },
	"rbac.authorization.k8s.io/v1 RoleBinding": func() object { return new(rbacv1.RoleBinding) },
	"gateway.networking.k8s.io/v1 HTTPRoute":   func() object { return new(gatewayv1.HTTPRoute) },
	"monitoring.coreos.com/v1 ServiceMonitor":  func() object { return new(monitoringv1.ServiceMonitor) },
	"monitoring.coreos.com/v1 PrometheusRule":  func() object { return new(monitoringv1.PrometheusRule) },
	"route.openshift.io/v1 Route":              func() object { return new(route) },
}

// route has the fields of OpenShift's Route that the chart sets.
type route struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Host string `json:"host,omitempty"`
		Path string `json:"path,omitempty"`
		To   struct {
			Kind   string `json:"kind"`
			Name   string `json:"name"`
			Weight int32  `json:"weight"`
		} `json:"to"`
		Port struct {
			TargetPort string `json:"targetPort"`
		} `json:"port"`
		TLS *struct {
			Termination                   string `json:"termination"`
			InsecureEdgeTerminationPolicy string `json:"insecureEdgeTerminationPolicy,omitempty"`
		} `json:"tls,omitempty"`
	} `json:"spec"`
}

// decode reads objects strictly: a field that Kubernetes does not know, or one
// that is there twice, is an error.
func decode(t *testing.T, rendered string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	for _, document := range strings.Split("\n"+rendered, "\n---\n") {
		var head metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if head.Kind == "" {
			continue // comments alone
		}
		make, ok := kinds[head.APIVersion+" "+head.Kind]
		if !ok {
			t.Fatalf("an object of %s %s, which no test knows", head.APIVersion, head.Kind)
		}
		o := make()
		if err := yaml.UnmarshalStrict([]byte(document), o); err != nil {
			t.Fatalf("%s: %v in\n%s", head.Kind, err, document)
		}
		key := head.Kind + "/" + o.GetName()
		if objects[key] != nil {
			t.Fatalf("%s is there twice", key)
		}
		objects[key] = o
	}
	return objects
}

// get is an object of a kind.
func get[T object](t *testing.T, objects map[string]object, key string) T {
	t.Helper()
	o, ok := objects[key].(T)
	if !ok {
		t.Fatalf("no %s; there are %v", key, names(objects))
	}
	return o
}
