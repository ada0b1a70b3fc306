package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Codes say what went wrong. They appear in the header Bindery-Error-Code, in
// the failure of a job, and as error names in the workflow, so they are
// interface: add, but don't rename.
const (
	CodeUnauthorized   = "unauthorized"           // no key, or not one of ours
	CodeKeyExpired     = "key_expired"            // the key was one of ours until its end
	CodeAddress        = "address_not_allowed"    // the key may not be used from there
	CodeScope          = "scope_missing"          // the key may not do this
	CodeRole           = "role_missing"           // the person's role does not allow this
	CodePlan           = "plan_required"          // the organisation's plan does not include this
	CodeInvalid        = "invalid_request"        // a field or header is wrong
	CodeUnsupported    = "unsupported_media_type" // the body is not declared as JSON
	CodeTooLarge       = "too_large"              // a body or a site is over its limit
	CodeNotFound       = "not_found"              // nothing there for this caller
	CodeDomainNotFound = "domain_not_found"       // no project of the caller has this domain

	CodeMethod         = "method_not_allowed"    // the path is there for other methods
	CodeLastOwner      = "last_owner"            // the organisation would have no owner
	CodeDomainTaken    = "domain_taken"          // another project has the domain
	CodeJobRunning     = "job_running"           // the job has no result yet
	CodeJobFailed      = "job_failed"            // the job has no result and never will
	CodeNoSnapshot     = "no_snapshot"           // nothing was published for the domain yet
	CodeVersionTaken   = "version_taken"         // the label means other content
	CodeIncomplete     = "snapshot_incomplete"   // something was not uploaded
	CodeInconsistent   = "snapshot_inconsistent" // manifest and packs contradict each other
	CodeOvertaken      = "snapshot_overtaken"    // another snapshot was published meanwhile
	CodeBundleGone     = "bundle_gone"           // the bundle was removed or is damaged
	CodeFindingsGone   = "findings_gone"         // the findings were removed, or never kept
	CodeKeyReused      = "idempotency_mismatch"  // same Idempotency-Key, other request
	CodeKeyRunning     = "idempotency_running"   // the first request with this key still runs
	CodeTooManyExports = "too_many_exports"      // the organisation's running exports are at their limit

	CodeLiveMoved       = "live_moved"        // another version is live than the caller knows
	CodeNotLive         = "not_live"          // nothing is live, or there is nothing to go back to
	CodeTooManyKeys     = "too_many_keys"     // people made as many keys as they may in an hour
	CodeTooManyWebhooks = "too_many_webhooks" // the organisation has as many webhooks as it may have
	CodeDeliveryPending = "delivery_pending"  // the delivery has not ended yet

	CodeInvalidSite     = "invalid_site"     // the site can't be exported as it is
	CodeInvalidPaths    = "invalid_paths"    // no page lies below the paths of the export
	CodeRendererChanged = "renderer_changed" // steps of two renderers met in one job
	CodeSiteTooLarge    = "site_too_large"   // the site is over a limit of exports
	CodeProcessEnded    = "process_ended"    // the site twice ended the process that rendered it
	CodeJobNotActive    = "job_not_active"   // the job is final, or its state does not allow this
	CodeTemporary       = "temporary"        // try again: nothing is wrong for good
	CodeInternal        = "internal"         // an error of the service itself
)

// Codes of agent jobs, most of them of a failed one.
const (
	CodeForgeMissing  = "forge_missing"          // nothing is set up to reach the project's repository with
	CodeModelMissing  = "model_missing"          // no model is set up, or none of that name
	CodeTooManyAgents = "too_many_agent_jobs"    // active jobs, or the starts of this hour, are at their limit
	CodeAgentCost     = "agent_cost_limit"       // the project's agent jobs cost as much as they may in this month
	CodeArchived      = "job_archived"           // the job is archived
	CodePublishing    = "job_publishing"         // too late to cancel: the job is opening its pull request
	CodeSuperseded    = "superseded"             // a newer start of the step does its work
	CodeCancelled     = "cancelled"              // the caller asked for the end
	CodeBudget        = "budget"                 // turns, tokens, money or changes came to the plan's limit
	CodeLoop          = "loop"                   // the agent made the same call again and again
	CodeBranchMoved   = "branch_moved"           // people's commits on the job's branch conflict with its own
	CodeModelDown     = "model_unavailable"      // the model did not answer for long
	CodeModelRefused  = "model_refused"          // the model refused to work on the prompt
	CodeModelContext  = "model_context"          // the conversation is larger than the model takes
	CodeModelOutput   = "model_output"           // answers of the model stopped at its limit of output again and again
	CodeModelInvalid  = "model_invalid"          // the model's server took a request as wrong
	CodeRepositoryOff = "repository_unreachable" // the forge did not answer
	CodeRepository    = "repository_not_found"   // no such repository for this credential
	CodeCredential    = "forge_credential"       // the forge refused the credential
	CodePush          = "push_denied"            // the forge took no push
	CodeRef           = "ref_not_found"          // the repository has no such branch or tag
	CodeRepositoryBig = "repository_too_large"   // the repository is over a limit of agent jobs
	CodeForgeLimit    = "forge_rate_limited"     // the forge asks for fewer calls
	CodePull          = "pull_refused"           // the forge took no pull request
	CodeChanges       = "changes_refused"        // the changes touch what an agent may not write
)

// MessageInternal is what callers read of an error that is none of theirs, in
// every answer with CodeInternal.
const MessageInternal = "something went wrong on our side"

// Codes lists every code above, for tables and tests that must name them all.
func Codes() []string {
	return []string{
		CodeUnauthorized, CodeKeyExpired, CodeAddress, CodeScope, CodeRole, CodePlan, CodeInvalid, CodeUnsupported,
		CodeTooLarge, CodeNotFound, CodeDomainNotFound, CodeMethod, CodeLastOwner, CodeDomainTaken, CodeJobRunning, CodeJobFailed,
		CodeNoSnapshot, CodeVersionTaken, CodeIncomplete, CodeInconsistent, CodeOvertaken, CodeBundleGone, CodeFindingsGone,
		CodeKeyReused, CodeKeyRunning, CodeTooManyExports, CodeTooManyWebhooks, CodeDeliveryPending, CodeTooManyKeys, CodeLiveMoved, CodeNotLive, CodeInvalidSite, CodeInvalidPaths, CodeRendererChanged,
		CodeSiteTooLarge, CodeProcessEnded, CodeJobNotActive, CodeTemporary, CodeInternal,
		CodeForgeMissing, CodeModelMissing, CodeTooManyAgents, CodeAgentCost, CodeArchived, CodePublishing, CodeSuperseded, CodeCancelled,
		CodeBudget, CodeLoop, CodeBranchMoved, CodeModelDown, CodeModelRefused, CodeModelContext, CodeModelOutput, CodeModelInvalid,
		CodeRepositoryOff, CodeRepository, CodeCredential, CodePush, CodeRef, CodeRepositoryBig, CodeForgeLimit, CodePull, CodeChanges,
	}
}

// Error is a refusal or a failure: a code for programs, a message that is safe
// to show to the caller, and what the log should know besides.
type Error struct {
	code    string
	message string
	// Field is the field, parameter or header that is wrong, as in "paths[2]";
	// the message begins with it.
	Field string
	// RetryAfter, if not zero, is when trying again may help.
	RetryAfter time.Duration
	// Err is the cause, for the log only.
	Err error
}

var _ store.Coded = (*Error)(nil)

// Errorf makes an Error whose message is safe to show. A cause does not belong
// in the message: see Wrap.
func Errorf(code, format string, args ...any) *Error {
	return &Error{code: code, message: fmt.Sprintf(format, args...)}
}

// FieldErrorf makes an Error of code CodeInvalid about one field.
func FieldErrorf(field, format string, args ...any) *Error {
	return &Error{code: CodeInvalid, message: field + ": " + fmt.Sprintf(format, args...), Field: field}
}

// Wrap returns a copy of e with a cause.
func (e *Error) Wrap(cause error) *Error {
	c := *e
	c.Err = cause
	return &c
}

// After returns a copy of e that says when to try again.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// Code returns the error's code.
func (e *Error) Code() string { return e.code }

// SafeMessage returns the message for callers.
func (e *Error) SafeMessage() string { return e.message }

func (e *Error) Error() string {
	if e.Err != nil {
		return e.code + ": " + e.message + ": " + e.Err.Error()
	}
	return e.code + ": " + e.message
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err: its own, CodeTemporary where a context
// ended, else CodeInternal. It is empty for nil.
func CodeOf(err error) string {
	if err == nil {
		return ""
	}
	if c, ok := errors.AsType[store.Coded](err); ok {
		return c.Code()
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return CodeTemporary
	}
	return CodeInternal
}

// passing reports whether a refusal with this code ends once something missing is
// created. A request with the same Idempotency-Key then runs again.
func passing(code string) bool { return code == CodeDomainNotFound || code == CodeNoSnapshot }

// keepable reports whether an answer with this code is stored for a repeated
// request with the same Idempotency-Key. Errors that a retry may resolve are not.
func keepable(code string) bool {
	switch code {
	case CodeTooManyExports, CodeTooManyKeys, CodeTooManyWebhooks, CodeDeliveryPending, CodeTooManyAgents, CodeAgentCost, CodeForgeMissing, CodeModelMissing, CodeTemporary, CodeInternal, CodeKeyRunning, CodeKeyReused:
		return false
	}
	return true
}
