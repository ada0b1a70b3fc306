package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// commitTimes asks Git, by one process, when each file of dir was last
// committed. wanted are the paths to find, as they are on disk. Where there is no
// Git, no repository or no commit, the result is empty.
//
// A shallow clone, usual in pipelines, ends at a commit that seems to add
// every file; what that commit says is passed over.
func commitTimes(ctx context.Context, dir string, wanted map[string]bool) (map[string]time.Time, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "-c", "log.showSignature=false", "-c", "log.follow=false",
		"log", "--format=%x01%ct %D", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "HEAD", "--", ".")
	cmd.Env = gitEnv()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, nil
		}
		return nil, err
	}
	times, done, err := readCommitTimes(out, wanted)
	if done || err != nil {
		// All files are dated: the rest of the history does not matter.
		cancel()
		_ = cmd.Wait()
		return times, err
	}
	if err := cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
			return nil, nil // no repository, or one without commits
		}
		return nil, errors.Join(err, ctx.Err())
	}
	return times, nil
}

// readCommitTimes reads what git log writes: a mark with time and decoration,
// then the paths of that commit, all ended by NUL, newest commit first. done
// says that every wanted path was found.
func readCommitTimes(r io.Reader, wanted map[string]bool) (times map[string]time.Time, done bool, err error) {
	times = make(map[string]time.Time, len(wanted))
	in := bufio.NewReaderSize(r, 64<<10)
	var at time.Time
	for len(times) < len(wanted) {
		token, err := in.ReadString(0)
		if err != nil {
			if err == io.EOF {
				return times, false, nil
			}
			return nil, false, err
		}
		token = strings.TrimPrefix(strings.TrimSuffix(token, "\x00"), "\n")
		if mark, ok := strings.CutPrefix(token, "\x01"); ok {
			seconds, names, _ := strings.Cut(mark, " ")
			at = time.Time{}
			if n, err := strconv.ParseInt(seconds, 10, 64); err == nil && !strings.HasPrefix(names, "grafted") {
				at = time.Unix(n, 0).UTC()
			}
			continue
		}
		if at.IsZero() {
			continue
		}
		// macOS may hand out names in another normal form than Git keeps.
		for _, name := range []string{token, norm.NFC.String(token), norm.NFD.String(token)} {
			if _, dated := times[name]; wanted[name] && !dated {
				times[name] = at
				break
			}
		}
	}
	return times, true, nil
}
