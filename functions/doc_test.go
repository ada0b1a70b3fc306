// Package functions_test holds every Lambda function against its sample
// invocation in the folder events:
//
//	scenario_test.go  the samples as one story: publish, export, fail, reconcile
//	replay_test.go    the story on storage of this machine, through the adapters
//	binaries_test.go  the story with the programs that are deployed, on a local
//	                  cloud; the arm64 ones under emulation
//	runtime_test.go   the Lambda runtime's side of a function: a process and its
//	                  invocations
//	start_test.go     size, and time from a process's start to its first answer
package functions_test
