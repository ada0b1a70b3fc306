package stack_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

// TestDrop holds that a delete can be tried again after its answer was lost, and
// that a table which stays is an error.
func TestDrop(t *testing.T) {
	for _, c := range []struct {
		name, refusal, status string
		wantErr               string
	}{
		{name: "deleted"},
		{name: "deleted by an earlier try", refusal: "ResourceNotFoundException"},
		{name: "being deleted by an earlier try", refusal: "ResourceInUseException", status: "DELETING"},
		{name: "still created", refusal: "ResourceInUseException", status: "CREATING", wantErr: "ResourceInUseException"},
		{name: "in use, its state not readable", refusal: "ResourceInUseException", wantErr: "ResourceInUseException"},
		{name: "protected", refusal: "ValidationException", wantErr: "ValidationException"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				refusal := c.refusal
				if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DescribeTable") {
					if c.status != "" {
						fmt.Fprintf(w, `{"Table": {"TableName": "t", "TableStatus": %q}}`, c.status)
						return
					}
					refusal = "AccessDeniedException"
				}
				if refusal == "" {
					fmt.Fprint(w, `{}`)
					return
				}
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"__type": "com.amazonaws.dynamodb.v20120810#%s", "message": "no"}`, refusal)
			}))
			t.Cleanup(server.Close)
			tables := stack.NewTables(aws.Config{
				Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
			})
			err := tables.Drop(t.Context(), "t")
			if c.wantErr == "" && err != nil || c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)) {
				t.Errorf("got %v, want %q", err, c.wantErr)
			}
		})
	}
}

// TestRestoreAgain holds that a restore can be tried again after its answer was lost, and
// that it never takes a table that was there before.
func TestRestoreAgain(t *testing.T) {
	for name, c := range map[string]struct {
		created time.Duration // before the call
		ok      bool
	}{
		"made by an earlier try": {-time.Second, true},
		"there before":           {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			created := time.Now().Add(-c.created).Unix()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/x-amz-json-1.0")
				if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".DescribeTable") {
					fmt.Fprintf(w, `{"Table": {"TableName": "new", "TableStatus": "ACTIVE", "CreationDateTime": %d}}`, created)
					return
				}
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"__type": "com.amazonaws.dynamodb.v20120810#TableAlreadyExistsException", "message": "there"}`)
			}))
			t.Cleanup(server.Close)
			tables := stack.NewTables(aws.Config{
				Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""),
			})
			if err := tables.Restore(t.Context(), "old", "new", time.Time{}); (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
}
