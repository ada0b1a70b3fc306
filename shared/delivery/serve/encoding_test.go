package serve

import "testing"

func TestChoose(t *testing.T) {
	all := func(encoding) bool { return true }
	onlyGzip := func(e encoding) bool { return e != zstded }
	for _, c := range []struct {
		header string
		has    func(encoding) bool
		want   encoding
	}{
		{"", all, identity},
		{"gzip", all, gzipped},
		{"gzip, deflate, br, zstd", all, zstded},
		{"gzip, deflate, br, zstd", onlyGzip, gzipped},
		{"GZIP", all, gzipped},
		{"x-gzip", all, gzipped},
		{"gzip;q=1, zstd;q=0.5", all, gzipped},
		{"gzip;q=0.4, zstd;q=0.5", all, zstded},
		{"gzip;q=0", all, identity},
		{"gzip; q=0.0, zstd;q=0.001", all, zstded},
		{"identity, gzip;q=0.5", all, identity},
		{"identity;q=0.5, gzip", all, gzipped},
		{"*", all, zstded},
		{"*;q=0", all, identity},
		{"zstd;q=0, *", all, gzipped},
		{"br", all, identity},
		{"identity;q=0", all, identity}, // of more use than a refusal
		{"gzip;q=x", all, identity},
		{"gzip;q=2", all, identity},
		{"gzip;q=NaN", all, identity},
		{" , ;;,gzip;q", all, gzipped},
	} {
		if got := parseAccept(c.header).choose(c.has); got != c.want {
			t.Errorf("%q: %q, want %q", c.header, encodingValues[got], encodingValues[c.want])
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
