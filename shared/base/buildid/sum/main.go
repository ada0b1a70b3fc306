// Command sum prints the digest of a package's sources, for a build that puts it
// into its programs:
//
//	go run ./shared/base/buildid/sum shared/service/export
package main

import (
	"fmt"
	"os"

	"github.com/bindery-docs/bindery/shared/base/buildid"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sum PACKAGE, a folder of the checkout in the working directory")
		os.Exit(2)
	}
	digest, err := buildid.Digest(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "sum:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}
