package stack

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"
)

// OutputRequestLogs names the log groups of the functions that answer requests,
// with a space between them.
const OutputRequestLogs = "RequestLogGroups"

// Requests reads the lines that the functions of a stack log of requests.
type Requests struct {
	client *cloudwatchlogs.Client
	groups []string
}

// NewRequests makes a reader for a stack. A stack of an earlier program, which
// does not name its log groups, is an error.
func NewRequests(cfg aws.Config, s Stack) (*Requests, error) {
	groups := strings.Fields(s.Outputs[OutputRequestLogs])
	if len(groups) == 0 {
		return nil, fmt.Errorf("stack %s: it has no output %s; deploy it again", s.Name, OutputRequestLogs)
	}
	return &Requests{cloudwatchlogs.NewFromConfig(cfg), groups}, nil
}

// Kept is the time from which on all lines are still there, going by the
// retention of the log groups; the zero time when they are kept for ever. A log
// group that does not exist is an error.
func (r *Requests) Kept(ctx context.Context, now time.Time) (time.Time, error) {
	var kept time.Time
	for _, name := range r.groups {
		p := cloudwatchlogs.NewDescribeLogGroupsPaginator(r.client, &cloudwatchlogs.DescribeLogGroupsInput{LogGroupNamePrefix: &name})
		found := false
		for p.HasMorePages() && !found {
			page, err := p.NextPage(ctx)
			if err != nil {
				return kept, fmt.Errorf("log group %s: %w", name, err)
			}
			for _, g := range page.LogGroups {
				if aws.ToString(g.LogGroupName) != name {
					continue
				}
				found = true
				if days := aws.ToInt32(g.RetentionInDays); days > 0 {
					if from := now.AddDate(0, 0, -int(days)); from.After(kept) {
						kept = from
					}
				}
			}
		}
		if !found {
			return kept, fmt.Errorf("log group %s: it is not there", name)
		}
	}
	return kept, nil
}

// Lines calls each with every line of a message (its "msg") that was logged
// from one time on and before another, until it returns an error. An
// organisation that is not empty leaves out the lines of others. Lines come
// group by group.
//
// CloudWatch Logs looks through the lines on its side (FilterLogEvents, which
// is not charged for) and may answer with pages that hold none. Local clouds
// know no patterns over JSON and return every line: each must read its line, and
// not take it for one of those that it asked for.
func (r *Requests) Lines(ctx context.Context, message, organisation string, from, to time.Time, each func(line []byte) error) error {
	pattern := fmt.Sprintf(`{ $.msg = %q }`, message)
	if organisation != "" {
		if strings.ContainsAny(organisation, "\"\\*") {
			return errors.New("no organisation has such an id")
		}
		pattern = fmt.Sprintf(`{ ($.msg = %q) && ($.organisation = %q) }`, message, organisation)
	}
	for _, name := range r.groups {
		p := cloudwatchlogs.NewFilterLogEventsPaginator(r.client, &cloudwatchlogs.FilterLogEventsInput{
			LogGroupName: &name, FilterPattern: &pattern,
			StartTime: aws.Int64(from.UnixMilli()), EndTime: aws.Int64(to.UnixMilli() - 1), // both ends are in
		})
		for p.HasMorePages() {
			page, err := p.NextPage(ctx)
			if missing, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
				return fmt.Errorf("log group %s: it is not there: %w", name, missing)
			}
			if err != nil {
				return fmt.Errorf("log group %s: %w", name, err)
			}
			for _, e := range page.Events {
				if err := each([]byte(aws.ToString(e.Message))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
