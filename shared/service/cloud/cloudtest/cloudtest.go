// Package cloudtest starts local clouds for tests: MiniStack, which stands in
// for all of AWS that Bindery uses, and dynoxide, a second opinion on DynamoDB.
// Both are programs that .ci/tools installs.
//
//	cloudtest.go  starting and stopping
//	resources.go  tables, buckets and state machines, as the stack makes them
package cloudtest

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Region is where all local clouds are.
const Region = "us-east-1"

// Account is the account that MiniStack plays.
const Account = "000000000000"

// Cloud is a local cloud that runs.
type Cloud struct {
	// Endpoint is its address, as AWS_ENDPOINT_URL wants it.
	Endpoint string
	// Config reaches it.
	Config aws.Config
}

// MiniStack starts an empty MiniStack that ends with the test. It holds
// signatures and permissions as AWS does. With -short the test ends here.
func MiniStack(t *testing.T) *Cloud {
	t.Helper()
	outside.Long(t, "runs on a local cloud")
	python := outside.Tool(t, "MiniStack", "ministack", "bin", "python")
	return onSomePort(t, func(port, endpoint string) *Cloud {
		// It hands its environment to the functions that it runs, so that holds
		// nothing of ours.
		return start(t, endpoint, endpoint+"/_ministack/health", exec.Command(python, "-m", "ministack"),
			"GATEWAY_PORT="+port, "BIND_HOST=127.0.0.1", "AWS_ENDPOINT_URL="+endpoint, "AUTH=true")
	})
}

// Dynoxide starts an empty dynoxide that ends with the test. With -short the test
// ends here.
func Dynoxide(t *testing.T) *Cloud {
	t.Helper()
	outside.Long(t, "runs on a local cloud")
	program := outside.Tool(t, "dynoxide", "dynoxide", "node_modules", "@dynoxide", "linux-x64", "dynoxide")
	return onSomePort(t, func(port, endpoint string) *Cloud {
		return start(t, endpoint, endpoint, exec.Command(program, "serve", "--port", port))
	})
}

// onSomePort calls start with free ports, up to five times, until it does not return
// nil: another program may take a port first.
func onSomePort(t *testing.T, start func(port, endpoint string) *Cloud) *Cloud {
	t.Helper()
	for range 5 {
		port := outside.Port(t)
		if c := start(port, "http://127.0.0.1:"+port); c != nil {
			return c
		}
	}
	t.Fatal("the program ended on each of five ports")
	return nil
}

// start runs a program until the test ends, and returns once it answers at health.
// It returns nil if the program ends before that, as it does if its port is taken.
func start(t *testing.T, endpoint, health string, cmd *exec.Cmd, env ...string) *Cloud {
	t.Helper()
	dir := t.TempDir()
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir,
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=" + Region,
	}, env...)
	var log lockedBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.WaitDelay = time.Second // what it leaves behind may hold its output open
	group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(ended)
	}()
	t.Cleanup(func() {
		stop(cmd, ended)
		if t.Failed() {
			t.Logf("log of %s, its end:\n%s", filepath.Base(cmd.Path), log.tail(4000))
		}
	})
	deadline := time.Now().Add(5 * time.Minute)
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, health, nil)
		if err == nil {
			var res *http.Response
			if res, err = http.DefaultClient.Do(req); err == nil {
				_ = res.Body.Close()
			}
		}
		cancel()
		if err == nil {
			break
		}
		select {
		case <-ended:
			t.Logf("%s has ended:\n%s", filepath.Base(cmd.Path), log.tail(4000))
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v\n%s", filepath.Base(cmd.Path), err, log.tail(4000))
		}
	}
	return &Cloud{
		Endpoint: endpoint,
		Config: aws.Config{
			Region: Region, BaseEndpoint: &endpoint,
			Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		},
	}
}

// stop ends a program and all that it has started.
func stop(cmd *exec.Cmd, ended <-chan struct{}) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(3 * time.Second):
	}
	killGroup(cmd)
	<-ended
}

// lockedBuffer keeps what a program writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// tail returns the last n bytes.
func (l *lockedBuffer) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	if len(s) > n {
		s = s[len(s)-n:]
		_, s, _ = strings.Cut(s, "\n")
	}
	return s
}
