package check_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// pictures are whole pictures by the names of their files.
func pictures(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"a.svg": []byte("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><g><path d=\"M0 0h9\"/></g></svg>\n")}
	img := image.NewPaletted(image.Rect(0, 0, 300, 200), color.Palette{color.Black, color.White})
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7 % 13 & 1)
	}
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"a.png": func(b *bytes.Buffer) error { return png.Encode(b, img) },
		"a.jpg": func(b *bytes.Buffer) error { return jpeg.Encode(b, img, nil) },
		"a.gif": func(b *bytes.Buffer) error { return gif.Encode(b, img, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), make([]byte, 400)...)
	binary.LittleEndian.PutUint32(webp[4:], uint32(len(webp)-8))
	all["a.webp"] = webp
	return all
}

func TestBroken(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	tests := []struct{ file, data, want string }{
		{"vid.mp4", pointer, "git lfs pull"},
		{"font.woff2", pointer, "git lfs pull"},
		{"spec.json", pointer, "git lfs pull"},
		{"a.png", "", "empty"},
		{"A.PNG", "", "empty"},
		{"v.webm", "", "empty"},
		{"empty.css", "", ""},
		{"empty.txt", "", ""},
		{"about-lfs.txt", "see " + pointer, ""},
		{"other.png", "no picture that is known", ""},
		{"self.svg", `<svg xmlns="http://www.w3.org/2000/svg"/>`, ""},
		{"prefix.svg", `<s:svg xmlns:s="http://www.w3.org/2000/svg"></s:svg>`, ""},
		{"trailing.png", string(pictures(t)["a.png"]) + "\x00\x00 made by a tool", ""},
	}
	for name, data := range pictures(t) {
		tests = append(tests, struct{ file, data, want string }{name, string(data), ""})
		for _, part := range []int{2, 3, 10} {
			tests = append(tests, struct{ file, data, want string }{"cut-" + name, string(data[:len(data)-len(data)/part]), "cut off"})
		}
	}
	fsys := fstest.MapFS{}
	for _, test := range tests {
		d, ok := check.BrokenData(test.file, []byte(test.data))
		if ok != (test.want != "") || !strings.Contains(d.Message, test.want) {
			t.Errorf("%s, %d bytes: %q, want %q", test.file, len(test.data), d.Message, test.want)
		}
		fsys[test.file] = &fstest.MapFile{Data: []byte(test.data)}
		found, err := check.BrokenFiles(&site.Site{Files: []string{test.file}}, fsys)
		if err != nil || len(found) > 0 != ok {
			t.Errorf("%s as a file: %v, %v", test.file, found, err)
		}
	}
	large := append(bytes.Clone(pictures(t)["a.png"][:60]), make([]byte, 3*check.MediaEnds)...)
	fsys["large.png"] = &fstest.MapFile{Data: large}
	if found, err := check.BrokenFiles(&site.Site{Files: []string{"large.png", "gone.png"}}, fsys); err != nil || len(found) != 1 {
		t.Errorf("a large one: %v, %v", found, err)
	}
}

func FuzzBroken(f *testing.F) {
	for name, data := range pictures(f) {
		f.Add(name, data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d, ok := check.BrokenData(name, data)
		if ok && (d.File != name || d.Message == "") {
			t.Errorf("%+v", d)
		}
	})
}
