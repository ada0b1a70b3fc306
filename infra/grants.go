package main

import (
	"maps"
	"path"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretrow"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// access is what a function may do, in the words of IAM without their service.
type access struct {
	// table are calls on records, of the partitions of keys if it has any; index
	// allows Query on the index of active jobs.
	table []string
	keys  []string
	index bool
	// stream: the table's stream may call it.
	stream bool
	// metered: it may note the calls that it answers, and write no other record.
	metered bool
	// unpins: it may remove pins of archives, and no other record.
	unpins bool
	// sources and exports are calls on the objects of a bucket, by patterns of
	// their keys; listing tells what is there and what is not.
	sources, exports               map[string][]string
	sourcesListing, exportsListing bool
	// invokes are names of functions that it may call.
	invokes []string
	// runs are calls on executions of exports, agents on those of agent jobs.
	runs, agents []string
	// credentials: it may open the credentials of forges; githubApp: it may read the
	// key of the operator's GitHub App; modelKeys: it may read the keys of models.
	// No function may do the last and one of the others.
	credentials, githubApp, modelKeys bool
	// signs names the roles that it may take to sign links.
	signs []string
}

// Patterns of object keys.
const (
	anySource = "orgs/*"
	packs     = "orgs/*/packs/*"
	manifests = "orgs/*/manifests/*"
)

// Patterns of keys of what an export is made of.
var (
	anyPart     = job.AllObjects + "*"
	sitePlan    = job.SiteKey("*")
	diagnostics = job.DiagnosticsKey("*")
	shardPlans  = beside(job.ShardKey("*", 1))
	units       = beside(job.UnitsKey("*", 1))
	indexRows   = beside(job.RowsKey("*", 1))
	facts       = beside(job.FactsKey("*", 1))
	apiSlices   = job.SlicesKey("*")
	searchParts = beside(job.SearchKey("*", 1))
	fullTexts   = beside(job.FullKey("*", 1))
	fetched     = beside(job.RemoteIndexKey("*"))
	bundleFiles = job.BundleKey("*")
	findings    = admin.FindingsKey("*")
	changeLists = admin.ChangesKey("*")

	anyRound  = job.AgentObjects + "*"
	anyReview = job.AgentReviews + "*"

	keptList  = job.KeptKey("*")
	keptPacks = admin.AllKept + "*"
)

// beside is the pattern of all keys in the folder of one.
func beside(key string) string { return path.Dir(key) + "/*" }

// grants is the whole of what functions may do, logs, traces and dead letters
// aside. A transaction needs the right to each write in it. A listing is also
// what makes S3 answer "not there" instead of "forbidden" for a single object.
//
// make test-cloud records the calls of every function and holds them against
// this table, action by action and resource by resource, in both directions.
func grants() map[string]access {
	var (
		read  = []string{"GetItem"}
		write = []string{"GetItem", "PutItem"}
		steps = []string{"GetItem", "Query", "PutItem"}      // that look for the export before
		idem  = []string{"GetItem", "PutItem", "DeleteItem"} // with an Idempotency-Key, whose row goes after a failure
		get   = []string{"GetObject"}
		put   = []string{"PutObject"}
		both  = []string{"GetObject", "PutObject"}
		del   = []string{"DeleteObject"}
		// takeBack is for uploads in parts that fail half-way.
		takeBack = []string{"AbortMultipartUpload"}

		published = map[string][]string{manifests: get, packs: get}

		// round are calls on the records of an agent's round.
		round = []string{"GetItem", "Query", "PutItem"}
		// The credentials of forges are records, too: ciphertext.
		rounds         = admin.AgentKeys()
		andCredentials = append(admin.AgentKeys(), secretrow.Partition+"*")
	)
	return map[string]access{
		"startagentjob":   {table: idem, agents: []string{"StartExecution"}},
		"messageagentjob": {table: idem, agents: []string{"StartExecution"}},
		"getagentjob":     {table: read, metered: true},
		"getagentmodels":  {table: read, metered: true},
		"listagentjobs":   {table: []string{"GetItem", "Query"}, metered: true},
		"listagentevents": {table: []string{"GetItem", "Query"}, metered: true},
		"cancelagentjob":  {table: idem},
		"archiveagentjob": {table: idem},
		"getexport":       {table: []string{"GetItem", "Query"}, metered: true},
		"listexports":     {table: []string{"GetItem", "Query"}, metered: true},
		"cancelexport":    {table: append(idem, "Query"), runs: []string{"DescribeExecution", "StopExecution"}},
		"listfindings":    {table: read, metered: true, exports: map[string][]string{findings: get}, exportsListing: true},
		"listsnapshots":   {table: []string{"GetItem", "Query"}, metered: true},
		"restoresnapshot": {table: idem, signs: []string{signer}},
		"getlive":         {table: read, metered: true},
		"listlive":        {table: []string{"GetItem", "Query"}, metered: true},
		// It looks whether the bundle is there.
		"setlive":         {table: idem, exports: map[string][]string{bundleFiles: get}, exportsListing: true},
		"getorganisation": {table: read, metered: true},
		"listprojects":    {table: []string{"GetItem", "Query"}, metered: true},
		"getusage":        {table: read, metered: true},
		"latestsnapshot":  {table: read, metered: true, signs: []string{signer}},
		"startexport":     {table: idem, runs: []string{"StartExecution"}},
		"generatebundle": {
			table: idem, signs: []string{signer},
			exports: map[string][]string{bundleFiles: get}, exportsListing: true,
		},
		"createsnapshot": {
			table: idem, signs: []string{uploader},
			sources: published, sourcesListing: true,
		},
		"publishsnapshot": {
			table: idem, signs: []string{signer},
			sources: published, sourcesListing: true,
		},
		"getwebhooks":         {table: read, metered: true},
		"createwebhook":       {table: idem},
		"deletewebhook":       {table: idem},
		"rotatewebhooksecret": {table: idem},
		"listdeliveries":      {table: []string{"GetItem", "Query"}, metered: true},
		"redeliver":           {table: idem},
		"openapi":             {},

		// What roles allow, the rules decide: it does what the functions above do. It
		// reads the identity provider's secret besides: see newPeople.
		dashboardFunction: {
			table: []string{"GetItem", "Query", "PutItem", "DeleteItem"}, signs: []string{signer, uploader},
			// For the lines of findings, and what a snapshot changed. Of a folder that
			// is published from a browser, it writes the manifest itself.
			sources: map[string][]string{manifests: both, packs: get}, sourcesListing: true,
			exports: map[string][]string{bundleFiles: get, findings: get, changeLists: get}, exportsListing: true,
			runs: []string{"StartExecution", "DescribeExecution", "StopExecution"}, agents: []string{"StartExecution"},
		},

		// Each step writes its own parts of an export, and Assemble alone a
		// bundle of them; Plan copies one that another job has made, with its
		// findings. Who ends a job keeps what was found in its parts.
		"planexport": {
			table: steps, unpins: true, sources: published,
			exports: map[string][]string{sitePlan: put, diagnostics: put, shardPlans: put, apiSlices: put, fetched: both, bundleFiles: both, findings: both, anyPart: takeBack, keptList: put, keptPacks: {"GetObject", "PutObject", "DeleteObject"}},
			// A file of another host that was fetched by a run before is read.
			exportsListing: true,
		},
		"rendershard": {
			table: write, sources: published,
			exports: map[string][]string{
				sitePlan: get, shardPlans: get, units: both, indexRows: both, facts: both,
				apiSlices: get, searchParts: both, fullTexts: both, anyPart: takeBack, keptList: get, keptPacks: both,
			},
			exportsListing: true,
		},
		"assemblebundle": {
			table:   steps,
			unpins:  true, // a job that goes live takes the place of an older one
			sources: map[string][]string{anySource: get},
			exports: map[string][]string{
				sitePlan: {"GetObject", "DeleteObject"}, diagnostics: {"GetObject", "DeleteObject"}, shardPlans: del,
				units: {"GetObject", "DeleteObject"}, indexRows: {"GetObject", "DeleteObject"}, facts: {"GetObject", "DeleteObject"},
				apiSlices: del, fullTexts: {"GetObject", "DeleteObject"}, searchParts: {"GetObject", "PutObject", "DeleteObject"}, fetched: {"GetObject", "DeleteObject"},
				// The bundle is compared with the one before.
				bundleFiles: both, findings: put, changeLists: put, anyPart: takeBack,
				keptList: {"GetObject", "DeleteObject"}, keptPacks: {"GetObject", "PutObject", "DeleteObject"},
			},
			exportsListing: true,
		},
		"failexport": {
			table:   []string{"GetItem", "Query", "PutItem"},
			exports: map[string][]string{anyPart: {"GetObject", "DeleteObject"}, findings: put, bundleFiles: takeBack}, exportsListing: true,
		},

		// Who has a forge's credential has no model's key, and the other way
		// round. Objects of a round stay until the reconciler sweeps them.
		"agentprepare": {
			table: round, keys: andCredentials, credentials: true, githubApp: true,
			// A step that runs again looks whose an object is that is there.
			sources: map[string][]string{anyRound: {"GetObject", "PutObject", "AbortMultipartUpload"}}, sourcesListing: true,
		},
		"agentwork": {
			table: round, keys: rounds, modelKeys: true,
			sources: map[string][]string{anyRound: {"GetObject", "PutObject", "AbortMultipartUpload"}}, sourcesListing: true,
		},
		// It renders what authors and a model wrote, and has neither a model's key nor a
		// forge's credential. Nobody else writes its records.
		"agentreview": {
			table: round, keys: rounds,
			sources: map[string][]string{anyRound: get, anyReview: both}, sourcesListing: true,
		},
		"agentpublish": {
			table: round, keys: andCredentials, credentials: true, githubApp: true,
			// After a merge or a conflict it writes a manifest of the changed branch.
			sources: map[string][]string{anyRound: {"GetObject", "PutObject", "AbortMultipartUpload"}, anyReview: get}, sourcesListing: true,
		},
		"agentfail": {table: write, keys: rounds},

		"reconcile": {
			table: []string{"GetItem", "Query", "PutItem", "DeleteItem"}, index: true,
			sources: map[string][]string{manifests: {"GetObject", "DeleteObject"}, packs: del, anyRound: del, anyReview: del}, sourcesListing: true,
			exports: map[string][]string{anyPart: {"GetObject", "DeleteObject"}, findings: put, bundleFiles: takeBack, keptPacks: del}, exportsListing: true,
			// It has no credential of a forge, and asks who has one for pull requests.
			invokes: []string{"agentprepare"},
			runs:    []string{"StartExecution", "DescribeExecution", "StopExecution"}, agents: []string{"StartExecution", "DescribeExecution", "StopExecution"},
		},
		webhooksFunction: {table: []string{"GetItem", "Query", "PutItem", "DeleteItem"}, stream: true},
		signer: {
			sources: map[string][]string{manifests: get},
			exports: map[string][]string{bundleFiles: get, changeLists: get},
		},
		uploader: {
			sources: map[string][]string{manifests: put, packs: put},
		},
	}
}

// Roles that links are made with: the one can only read what links are made
// for, the other only write what is uploaded. A link made with a function's
// own rights would end when those do, at a time that the function can't know;
// of a role that it takes, it is told the end.
const (
	signer   = "signer"
	uploader = "uploader"
)

func (s *stack) newSigners() {
	s.signers = make(map[string]signing)
	all := grants()
	for _, signs := range []struct{ role, variable, about string }{
		{signer, config.SignerRole, "What links to bundles and manifests can read"},
		{uploader, config.UploadSignerRole, "What links for uploads can write"},
	} {
		var who []awsiam.IPrincipal
		var takers []awsiam.IRole
		var called []awslambda.Function
		for _, name := range slices.Sorted(maps.Keys(s.functions)) {
			if f := s.functions[name]; slices.Contains(all[name].signs, signs.role) {
				who = append(who, awsiam.NewArnPrincipal(f.role.RoleArn()))
				takers = append(takers, f.role)
				called = append(called, f.fn)
			}
		}
		role, may := s.newRole(signs.role+"-role", signs.about, awsiam.NewCompositePrincipal(who...))
		for _, fn := range called {
			fn.AddEnvironment(jsii.String(signs.variable), role.RoleArn(), nil)
		}
		// The role names those who may take it, so their own policies can't
		// name the role: the two would wait for each other.
		awsiam.NewPolicy(s.Stack, jsii.String(signs.role+"-takers"), &awsiam.PolicyProps{
			Roles: &takers, Statements: &[]awsiam.PolicyStatement{allow(role.RoleArn(), "sts:AssumeRole")},
		})
		s.signers[signs.role] = signing{role, may}
	}
}

// signing is a role that links are made with, and its one policy.
type signing struct {
	role awsiam.Role
	may  awsiam.PolicyDocument
}

// grant writes what the table says into the policy of every role.
func (s *stack) grant() {
	all := grants()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		may := s.signers[name].may
		if f := s.functions[name]; f != nil {
			may = f.may
		}
		may.AddStatements(s.statements(all[name])...)
	}
}

func (s *stack) statements(a access) []awsiam.PolicyStatement {
	var all []awsiam.PolicyStatement
	to := func(service string, calls []string, resource *string) {
		actions := make([]string, len(calls))
		for i, call := range calls {
			actions[i] = service + ":" + call
		}
		all = append(all, allow(resource, actions...))
	}
	table := s.storage.table.TableArn()
	// ofPartitions is the condition that records are of some partitions alone.
	ofPartitions := func(patterns ...string) *map[string]any {
		return &map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": jsii.Strings(patterns...)}}
	}
	switch {
	case len(a.keys) > 0:
		actions := make([]string, len(a.table))
		for i, call := range a.table {
			actions[i] = "dynamodb:" + call
		}
		all = append(all, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings(actions...), Resources: &[]*string{table}, Conditions: ofPartitions(a.keys...),
		}))
	case len(a.table) > 0:
		to("dynamodb", a.table, table)
	}
	if a.metered {
		all = append(all, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("dynamodb:PutItem"), Resources: &[]*string{table}, Conditions: ofPartitions(admin.MeteredKeys),
		}))
	}
	if a.unpins {
		all = append(all, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("dynamodb:DeleteItem"), Resources: &[]*string{table}, Conditions: ofPartitions(admin.ArchiveKeys),
		}))
	}
	if stream := s.storage.table.TableStreamArn(); a.stream && stream != nil {
		to("dynamodb", []string{"DescribeStream", "GetRecords", "GetShardIterator"}, stream)
		to("dynamodb", []string{"ListStreams"}, jsii.String("*")) // it takes no resource
	}
	if a.index {
		to("dynamodb", []string{"Query"}, awscdk.Fn_Join(jsii.String(""), &[]*string{table, jsii.String("/index/" + activeIndex)}))
	}
	objects := func(bucket awss3.Bucket, keys map[string][]string, listing bool) {
		for _, pattern := range slices.Sorted(maps.Keys(keys)) {
			to("s3", keys[pattern], bucket.ArnForObjects(&pattern))
		}
		if listing {
			to("s3", []string{"ListBucket"}, bucket.BucketArn())
		}
	}
	objects(s.storage.sources, a.sources, a.sourcesListing)
	objects(s.storage.exports, a.exports, a.exportsListing)
	for _, name := range a.invokes {
		to("lambda", []string{"InvokeFunction"}, s.functions[name].fn.FunctionArn())
	}
	ofMachine := func(machine awsstepfunctions.StateMachine, calls []string) {
		if slices.Contains(calls, "StartExecution") {
			to("states", []string{"StartExecution"}, machine.StateMachineArn())
		}
		if others := without(calls, "StartExecution"); len(others) > 0 {
			to("states", others, executions(machine, "*"))
		}
	}
	ofMachine(s.workflow.machine, a.runs)
	ofMachine(s.workflow.agent, a.agents)
	if a.credentials {
		// What was encrypted for an owner, as credentials are, and nothing else that
		// the key has encrypted, as a customer's may have for other services.
		all = append(all, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("kms:Decrypt"), Resources: &[]*string{s.storage.credentials.KeyArn()},
			Conditions: &map[string]any{"ForAllValues:StringEquals": map[string]any{
				"kms:EncryptionContextKeys": jsii.Strings(secretrow.ContextOrganisation, secretrow.ContextProject),
			}},
		}))
	}
	if a.githubApp {
		to("secretsmanager", []string{"GetSecretValue"}, s.storage.appKey.AttrId())
	}
	if a.modelKeys {
		to("secretsmanager", []string{"GetSecretValue"}, s.storage.modelKeys.AttrId())
	}
	if key := s.storage.key; key != nil && len(a.table)+len(a.sources)+len(a.exports) > 0 {
		// By the services alone that keep the data: the key opens nothing else.
		// The calls are those that DynamoDB's documentation names for callers
		// of a table under a customer's key; S3 needs the first two.
		region := func(service string) *string {
			return awscdk.Fn_Join(jsii.String("."), &[]*string{&service, s.Region(), s.UrlSuffix()})
		}
		all = append(all, awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions: jsii.Strings("kms:Decrypt", "kms:GenerateDataKey", "kms:DescribeKey", "kms:Encrypt",
				"kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"), Resources: &[]*string{key.KeyArn()},
			Conditions: &map[string]any{"StringEquals": map[string]any{"kms:ViaService": []*string{region("s3"), region("dynamodb")}}},
		}))
	}
	return all
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}
