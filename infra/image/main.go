// Command image builds the container images of the Helm chart, without a
// daemon and without pulling anything: an image is a static program, the roots
// that it trusts, and nothing else.
//
//	main.go     flags, and what is built: the images serve and loop, and chart
//	image.go    layers, configuration and the index of architectures
//	chart.go    the chart itself, packed as helm packs it, for registries
//	compile.go  programs for other machines
//
// The same sources, toolchain and flags give the same digest.
//
//	go run ./infra/image serve --out bin/bindery-serve.tar
//	go run ./infra/image serve --out bin/docs.tar --bundle bundle.tar.gz
//	go run ./infra/image loop --out bin/bindery-loop.tar
//	go run ./infra/image chart --version 1.2.3 --out bin/bindery-chart.tar
//
// Registries take the archive from crane push or skopeo copy; containerd from
// ctr images import.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// helmModule is what upgrades releases in the loop's image, pinned like every
// other dependency. .ci/tools builds the same for tests.
const helmModule = "helm.sh/helm/v4/cmd/helm@v4.3.1"

// order is what the caller wants.
type order struct {
	kind    string // serve, loop or chart
	out     string // the archive
	name    string // the image's name with a tag, for who imports the archive
	version string // a release's, without a v; empty for other builds
	ldflags string // how the linker makes the programs
	archs   []string
	bundle  string // serve: a bundle that goes into the image
	root    string // the checkout
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	make := build
	if o.kind == "chart" {
		make = buildChart
	}
	digest, err := make(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s %s\n", o.out, digest)
	return nil
}

func parse(args []string, stderr io.Writer) (order, error) {
	if len(args) == 0 || !slices.Contains([]string{"serve", "loop", "chart"}, args[0]) {
		return order{}, errors.New("the first argument is what to build: serve, loop or chart")
	}
	o := order{kind: args[0]}
	flags := flag.NewFlagSet("image "+o.kind, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.out, "out", "", "the archive to write, in OCI's layout")
	flags.StringVar(&o.name, "name", "localhost/bindery-"+o.kind+":dev", "the image's name, for programs that import the archive")
	flags.StringVar(&o.version, "version", "", "the release's version, for labels and for the chart")
	flags.StringVar(&o.ldflags, "ldflags", "-s -w", "flags of the linker for our programs")
	archs := flags.String("arch", "amd64,arm64", "architectures")
	flags.StringVar(&o.root, "root", ".", "the checkout")
	if o.kind == "serve" {
		flags.StringVar(&o.bundle, "bundle", "", "a bundle that becomes /bundle.tar.gz in the image, to be served as file:///bundle.tar.gz")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return order{}, err
	}
	o.archs = strings.Split(*archs, ",")
	for i, arch := range o.archs {
		if arch != "amd64" && arch != "arm64" || slices.Contains(o.archs[:i], arch) {
			return order{}, fmt.Errorf("--arch: %q is not one of amd64 and arm64, or is there twice", arch)
		}
	}
	switch {
	case flags.NArg() > 0:
		return order{}, fmt.Errorf("what is %q?", flags.Arg(0))
	case o.out == "":
		return order{}, errors.New("--out is required")
	case o.kind == "chart" && o.version == "":
		return order{}, errors.New("--version is required: a chart has one")
	}
	return o, nil
}
