package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// alarm is one thing that an operator should look at. Its anchor is that of
// its section in the runbook.
type alarm struct {
	name, about, anchor string
	metric              awscloudwatch.IMetric
	threshold           float64
	// periods of five minutes in a row.
	periods float64
	// rich alarms are over several metrics.
	rich bool
}

// newWatch makes alarms, the topic that they tell, and the dashboard.
func (s *stack) newWatch() {
	five := awscdk.Duration_Minutes(jsii.Number(5))
	metric := func(namespace, name, statistic string, dimensions *map[string]*string) awscloudwatch.Metric {
		return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
			Namespace: &namespace, MetricName: &name, Statistic: &statistic, DimensionsMap: dimensions, Period: five,
		})
	}
	ofAPI := func(name, statistic string) awscloudwatch.Metric {
		return metric("AWS/ApiGateway", name, statistic, s.gateway.dimensions())
	}
	machine := &map[string]*string{"StateMachineArn": s.workflow.machine.StateMachineArn()}
	ofWorkflow := func(name string) awscloudwatch.Metric { return metric("AWS/States", name, "Sum", machine) }
	agents := &map[string]*string{"StateMachineArn": s.workflow.agent.StateMachineArn()}
	ofAgents := func(name string) awscloudwatch.Metric { return metric("AWS/States", name, "Sum", agents) }
	table := &map[string]*string{"TableName": s.storage.table.TableName()}
	queue := &map[string]*string{"QueueName": s.workflow.deadLetters.QueueName()}
	failing := func(name string) awscloudwatch.Metric {
		return metric("AWS/Lambda", name, "Sum", &map[string]*string{"FunctionName": s.functions["reconcile"].fn.FunctionName()})
	}
	ours := func(name, statistic string) awscloudwatch.Metric {
		return metric(cloud.MetricsNamespace, name, statistic, &map[string]*string{"Stage": jsii.String(string(s.stage))})
	}
	of := func(names ...string) *map[string]awscloudwatch.IMetric {
		m := make(map[string]awscloudwatch.IMetric)
		for _, name := range names {
			m[name] = metric("AWS/Lambda", "Throttles", "Sum", &map[string]*string{"FunctionName": s.functions[name].fn.FunctionName()})
		}
		return &m
	}

	alarms := []alarm{
		{name: "ApiFaults", about: "The API answers with 5xx", anchor: "api-faults", metric: ofAPI("5XXError", "Sum"), threshold: 5, periods: 1},
		// Not p99: calls that wait for events take up to 20 seconds.
		{name: "ApiSlow", about: "One request in ten takes over 5 s", anchor: "api-slow", metric: ofAPI("Latency", "p90"), threshold: 5000, periods: 3},
		{name: "ApiFaultRate", about: "Over 1% of requests end in 5xx", anchor: "api-faults", threshold: 1, periods: 3, rich: true,
			metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				Expression: jsii.String("IF(calls > 100, 100 * faults / calls, 0)"), Period: five, Label: jsii.String("faults in percent"),
				UsingMetrics: &map[string]awscloudwatch.IMetric{"calls": ofAPI("Count", "Sum"), "faults": ofAPI("5XXError", "Sum")},
			})},
		{name: "ExportsFail", about: "Exports fail by no fault of their sites", anchor: "exports-fail", metric: ours(cloud.MetricExportFaults, "Sum"), threshold: 3, periods: 1},
		{name: "ExportsTimeOut", about: "An export took longer than its limit", anchor: "exports-time-out", metric: ofWorkflow("ExecutionsTimedOut"), threshold: 1, periods: 1},
		{name: "AgentsFail", about: "Agent jobs fail by faults of Bindery", anchor: "agents-fail", metric: ours(cloud.MetricAgentFaults, "Sum"), threshold: 3, periods: 1},
		{name: "StepsThrottled", about: "Lambda's concurrency limit holds steps up", anchor: "steps-throttled", threshold: 50, periods: 3, rich: true,
			metric: awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
				// Not a + b: that is nothing in a period in which one of them has
				// no data, as Plan has while shards are rendered.
				Expression: jsii.String("SUM(METRICS())"), Period: five, Label: jsii.String("throttles"),
				UsingMetrics: of("planexport", "rendershard", "assemblebundle", "agentprepare", "agentwork", "agentreview", "agentpublish"),
			})},
		{name: "ReconcilerFails", about: "The reconciler fails again and again: jobs may hang", anchor: "reconciler-fails", metric: failing("Errors"), threshold: 3, periods: 2},
		{name: "SweepLate", about: "What expired has not been removed for three days", anchor: "sweep-late", metric: ours(cloud.MetricSweepAge, "Maximum"), threshold: 3 * 24 * 60 * 60, periods: 1},
		{name: "SweepFails", about: "Organisations could not be swept", anchor: "sweep-fails", metric: ours(cloud.MetricSweepFailures, "Sum"), threshold: 1, periods: 1},
		{name: "DeadLetters", about: "Events could not be handled", anchor: "dead-letters", metric: metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue), threshold: 1, periods: 1},
		// Not ThrottledRequests: a table has that for each operation apart, and
		// none for all.
		{name: "TableReadsThrottled", about: "DynamoDB refuses to read", anchor: "table-throttled", metric: metric("AWS/DynamoDB", "ReadThrottleEvents", "Sum", table), threshold: 10, periods: 2},
		{name: "TableWritesThrottled", about: "DynamoDB refuses to write", anchor: "table-throttled", metric: metric("AWS/DynamoDB", "WriteThrottleEvents", "Sum", table), threshold: 10, periods: 2},
	}

	topic := awssns.NewTopic(s.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		DisplayName: jsii.String("Alarms of " + s.settings.stack), EnforceSSL: jsii.Bool(true),
	})
	topic.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("cloudwatch.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sns:Publish"), Resources: &[]*string{topic.TopicArn()},
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": s.Account()}},
	}))
	tell := awscloudwatchactions.NewSnsAction(topic)
	var made []interfacesawscloudwatch.IAlarmRef
	var rules []awscloudwatch.IAlarmRule
	for _, a := range alarms {
		if a.rich && !s.richAlarms {
			continue
		}
		alarm := awscloudwatch.NewAlarm(s.Stack, jsii.String("Alarm"+a.name), &awscloudwatch.AlarmProps{
			AlarmDescription:   jsii.String(a.about + ". " + s.runbook + "#" + a.anchor),
			Metric:             a.metric,
			Threshold:          &a.threshold,
			EvaluationPeriods:  &a.periods,
			ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
			TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
		})
		alarm.AddAlarmAction(tell)
		alarm.AddOkAction(tell)
		made = append(made, alarm)
		rules = append(rules, awscloudwatch.AlarmRule_FromAlarm(alarm, awscloudwatch.AlarmState_ALARM))
	}
	if s.richAlarms {
		// One state for status pages: whether anything is wrong. Each alarm
		// tells of itself, so this one tells nobody.
		awscloudwatch.NewCompositeAlarm(s.Stack, jsii.String("Unwell"), &awscloudwatch.CompositeAlarmProps{
			AlarmDescription: jsii.String("Any alarm of " + s.settings.stack + ". " + s.runbook),
			AlarmRule:        awscloudwatch.AlarmRule_AnyOf(rules...),
		})
	}

	s.newBoard(made,
		[]awscloudwatch.IWidget{
			graph("Requests", ofAPI("Count", "Sum"), ofAPI("4XXError", "Sum"), ofAPI("5XXError", "Sum")),
			graph("Latency, ms", ofAPI("Latency", "p50"), ofAPI("Latency", "p99")),
		},
		[]awscloudwatch.IWidget{
			graph("Exports", ofWorkflow("ExecutionsStarted"), ofWorkflow("ExecutionsSucceeded"), ofWorkflow("ExecutionsFailed"), ofWorkflow("ExecutionsAborted")),
			graph("Agent jobs", ofAgents("ExecutionsStarted"), ofAgents("ExecutionsSucceeded"), ofAgents("ExecutionsFailed"), ofAgents("ExecutionsAborted")),
		},
		[]awscloudwatch.IWidget{graph("Dead letters", metric("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", queue))},
	)
	awscdk.NewCfnOutput(s.Stack, jsii.String("OutAlarmTopic"), &awscdk.CfnOutputProps{
		Value: topic.TopicArn(), Description: jsii.String("Topic that alarms tell: subscribe to it"),
	}).OverrideLogicalId(jsii.String("AlarmTopic"))
}

// half is half of a dashboard's width.
const half = 12

// graph shows metrics, in half of a row.
func graph(title string, left ...awscloudwatch.IMetric) awscloudwatch.IWidget {
	return awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{Title: &title, Left: &left, Width: jsii.Number(half)})
}

// newBoard makes the dashboard: all alarms, then rows of graphs.
func (s *stack) newBoard(alarms []interfacesawscloudwatch.IAlarmRef, rows ...[]awscloudwatch.IWidget) {
	board := awscloudwatch.NewDashboard(s.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: s.StackName(), DefaultInterval: awscdk.Duration_Hours(jsii.Number(24)),
	})
	board.AddWidgets(awscloudwatch.NewTextWidget(&awscloudwatch.TextWidgetProps{
		Markdown: jsii.String("# Bindery, " + string(s.stage) + "\nWhat to do about each alarm: [runbook](" + s.runbook + ")"),
		Width:    jsii.Number(2 * half), Height: jsii.Number(2),
	}))
	board.AddWidgets(awscloudwatch.NewAlarmStatusWidget(&awscloudwatch.AlarmStatusWidgetProps{
		Title: jsii.String("Alarms"), Alarms: &alarms, Width: jsii.Number(2 * half),
	}))
	for _, row := range rows {
		board.AddWidgets(row...)
	}
}
