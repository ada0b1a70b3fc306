// Package cloud tests the deployed stack on local clouds: against the local
// Bindery, under faults, by its permissions, through updates and removal. Its two
// tests run when make test-cloud and make test-sam ask for them.
package cloud
