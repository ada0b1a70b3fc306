package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bindery-docs/bindery/shared/base/tempdir"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/upload"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

func (a *app) uploadCommand() *cobra.Command {
	var opt upload.Options
	cmd := &cobra.Command{
		Use:   "upload FILE|DIR s3://BUCKET[/PREFIX]",
		Short: "Upload a bundle's files to a bucket",
		Long: `Upload brings the files of a bundle, or of a folder that one was unpacked into, to a
bucket from which a host of static pages shows them. Each file is held against the
bundle's list first. Files that are there unchanged are not uploaded again. What pages
load comes before the pages, each with its type; files with a digest in their names may
be kept by browsers for ever, all others are asked for again.

With --delete, everything else below the prefix is removed, last of all, whatever put it
there. Files with a digest in their names stay for one upload more, for readers who have a
page open. Folders that another bundle was uploaded to stay whole. Try it with --dry-run first.

Credentials and region are those of the AWS tools of this machine. AWS_ENDPOINT_URL_S3 is
the address of another store that speaks S3. It needs s3:ListBucket, s3:PutObject and, with
--delete, s3:GetObject and s3:DeleteObject.`,
		Example: `  bindery upload bundle.tar.gz s3://docs-example-com
  bindery upload ./public s3://example-com/docs --delete
  bindery upload bundle.tar.gz s3://docs-example-com --delete --dry-run`,
		Args: cobra.ExactArgs(2),
		RunE: a.does(func(cmd *cobra.Command, args []string) error {
			to, err := upload.ParseTarget(args[1])
			if err != nil {
				return usagef("%v", err)
			}
			dir := args[0]
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			if !info.IsDir() {
				folder, err := tempdir.Make("upload")
				if err != nil {
					return err
				}
				dir = folder.Path
				defer func() { _ = folder.Remove() }()
				if err := unpack(cmd.Context(), args[0], dir); err != nil {
					return err
				}
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				return err
			}
			defer root.Close()
			if !isFile(root.FS(), bundle.InfoPath) && isFile(root.FS(), "docs.json") {
				return fmt.Errorf("%s is the source of a site, not a bundle: bindery run %[1]s --out bundle.tar.gz makes a bundle of it", args[0])
			}
			cfg, err := stack.Config(cmd.Context())
			if err != nil {
				return err
			}
			done, err := upload.Run(cmd.Context(), cfg, root.FS(), to, opt)
			if errors.Is(err, upload.ErrNoBundle) {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err != nil {
				return err
			}
			return a.print(done, func(w io.Writer) { a.showUpload(w, to, opt, done) })
		}),
	}
	cmd.Flags().BoolVar(&opt.Delete, "delete", false, "remove everything else below the prefix")
	cmd.Flags().BoolVar(&opt.All, "all", false, "upload unchanged files, too, such as those that another tool has given other types")
	cmd.Flags().BoolVar(&opt.DryRun, "dry-run", false, "change nothing, but say what would")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) showUpload(w io.Writer, to upload.Target, opt upload.Options, done *upload.Result) {
	uploaded, deleted := "uploaded", "deleted"
	if opt.DryRun {
		for _, name := range done.Uploaded {
			fmt.Fprintln(w, "+", visible(name))
		}
		for _, name := range done.Deleted {
			fmt.Fprintln(w, "-", visible(name))
		}
		uploaded, deleted = "would be uploaded", "would be deleted"
	}
	fmt.Fprintf(w, "%s %s (%s) %s to %s, %d unchanged, %d %s\n", a.paint(w, green, "✓"), count(len(done.Uploaded), "file"), size(done.Bytes), uploaded, to, done.Unchanged, len(done.Deleted), deleted)
}
