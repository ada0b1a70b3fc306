package check

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// MediaEnds is the number of bytes at each end of a file that Broken reads.
const MediaEnds = 64 << 10

// lfsPointer is the beginning of a pointer file of Git LFS.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// media has the extensions of files that must not be empty, in lower case.
var media = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".jfif": true, ".pjpeg": true, ".pjp": true, ".apng": true, ".avif": true, ".bmp": true, ".gif": true,
	".ico": true, ".svg": true, ".tif": true, ".tiff": true, ".webp": true, ".mp4": true, ".webm": true, ".mov": true, ".m4v": true, ".ogv": true,
	".avi": true, ".mkv": true, ".mp3": true, ".wav": true, ".ogg": true, ".oga": true, ".opus": true, ".m4a": true, ".aac": true, ".flac": true,
	".wma": true, ".woff": true, ".woff2": true, ".ttf": true, ".otf": true, ".eot": true, ".pdf": true, ".zip": true,
}

// Broken returns the finding about a file that readers can't see: a pointer of Git LFS,
// an empty file, or a picture that is cut off. head and tail are the ends of the file,
// up to MediaEnds bytes each. ok is false if nothing is wrong.
func Broken(file string, size int64, head, tail []byte) (d mdx.Diagnostic, ok bool) {
	fault := ""
	switch {
	case size < 1024 && bytes.HasPrefix(head, []byte(lfsPointer)):
		fault = "the file is a pointer of Git LFS, not what it points to: run \"git lfs pull\" before you publish (a pipeline needs \"lfs: true\" where it checks out)"
	case !media[strings.ToLower(path.Ext(file))]:
		return d, false
	case size == 0:
		fault = "the file is empty: put it there again"
	case cutOff(size, head, tail):
		fault = "the picture is cut off, as an upload or a copy was interrupted: put the file there again"
	default:
		return d, false
	}
	return mdx.Diagnostic{Severity: mdx.Error, Code: "file-broken", File: file, Line: 1, Column: 1, Message: fault}, true
}

// cutOff reports whether a picture ends before its format says so.
func cutOff(size int64, head, tail []byte) bool {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return !bytes.Contains(tail, []byte("IEND\xaeB`\x82"))
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return !bytes.Contains(tail, []byte("\xff\xd9"))
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return !bytes.HasSuffix(bytes.TrimRight(tail, "\x00\r\n"), []byte{';'})
	case bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 12 && string(head[8:12]) == "WEBP":
		return int64(binary.LittleEndian.Uint32(head[4:]))+8 > size
	case bytes.Contains(head, []byte("<svg")) && bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n"), []byte("<")):
		return !bytes.Contains(tail, []byte("svg>")) && !bytes.HasSuffix(bytes.TrimRight(tail, " \t\r\n\x00"), []byte("/>"))
	}
	return false
}

// BrokenData does what Broken does, for a file in memory.
func BrokenData(file string, data []byte) (mdx.Diagnostic, bool) {
	return Broken(file, int64(len(data)), data[:min(len(data), MediaEnds)], data[max(0, len(data)-MediaEnds):])
}

// BrokenFiles returns the findings of Broken about the files of a site. It skips a large
// file that can't seek. It returns an error if a file can't be read.
func BrokenFiles(s *site.Site, fsys fs.FS) (found []mdx.Diagnostic, err error) {
	buf := make([]byte, 2*MediaEnds)
	for _, name := range s.Files {
		d, ok, err := brokenFile(fsys, s.SourceOf(name), buf)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if ok {
			found = append(found, d)
		}
	}
	return found, nil
}

func brokenFile(fsys fs.FS, file string, buf []byte) (d mdx.Diagnostic, ok bool, err error) {
	info, err := fs.Stat(fsys, file)
	if err != nil {
		return d, false, err
	}
	if size := info.Size(); size > 1024 && !media[strings.ToLower(path.Ext(file))] {
		return d, false, nil
	}
	f, err := fsys.Open(file)
	if err != nil {
		return d, false, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf[:MediaEnds])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return d, false, err
	}
	head, tail := buf[:n], buf[:n]
	if info.Size() > int64(n) {
		seeker, ok := f.(io.Seeker)
		if !ok || n < MediaEnds { // the file system has no content of large files, as in agent jobs
			return d, false, nil
		}
		if _, err := seeker.Seek(-MediaEnds, io.SeekEnd); err != nil {
			return d, false, err
		}
		if n, err = io.ReadFull(f, buf[MediaEnds:]); err != nil && err != io.ErrUnexpectedEOF {
			return d, false, err
		}
		tail = buf[MediaEnds:][:n]
	}
	d, ok = Broken(file, info.Size(), head, tail)
	return d, ok, nil
}
