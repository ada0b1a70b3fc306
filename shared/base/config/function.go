package config

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// Variables of Lambda functions. The stack sets them; a function reads those
// that it needs. Region, credentials and AWS_ENDPOINT_URL are the SDK's and
// are read in package cloud.
const (
	// Stage is the name of the deployment's stage: dev, prod, local.
	Stage = "BINDERY_STAGE"
	// Table is the name of the DynamoDB table.
	Table = "BINDERY_TABLE"
	// SourcesBucket is the bucket of snapshots: keys that begin with orgs/.
	SourcesBucket = "BINDERY_SOURCES_BUCKET"
	// ExportsBucket is the bucket of exports: keys that begin with exports/.
	ExportsBucket = "BINDERY_EXPORTS_BUCKET"
	// StateMachine is the ARN of the export workflow.
	StateMachine = "BINDERY_STATE_MACHINE"
	// AgentMachine is the ARN of the agent's workflow; without it there are no
	// agents.
	AgentMachine = "BINDERY_AGENT_STATE_MACHINE"
	// ModelTable is the table of models that agents ask, as JSON; without it
	// there are no agents.
	ModelTable = "BINDERY_MODEL_TABLE"
	// ModelSecret is the ARN of the secret that has the models' keys.
	ModelSecret = "BINDERY_MODEL_SECRET"
	// CredentialKey is the ARN of the key that the credentials of forges are
	// encrypted with.
	CredentialKey = "BINDERY_CREDENTIAL_KEY"
	// ForgeHosts and ForgePrivateHosts are hosts of forges, with public and with
	// private addresses, with commas between them; empty for the usual ones and
	// for none.
	ForgeHosts        = "BINDERY_FORGE_HOSTS"
	ForgePrivateHosts = "BINDERY_FORGE_PRIVATE_HOSTS"
	// GitHubApp is the id of the operator's GitHub App, empty for none, and
	// GitHubAppHost is the host that it is registered at, empty for github.com. The command
	// reads the two as well.
	GitHubApp     = "BINDERY_GITHUB_APP"
	GitHubAppHost = "BINDERY_GITHUB_APP_HOST"
	// GitHubAppSecret is the ARN of the secret that has the App's private key.
	GitHubAppSecret = "BINDERY_GITHUB_APP_SECRET"
	// PullFunction is the name of the function that asks forges for pull requests;
	// without it nobody asks.
	PullFunction = "BINDERY_PULL_FUNCTION"
	// WebhookHosts are hosts of the operator's own network that webhooks may have,
	// with commas between them: see remote.Callbacks.
	WebhookHosts = "BINDERY_WEBHOOK_HOSTS"
	// DashboardURL is the address under which people reach the dashboard.
	DashboardURL = "BINDERY_DASHBOARD_URL"
	// OIDCIssuer is the address of the OpenID provider that signs people in,
	// OIDCClientID what it knows the dashboard as, and OIDCSecret the ARN of the
	// secret that has the client secret.
	OIDCIssuer   = "BINDERY_OIDC_ISSUER"
	OIDCClientID = "BINDERY_OIDC_CLIENT_ID"
	OIDCSecret   = "BINDERY_OIDC_SECRET"
	// OIDCGroupsClaim is the claim with a person's groups, and OIDCGroups the table
	// of what each is in organisations, as JSON; empty for none.
	OIDCGroupsClaim = "BINDERY_OIDC_GROUPS_CLAIM"
	OIDCGroups      = "BINDERY_OIDC_GROUPS"
	// SignerRole is the ARN of the role whose credentials sign links to bundles.
	SignerRole = "BINDERY_SIGNER_ROLE"
	// UploadSignerRole is the ARN of the role whose credentials sign links for
	// uploads; without one, the function's own do.
	UploadSignerRole = "BINDERY_UPLOAD_SIGNER_ROLE"
	// LinkLife is how long links live, as Go writes durations ("30m"); at
	// most an hour, as long as credentials of a role that a role assumes.
	LinkLife = "BINDERY_LINK_LIFE"
	// MaxRunning is how many exports of an organisation may be queued or
	// running at once.
	MaxRunning = "BINDERY_MAX_RUNNING"
	// BundleDays is after how many days the sweep removes bundles of projects without a
	// retention of their own; 0 keeps them.
	BundleDays = "BINDERY_BUNDLE_DAYS"
)

// DefaultGitHubHost is where an operator's GitHub App is registered unless told
// otherwise.
const DefaultGitHubHost = "github.com"

// EmptySecret is the text of a secret that the stack has made and nobody has put
// anything into.
const EmptySecret = "{}"

// longestLinkLife is AWS's bound for chained roles.
const longestLinkLife = time.Hour

// Function is the environment of a Lambda function. Fields of variables that
// are not set are empty.
type Function struct {
	Stage            string
	Table            string
	SourcesBucket    string
	ExportsBucket    string
	StateMachine     string
	AgentMachine     string
	ModelTable       string
	ModelSecret      string
	CredentialKey    string
	PullFunction     string
	SignerRole       string
	UploadSignerRole string
	DashboardURL     string
	// OIDCGroups is the table's text.
	OIDCIssuer, OIDCClientID, OIDCSecret, OIDCGroupsClaim, OIDCGroups string
	// GitHubAppHost is github.com where there is an App and the variable is empty.
	GitHubApp, GitHubAppHost, GitHubAppSecret string
	// ForgeHosts and ForgePrivateHosts are nil where the variables are empty.
	ForgeHosts, ForgePrivateHosts []string
	WebhookHosts                  []string // nil where the variable is empty
	// LinkLife is 0 for the default, an hour.
	LinkLife time.Duration
	// MaxRunning is 0 for the default.
	MaxRunning int
	// BundleDays is 0 where bundles are kept.
	BundleDays int
}

// FunctionFromEnv reads the environment of a Lambda function through getenv.
// The variables named as needed must be there: a function that lacks one would
// fail its first caller, so it had better not start.
func FunctionFromEnv(getenv func(string) string, needed ...string) (Function, error) {
	for _, name := range needed {
		if getenv(name) == "" {
			return Function{}, fmt.Errorf("%s: must be set", name)
		}
	}
	f := Function{
		Stage: getenv(Stage), Table: getenv(Table), SourcesBucket: getenv(SourcesBucket), ExportsBucket: getenv(ExportsBucket),
		StateMachine: getenv(StateMachine), AgentMachine: getenv(AgentMachine), SignerRole: getenv(SignerRole), UploadSignerRole: getenv(UploadSignerRole),
		ModelTable: getenv(ModelTable), ModelSecret: getenv(ModelSecret), CredentialKey: getenv(CredentialKey), PullFunction: getenv(PullFunction),
		ForgeHosts: words(getenv(ForgeHosts)), ForgePrivateHosts: words(getenv(ForgePrivateHosts)),
		WebhookHosts: words(getenv(WebhookHosts)), DashboardURL: getenv(DashboardURL),
		OIDCIssuer: getenv(OIDCIssuer), OIDCClientID: getenv(OIDCClientID), OIDCSecret: getenv(OIDCSecret),
		OIDCGroupsClaim: getenv(OIDCGroupsClaim), OIDCGroups: getenv(OIDCGroups),
		GitHubApp: getenv(GitHubApp), GitHubAppHost: getenv(GitHubAppHost), GitHubAppSecret: getenv(GitHubAppSecret),
	}
	if f.GitHubApp != "" {
		f.GitHubAppHost = cmp.Or(f.GitHubAppHost, DefaultGitHubHost)
	}
	err := cmp.Or(
		set(getenv, LinkLife, &f.LinkLife, func(v string) (time.Duration, error) {
			d, err := time.ParseDuration(v)
			if err != nil || d < time.Second || d > longestLinkLife {
				return 0, errors.New("must be a duration from 1s to 1h")
			}
			return d, nil
		}),
		set(getenv, MaxRunning, &f.MaxRunning, func(v string) (int, error) {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 {
				return 0, errors.New("must be a whole number above 0")
			}
			return n, nil
		}),
		set(getenv, BundleDays, &f.BundleDays, func(v string) (int, error) {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				return 0, errors.New("must be a whole number, 0 or more")
			}
			return n, nil
		}),
	)
	if err != nil {
		return Function{}, err
	}
	return f, nil
}
