package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
)

// Renewal tells a server where a fresh link is when the bundle's address is refused: it
// asks the API, or reads a file. The zero value turns it off.
type Renewal struct {
	// File holds the answer of generate-bundle, as JSON. Another program renews it: the
	// file is read again each time, and may be missing. API, Job and KeyFile are empty then.
	File string
	// API is the address of the API, and Job the export's job.
	API, Job string
	// KeyFile holds the key. It is read anew each time.
	KeyFile string
	// AllowHTTP sends the key also to an address that is remote.InTheClear.
	AllowHTTP bool
}

const (
	maxLinkAnswer  = 64 << 10
	linkAnswerTime = time.Minute // twice what the API itself may take
)

// check returns an *Error for a renewal that can't work, or nil.
func (r Renewal) check() error {
	usage := func(message, advice string) error {
		return &Error{Code: CodeUsage, Message: message, Advice: advice}
	}
	if r.API == "" && r.Job == "" && r.KeyFile == "" {
		return nil
	}
	if r.File != "" {
		return usage("a fresh link comes from the API or from a file, not from both", "Set BINDERY_RENEWED_FILE, or BINDERY_SOURCE_API with its job and key")
	}
	if r.API == "" || r.Job == "" || r.KeyFile == "" {
		return usage("a fresh link needs the API, the job and the key", "Set BINDERY_SOURCE_API, BINDERY_SOURCE_JOB_ID and BINDERY_SOURCE_KEY_FILE, or none of them")
	}
	u, err := url.Parse(r.API)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return usage("the API's address can't be used", "Set BINDERY_SOURCE_API to an address such as https://bindery.example.com")
	}
	if remote.InTheClear(u) && !r.AllowHTTP {
		return usage("the API's address would send the key over the network unencrypted", "Use https://, or set BINDERY_SOURCE_ALLOW_HTTP=true on a network that you trust")
	}
	if strings.Trim(r.Job, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || len(r.Job) > 100 {
		return usage("the job's id is none", "Set BINDERY_SOURCE_JOB_ID to the jobId of the export")
	}
	return nil
}

// renewed is the API's answer with a fresh link.
type renewed struct {
	BundleURL string `json:"bundleUrl"`
	Version   string `json:"version"`
	SHA256    string `json:"sha256"`
}

// ask asks the API for a link, once.
func (r Renewal) ask(ctx context.Context, o sourceOptions) (renewed, error) {
	key, err := r.key()
	if err != nil {
		return renewed{}, err
	}
	transport, err := newTransport(o)
	if err != nil {
		return renewed{}, err
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, linkAnswerTime)
	defer cancel()
	address := strings.TrimRight(r.API, "/") + "/v1/static-export/jobs/" + r.Job + "/bundle"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, http.NoBody)
	if err != nil {
		return renewed{}, &Error{Code: CodeUsage, Message: "the API's address can't be used", Advice: "Check BINDERY_SOURCE_API"}
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("User-Agent", o.Agent)
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the key is for the API's own address
	}}
	response, err := client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return renewed{}, &temporaryError{err: &Error{Code: CodeUnreachable, Message: "the API that gives fresh links can't be reached", Err: errors.New(quotedAddress.ReplaceAllString(err.Error(), `"…"`)),
			Advice: "Check BINDERY_SOURCE_API, the network, the proxy and the network policy"}}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxLinkAnswer))
	if err != nil {
		return renewed{}, &temporaryError{err: &Error{Code: CodeUnreachable, Message: "the answer of the API that gives fresh links broke off", Advice: "Check the network"}}
	}
	if response.StatusCode != http.StatusOK {
		return renewed{}, refusedRenewal(response, body)
	}
	var answer renewed
	if json.Unmarshal(body, &answer) != nil || !strings.HasPrefix(answer.BundleURL, "https://") && !strings.HasPrefix(answer.BundleURL, "http://") {
		return renewed{}, &Error{Code: CodeUnreachable, Message: "the API that gives fresh links answered without one", Advice: "Check that BINDERY_SOURCE_API leads to the API"}
	}
	return answer, nil
}

// key reads the key.
func (r Renewal) key() (string, error) {
	raw, err := os.ReadFile(r.KeyFile)
	key := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		return "", &Error{Code: CodeUsage, Message: "the file with the key for fresh links can't be read", Err: err, Advice: "Check BINDERY_SOURCE_KEY_FILE and the secret that is mounted there"}
	case key == "" || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", &Error{Code: CodeUsage, Message: "the file with the key for fresh links holds no key", Advice: "Check the secret that is mounted there"}
	}
	return key, nil
}

// refusedRenewal is the error for an answer without a link.
func refusedRenewal(response *http.Response, body []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said)
	message := fmt.Sprintf("the API gives no fresh link (status %d)", response.StatusCode)
	if text := []rune(remote.Visible(remote.Shown(said.Error))); len(text) > 0 {
		message += ": " + string(text[:min(len(text), 300)])
	}
	e := &Error{Code: CodeUnreachable, Message: message, Advice: "Check that BINDERY_SOURCE_API leads to the API"}
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Code, e.Advice = CodeCredentials, "Make a key with the scope bundle for the site's domain, and put it where BINDERY_SOURCE_KEY_FILE reads it"
	case status == http.StatusNotFound:
		e.Code, e.Advice = CodeNotFound, "Check BINDERY_SOURCE_JOB_ID, and that the key is for the domain of that job"
	case status == http.StatusConflict || status == http.StatusGone:
		e.Code, e.Advice = CodeNotFound, "Export the site again, and set the new job and link"
	case status == http.StatusTooManyRequests || status >= 500:
		e.Advice = "Its operator should look at it; this server keeps trying while it shows a site"
		return &temporaryError{err: e, wait: retryAfter(response.Header.Get("Retry-After"))}
	}
	return e
}

// renew asks for a fresh link to the bundle, more than once if that may help, and
// compares what the API says of the bundle with what is wanted.
func (u *updater) renew(ctx context.Context) (string, error) {
	for failures := 0; ; {
		answer, err := u.options.Renew.ask(ctx, u.options.source())
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if temporary, ok := errors.AsType[*temporaryError](err); ok {
			if failures++; failures < u.download.attempts {
				wait := max(temporary.wait, min(time.Second<<(failures-1)/2, 15*time.Second))
				u.log.Warn("no fresh link yet; asking again", "error", temporary.err, "wait", wait.String())
				if err := u.options.Sleep(ctx, wait); err != nil {
					return "", err
				}
				continue
			}
			err = temporary.err
		}
		switch {
		case err != nil:
			return "", err
		case u.want.digest != "" && answer.SHA256 != "" && answer.SHA256 != u.want.digest:
			return "", wrongDigest(u.want.digest, answer.SHA256)
		case answer.Version != "" && !u.want.takesVersion(answer.Version):
			return "", u.want.wrongVersion(answer.Version)
		}
		return answer.BundleURL, nil
	}
}

// fromFile returns the fresh link in the file, and false where there is none yet. A link
// to another place than the address that was refused is to another bundle.
func (u *updater) fromFile(refused string) (link string, ok bool) {
	raw, err := os.ReadFile(u.options.Renew.File)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			u.log.Warn("the file with the fresh link can't be read", "error", err)
		}
		return "", false
	}
	var fresh renewed
	if json.Unmarshal(raw, &fresh) != nil || fresh.BundleURL == "" {
		u.log.Warn("the file with the fresh link holds none", "file", u.options.Renew.File)
		return "", false
	}
	old, err := parseSource(refused, u.options.source())
	if err != nil || fresh.BundleURL == refused {
		return "", false
	}
	source, err := parseSource(fresh.BundleURL, u.options.source())
	if err != nil || source.key != old.key {
		u.log.Warn("the fresh link leads to another bundle; it is not used")
		return "", false
	}
	return fresh.BundleURL, true
}

// elsewhere reports whether an error says that a bundle can't be had at an address,
// and so perhaps at a fresh one.
func elsewhere(err error) bool {
	switch codeOf(err) {
	case CodeLinkExpired, CodeNotFound, CodeUnreachable, CodeCredentials:
		return true
	}
	return false
}
