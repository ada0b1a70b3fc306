package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// The chart's CronJob renews the link of the bundle that pods serve in two steps, in two
// containers: one has the key of the API and no rights in the cluster, the other may
// change one Secret and has no key.

// renewedKey is the key of the Secret that has the link.
const renewedKey = "renewed"

// renewedLink is the value: the API's answer, and when it was asked. bindery-serve reads
// the link.
type renewedLink struct {
	api.BundleLink
	RenewedAt time.Time `json:"renewedAt"`
}

// due reports whether half of the link's life is over. A link from the future is due too:
// a wrong clock made it.
func (l renewedLink) due(now time.Time) bool {
	return l.RenewedAt.After(now) || !now.Before(l.RenewedAt.Add(l.ExpiresAt.Sub(l.RenewedAt)/2))
}

// secretPatch is a merge patch of a Secret. JSON has bytes as base64, and so has
// Kubernetes.
type secretPatch struct {
	Data map[string][]byte `json:"data"`
}

type renewFlags struct {
	job, sha256, in, out string
	every                time.Duration
}

func (a *app) renewCommand() *cobra.Command {
	var who caller
	var f renewFlags
	cmd := &cobra.Command{
		Use:   "renew --job JOB --in FILE --out FILE",
		Short: "Renew a link that is half over, for the chart's loop",
		Long: `Renew asks for a fresh link to the bundle of a job, if half of the life of the link in a
file is over, and writes a patch of the Secret that has it. While the link is younger, it
writes nothing.`,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: a.does(func(cmd *cobra.Command, _ []string) error {
			if err := required("job", f.job, "in", f.in, "out", f.out); err != nil {
				return err
			}
			return a.renew(cmd.Context(), &who, f)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.job, "job", "", "the export's job")
	flags.StringVar(&f.sha256, "sha256", "", "SHA-256 of the bundle; a link to another one is refused")
	flags.StringVar(&f.in, "in", "", "file with the link before; it may be missing")
	flags.StringVar(&f.out, "out", "", "file to write the patch to")
	flags.DurationVar(&f.every, "every", 0, "the longest time between two calls of this; shorter links are complained about")
	who.flags(cmd)
	return cmd
}

func (a *app) renew(ctx context.Context, who *caller, f renewFlags) error {
	now := time.Now()
	var old renewedLink
	raw, err := os.ReadFile(f.in)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && json.Unmarshal(raw, &old) == nil && old.JobID == f.job && !old.due(now) {
		a.say("the link to the bundle of %s ends at %s; half of its life is not over", f.job, old.ExpiresAt.UTC().Format(time.RFC3339))
		return nil
	}
	c, err := a.client(who)
	if err != nil {
		return err
	}
	link, err := c.GenerateBundle(ctx, f.job)
	if err != nil {
		return err
	}
	if f.sha256 != "" && link.SHA256 != f.sha256 {
		return fmt.Errorf("the bundle of %s has SHA-256 %s, and the release has %s: nothing is changed", f.job, link.SHA256, f.sha256)
	}
	value, err := json.Marshal(renewedLink{link, now.UTC()})
	if err != nil {
		return err
	}
	patch, err := json.Marshal(secretPatch{map[string][]byte{renewedKey: value}})
	if err != nil {
		return err
	}
	if err := writeSecretly(f.out, patch); err != nil {
		return err
	}
	a.say("a fresh link to the bundle of %s, until %s", f.job, link.ExpiresAt.UTC().Format(time.RFC3339))
	life := link.ExpiresAt.Sub(now).Round(time.Second)
	if life >= time.Minute { // operators set minutes, and the answer took a moment
		life = life.Round(time.Minute)
	}
	if life < 2*f.every {
		a.warn(fmt.Sprintf("links of this API live %s, and up to %s lie between two renewals, more than half of that: set loop.linkLife to %[1]s", life, f.every))
	}
	return nil
}

// patchFlags hold the address of a cluster's API server, the folder of the service account
// that calls it, and the file with the patch.
type patchFlags struct {
	host, port, namespace, account, patch string
}

func (a *app) patchSecretCommand() *cobra.Command {
	var f patchFlags
	cmd := &cobra.Command{
		Use:    "patch-secret NAME --patch FILE",
		Short:  "Change a Secret of the cluster that this runs in, for the chart's loop",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			if err := f.send(cmd.Context(), args[0]); err != nil {
				return fmt.Errorf("the Secret %s of the namespace %s: %w", args[0], f.namespace, err)
			}
			a.say("the Secret %s has the fresh link", args[0])
			return nil
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.host, "host", "kubernetes.default.svc", "host of the cluster's API server")
	flags.StringVar(&f.port, "port", "443", "port of the cluster's API server")
	flags.StringVar(&f.namespace, "namespace", "default", "the Secret's namespace")
	flags.StringVar(&f.account, "account", "/var/run/secrets/kubernetes.io/serviceaccount", "folder with the service account's token and ca.crt")
	flags.StringVar(&f.patch, "patch", "", "file with a merge patch")
	return cmd
}

const (
	patchTime     = 30 * time.Second
	maxPatchReply = 64 << 10
)

// send has the API server merge the patch into a Secret.
func (f patchFlags) send(ctx context.Context, name string) error {
	patch, err := os.ReadFile(f.patch)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(f.account, "token"))
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(filepath.Join(f.account, "ca.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return fmt.Errorf("%s holds no certificate", filepath.Join(f.account, "ca.crt"))
	}
	ctx, cancel := context.WithTimeout(ctx, patchTime)
	defer cancel()
	address := fmt.Sprintf("https://%s/api/v1/namespaces/%s/secrets/%s?fieldManager=bindery", net.JoinHostPort(f.host, f.port), f.namespace, name)
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, address, bytes.NewReader(patch))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Content-Type", "application/merge-patch+json")
	request.Header.Set("Accept", "application/json")
	// Without a proxy: the API server is in the cluster.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	// The body of a success is the whole Secret. It is not read.
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var said struct{ Message string }
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxPatchReply))
	_ = json.Unmarshal(body, &said)
	return fmt.Errorf("the API server answers %s: %s", response.Status, said.Message)
}
