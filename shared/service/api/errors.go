package api

import (
	"errors"
	"net/http"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// status is the one place where codes become HTTP.
func status(code string) int {
	switch code {
	case admin.CodeUnauthorized, admin.CodeKeyExpired:
		return http.StatusUnauthorized
	case admin.CodeAddress, admin.CodeScope, admin.CodeRole, admin.CodePlan:
		return http.StatusForbidden
	case admin.CodeInvalid:
		return http.StatusBadRequest
	case admin.CodeUnsupported:
		return http.StatusUnsupportedMediaType
	case admin.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case admin.CodeNotFound, admin.CodeDomainNotFound:
		return http.StatusNotFound
	case admin.CodeMethod:
		return http.StatusMethodNotAllowed
	case admin.CodeLastOwner, admin.CodeDomainTaken, admin.CodeJobRunning, admin.CodeJobFailed, admin.CodeJobNotActive, admin.CodeNoSnapshot,
		admin.CodeVersionTaken, admin.CodeIncomplete, admin.CodeInconsistent, admin.CodeOvertaken, admin.CodeKeyRunning,
		admin.CodeForgeMissing, admin.CodeModelMissing, admin.CodeArchived, admin.CodePublishing, admin.CodeBudget,
		admin.CodeSuperseded, admin.CodeCancelled, admin.CodeTooManyWebhooks, admin.CodeDeliveryPending,
		admin.CodeLiveMoved, admin.CodeNotLive:
		return http.StatusConflict
	case admin.CodeBundleGone, admin.CodeFindingsGone:
		return http.StatusGone
	case admin.CodeKeyReused, admin.CodeInvalidSite, admin.CodeInvalidPaths, admin.CodeSiteTooLarge, admin.CodeProcessEnded,
		admin.CodeLoop, admin.CodeBranchMoved, admin.CodeModelDown, admin.CodeModelRefused, admin.CodeModelContext, admin.CodeModelOutput, admin.CodeModelInvalid,
		admin.CodeRepositoryOff, admin.CodeRepository, admin.CodeCredential, admin.CodePush, admin.CodeRef, admin.CodeRepositoryBig,
		admin.CodeForgeLimit, admin.CodePull, admin.CodeChanges: // all of the last are of failed jobs alone
		return http.StatusUnprocessableEntity
	case admin.CodeTooManyExports, admin.CodeTooManyAgents, admin.CodeAgentCost, admin.CodeTooManyKeys:
		return http.StatusTooManyRequests
	case admin.CodeTemporary:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// refusal is what a caller sees of an error: the error itself if it is one of
// ours, else a message that says nothing of what is inside.
func refusal(err error) *admin.Error {
	if e, ok := errors.AsType[*admin.Error](err); ok {
		return e
	}
	if outage, ok := errors.AsType[*store.Outage](err); ok {
		return admin.Errorf(admin.CodeTemporary, "%s", outage.Message).Wrap(err)
	}
	if admin.CodeOf(err) == admin.CodeTemporary {
		return admin.Errorf(admin.CodeTemporary, "the request took too long; try again").Wrap(err)
	}
	return admin.Errorf(admin.CodeInternal, admin.MessageInternal).Wrap(err)
}
