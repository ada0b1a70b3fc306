package site

import "testing"

func TestChoose(t *testing.T) {
	all, onlyGzip := &[Encodings]int64{3, 2, 1}, &[Encodings]int64{3, Unknown, 0}
	for _, c := range []struct {
		header string
		has    *[Encodings]int64
		want   Encoding
	}{
		{"", all, Identity},
		{"gzip", all, Gzip},
		{"gzip, deflate, br, zstd", all, Zstd},
		{"gzip, deflate, br, zstd", onlyGzip, Gzip},
		{"GZIP", all, Gzip},
		{"x-gzip", all, Gzip},
		{"gzip;q=1, zstd;q=0.5", all, Gzip},
		{"gzip;q=0.4, zstd;q=0.5", all, Zstd},
		{"gzip;q=0", all, Identity},
		{"gzip; q=0.0, zstd;q=0.001", all, Zstd},
		{"identity, gzip;q=0.5", all, Identity},
		{"identity;q=0.5, gzip", all, Gzip},
		{"*", all, Zstd},
		{"*;q=0", all, Identity},
		{"zstd;q=0, *", all, Gzip},
		{"br", all, Identity},
		{"identity;q=0", all, Identity}, // of more use than a refusal
		{"gzip;q=x", all, Identity},
		{"gzip;q=2", all, Identity},
		{"gzip;q=NaN", all, Identity},
		{" , ;;,gzip;q", all, Gzip},
	} {
		if got := parseAccept(c.header).choose(c.has); got != c.want {
			t.Errorf("%q: %q, want %q", c.header, got, c.want)
		}
	}
}

func FuzzParseAccept(f *testing.F) {
	f.Add("gzip;q=0.5, *;q=0")
	f.Fuzz(func(t *testing.T, header string) {
		for e, weight := range parseAccept(header) {
			if weight < 0 || weight > 1000 {
				t.Fatalf("%q: encoding %d has weight %d", header, e, weight)
			}
		}
	})
}
