package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// Work takes the round's lease and continues its turns until the model has finished
// (Next is publish), the segment is over (Next is work) or the model's server can't
// answer for now (Next is wait). If a newer start of Work takes the lease, it stops
// without an error, since nobody uses its result.
//
// It returns the model's errors (model_unavailable, model_refused, …), budget,
// loop and cancelled.
func (s *Steps) Work(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	return s.rounds.Step(ctx, ref, admin.AgentWorking, s.work)
}

func (s *Steps) work(ctx context.Context, ref admin.AgentRef) (job.AgentOutput, error) {
	out := job.AgentOutput{AgentRef: ref, Next: job.NextWork}
	in, err := s.opt.Admin.AgentRound(ctx, ref)
	if err != nil {
		return out, err
	}
	if in.Job.Waiting(s.opt.Now()) { // the workflow began again meanwhile
		out.Next, out.WaitUntil = job.NextWait, in.Job.RetryAt
		return out, nil
	}
	if in.Job.PendingFetch() && in.Job.Phase == admin.AgentWorking && in.Job.CancelledAt.IsZero() {
		out.Next = job.NextPrepare
		return out, nil
	}
	lease, err := s.opt.Admin.LeaseAgentWork(ctx, ref)
	if admin.CodeOf(err) == admin.CodeSuperseded {
		// This start is late: the round is being published already.
		out.Next = job.NextPublish
		return out, nil
	}
	if err != nil {
		return out, err
	}
	m, err := s.opt.Model(cmp.Or(in.Job.Fallback, in.Job.Asked))
	if err != nil {
		return out, err
	}
	r, err := s.rounds.Load(ctx, ref, in)
	if err != nil {
		return out, err
	}
	tries := in.Job.Tries
	for end := s.opt.Now().Add(s.opt.Segment); ; {
		unread, err := s.opt.Admin.AgentMessages(ctx, ref, r.Seen)
		if err != nil {
			return out, err
		}
		if err := s.rounds.attach(ctx, r, unread); err != nil {
			return out, err
		}
		if r.Finish != nil && (len(unread) == 0 || r.Spent()) {
			out.Next = job.NextPublish
			return out, nil
		}
		if !s.opt.Now().Before(end) {
			return out, nil
		}
		turns, asked := r.Turns, r.Seen
		for _, message := range unread {
			asked = max(asked, message.N)
		}
		err = s.turn(ctx, &lease, r, m, unread)
		if r.Turns > turns {
			tries = 0
		}
		if err == nil && r.asked() {
			out.Next = job.NextPrepare
			return out, nil
		}
		if err != nil {
			var until time.Time
			if until, err = s.wait(ctx, lease, in.Job, m, tries, asked, err); err == nil {
				if !until.IsZero() {
					out.Next, out.WaitUntil = job.NextWait, until
				}
				return out, nil
			}
		}
		if admin.CodeOf(err) == admin.CodeSuperseded {
			s.opt.Log.InfoContext(ctx, "a newer start works on the round", "job", ref.Job, "round", ref.Round)
			return out, nil
		}
		if err != nil {
			switch admin.CodeOf(s.opt.Admin.CheckAgentLease(ctx, lease)) {
			case admin.CodeSuperseded, admin.CodeJobNotActive:
				return out, nil
			}
			return out, err
		}
	}
}

// turn asks the model once, runs its calls and writes the checkpoint.
func (s *Steps) turn(ctx context.Context, lease *admin.AgentLease, r *Round, m model.Choice, unread []admin.AgentMessage) error {
	last, err := r.budget()
	if err != nil {
		return err
	}
	c := checkpoint{Last: last, Blind: r.blind}
	var seen int
	c.Said, seen = r.say(unread)
	if last {
		c.Said = append(c.Said, sayLast)
	}
	answer, err := s.ask(ctx, *lease, r, m, &c)
	t := admin.AgentTurn{N: r.Turns + 1, Seen: seen, Usage: usage(answer.Usage.Plus(answer.Wasted), m), Model: answer.Model}
	kept := false
	defer func() {
		if !kept {
			s.spend(ctx, *lease, t)
		}
	}()
	if admin.CodeOf(err) == model.CodeRefused {
		return r.refused(err, seen)
	}
	if err != nil {
		return err
	}
	c.Answer = answer.Content
	r.learn(c)
	if c.Compacted != nil {
		r.recall()
	}
	event := admin.AgentEvent{Kind: admin.AgentEventTurn, Turn: t.N, Text: Cut(answerText(answer), MaxEventText), Usage: &t.Usage}
	stop := s.call(ctx, r, m, answer, &c, &event)
	c.Changed, c.Restored = r.delta()
	if c.Finish != nil {
		t.Next = job.NextPublish
	}
	t.Fetches = fetches(c.Fetches)
	if t.Object, err = s.rounds.KeepJSON(ctx, r.Ref, "turn", c); err != nil {
		return err
	}
	events := append(c.notes(), event)
	if c.Learned != nil {
		s.opt.Log.WarnContext(ctx, "the context of a model seems to be smaller than in the table", "job", r.Ref.Job, "turn", t.N, "model", m.ID, "tokens", c.Learned.Limit, "cuts", c.Learned.Cuts)
	}
	if c.Plan != nil {
		events = append(events, admin.AgentEvent{Kind: admin.AgentEventPlan, Turn: t.N, Plan: planItems(c.Plan)})
	}
	if err := s.opt.Admin.PutAgentTurn(ctx, lease, t, events...); err != nil {
		return err
	}
	kept = true
	r.apply(t, c)
	return stop
}

// refused returns the error of a refusal with the messages that the model refused: those
// that it was sent for the first time, or else all of this round.
func (r *Round) refused(err error, seen int) error {
	first := r.Seen + 1
	if seen == r.Seen {
		first = r.In.Job.Seen + 1
	}
	return &refusal{err, first, seen}
}

// spend records the usage of answers that became no turn. If it fails, the usage
// of the job, the project and the organisation is too low.
func (s *Steps) spend(ctx context.Context, lease admin.AgentLease, t admin.AgentTurn) {
	if t.Usage == (admin.AgentUsage{}) {
		return
	}
	// Record it even if the context of the step has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spendTime)
	defer cancel()
	if err := s.opt.Admin.SpendAgent(ctx, lease, t); err != nil {
		s.opt.Log.WarnContext(ctx, "what an answer cost was not recorded", "job", lease.Ref.Job, "error", err)
	}
}

// spendTime is how long a step may take to record its usage after its context has
// ended.
const spendTime = 5 * time.Second

// ask sends the request, compacted if it is too long for the model. If the server refuses
// it as too long nevertheless, it is compacted for a smaller limit until nothing is left
// to replace. The answer has the known usage, even with an error.
func (s *Steps) ask(ctx context.Context, lease admin.AgentLease, r *Round, m model.Choice, c *checkpoint) (model.Answer, error) {
	ctx, unwanted, end := s.watched(ctx, lease)
	defer end()
	forced := ""
	if c.Last {
		forced = "finish"
	}
	m.Pictures = m.Pictures && !r.blind
	compacted, request, err := r.next(m, c.Said)
	if err != nil {
		return model.Answer{}, err
	}
	request.Call = forced
	answer, err := s.send(ctx, m, request, model.Usage{})
	for {
		if request.Call != "" && admin.CodeOf(err) == model.CodeInvalid {
			// Some servers refuse to force a call: together with thinking, or always.
			request.Call = ""
			answer, err = s.send(ctx, m, request, answer.Wasted)
		}
		if admin.CodeOf(err) == model.CodeInvalid && m.Pictures && withoutPictures(slices.Clone(request.Messages)) {
			// The server can't read a picture, or none at all.
			c.Blind, m.Pictures, forced = true, false, request.Call
			request = r.request(m, c.Said, compacted)
			request.Call = forced
			answer, err = s.send(ctx, m, request, answer.Wasted)
		}
		if admin.CodeOf(err) != model.CodeContext {
			break
		}
		l := r.refusedAt(m, r.tokens(m, request))
		next := r.compact(m, c.Said, compacted, int(compactTo*float64(l.Limit)))
		if next == compacted {
			return answer, cmp.Or(unwanted(), r.tooLong(m, request, err))
		}
		compacted, c.Learned, forced = next, l, request.Call
		request = r.request(m, c.Said, next)
		request.Call = forced
		answer, err = s.send(ctx, m, request, answer.Wasted)
	}
	if err != nil {
		return answer, cmp.Or(unwanted(), err)
	}
	if err := answer.Err(); err != nil {
		return answer, err
	}
	if compacted != r.compacted {
		c.Compacted = compacted
	}
	size := sizeOf(request, answer.Usage)
	c.Sent = &size
	if answer.Stop == model.StopContext {
		c.Learned = r.refusedAt(m, r.estimate(m, size.Guess))
	} else if l := r.suspect(m, size); l != nil {
		c.Learned = l
	}
	if len(answer.Content) == 0 {
		// A message without content can't be sent back.
		answer.Content = []model.Block{model.Text("(no answer)")}
	}
	return answer, nil
}

// send sends one request and adds wasted to the answer's.
func (s *Steps) send(ctx context.Context, m model.Choice, request model.Request, wasted model.Usage) (model.Answer, error) {
	answer, err := m.Client.Ask(ctx, request, nil)
	answer.Wasted = answer.Wasted.Plus(wasted)
	return answer, err
}

// call runs the answer's calls and adds their results to the checkpoint and the event.
// The error ends the round after this turn is written. An answer that stopped at a limit
// of the model never finishes the round: it is continued once.
func (s *Steps) call(ctx context.Context, r *Round, m model.Choice, answer model.Answer, c *checkpoint, event *admin.AgentEvent) error {
	var stop error
	room := r.roomFor(m, c.Said, answer.Content)
	c.Cut = answer.Stop == model.StopMaxTokens || answer.Stop == model.StopContext
	if c.Cut && r.cut > 0 {
		stop = admin.Errorf(admin.CodeModelOutput, "two answers of the model in a row stopped at its limit of output tokens")
	}
	for _, b := range answer.Content {
		if b.Type != model.TypeToolUse {
			continue
		}
		var result tool.Result
		if fault := b.Fault(); fault != nil {
			result = tool.Result{Text: fault.Error(), IsError: true, Outcome: "not a call"}
		} else {
			r.tools.TakePictures(m.Pictures && !r.blind && !c.Blind)
			result = r.tools.CallWithin(ctx, b.Name, b.Input, func(r tool.Result) string { return room.refuse(b.Name, r) })
		}
		if result.Fetch != nil && c.Last {
			result = tool.Result{Text: "Not fetched: this is your last turn.", IsError: true, Outcome: "too late"}
		}
		if result.Finish != nil && len(c.Fetches) > 0 {
			result = tool.Result{Text: "Not finished: you asked for a commit. Read what you need of it first.", IsError: true, Outcome: "waits for a commit"}
		}
		if result.Finish != nil && c.Cut {
			result = tool.Result{Text: "Not finished: your answer stopped at its limit of tokens before its end. Call finish alone.", IsError: true, Outcome: "cut off"}
		}
		if result.Finish != nil && !r.warned && !c.Last {
			// The model wrote all calls before it saw any result: what holds up one
			// call of finish holds up the others, too.
			if text := s.unfinished(ctx, r); text != "" {
				c.Warned, c.Finish = true, nil
				result = tool.Result{Text: text, IsError: true, Outcome: "findings are left"}
			}
		}
		digest := callDigest(b.Name, b.Input, result.Text)
		c.Calls = append(c.Calls, call{b.Name, digest, result.File, Cut(result.Outcome, 300)})
		n := r.repeats(digest)
		for _, made := range c.Calls {
			if made.Digest == digest {
				n++
			}
		}
		if n >= endAfter {
			stop = admin.Errorf(admin.CodeLoop, "the agent went in circles: it called %s %d times with the same result", b.Name, n)
		} else if n >= hintAfter {
			result.Text += "\n\n" + hintCircles
		}
		if result.Finish != nil {
			c.Finish = result.Finish
		}
		if result.Plan != nil {
			c.Plan = result.Plan
		}
		if result.Fetch != nil {
			c.Fetches, c.Finish = append(c.Fetches, *result.Fetch), nil
		}
		room.count(result)
		block := model.ToolResult(b.ID, result.Text, result.IsError)
		for _, p := range result.Pictures {
			block.Pictures = append(block.Pictures, model.Picture{Type: p.Type, Data: p.Data})
		}
		c.Results = append(c.Results, block)
		event.Tools = append(event.Tools, admin.AgentToolCall{Name: b.Name, File: result.File, Outcome: result.Outcome, Failed: result.IsError})
	}
	if len(c.Calls) == 0 && !c.Cut && r.silent > 0 && !c.Last {
		// Asked once to use its tools, the model still only writes: its answer
		// ends the round. In the last turn, only finish does.
		c.Finish = &tool.Finish{Summary: answerText(answer)}
	}
	if c.Last && c.Finish != nil && c.Finish.Left == "" {
		c.Finish.Left = leftUnsaid
	}
	return stop
}

// unfinished returns the answer to the first finish of a round whose changes brought
// new errors, or "".
func (s *Steps) unfinished(ctx context.Context, r *Round) string {
	if len(r.Tree.Changes()) == 0 {
		return ""
	}
	found, err := r.check(ctx)
	if err != nil {
		s.opt.Log.WarnContext(ctx, "the changes were not checked", "job", r.Ref.Job, "error", err)
		return ""
	}
	var b strings.Builder
	for _, f := range found {
		if f.Level == "error" || f.Level == "warning" {
			fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", f.File, f.Line, f.Column, f.Level, f.Message)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Not finished yet: your changes bring these findings. Mend them, or call finish again and say in the summary why they stay.\n" + Cut(b.String(), 8<<10)
}

// MaxEventText is how many bytes of an answer an event shows.
const MaxEventText = 2000

// answerText returns the text of an answer, without secrets.
func answerText(a model.Answer) string {
	var texts []string
	for _, b := range a.Content {
		if b.Type == model.TypeText && strings.TrimSpace(b.Text) != "" {
			texts = append(texts, strings.TrimSpace(b.Text))
		}
	}
	return tool.Redact(strings.Join(texts, "\n\n"))
}

func usage(u model.Usage, m model.Choice) admin.AgentUsage {
	return admin.AgentUsage{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output, Cost: m.Price.Cost(u)}
}

func planItems(items []tool.PlanItem) []admin.AgentPlanItem {
	var out []admin.AgentPlanItem
	for _, i := range items {
		out = append(out, admin.AgentPlanItem{Text: Cut(i.Text, 300), State: i.State})
	}
	return out
}
