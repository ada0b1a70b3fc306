// Package pipelines runs what our documentation gives to pipelines: the action, the
// templates of forges and the loop of the chart, in a shell with the forge's part
// played.
package pipelines
