package site

import (
	"strconv"
	"strings"
)

// Encoding is a form in which a file is sent.
type Encoding uint8

// Encodings, the one that is preferred among equals last.
const (
	Identity Encoding = iota
	Gzip
	Zstd
	// Encodings is their number.
	Encodings = int(iota)
)

// String is the encoding's content coding, "" for Identity.
func (e Encoding) String() string { return [Encodings]string{"", "gzip", "zstd"}[e] }

// tagSuffix distinguishes the tags of one file's forms.
func (e Encoding) tagSuffix() string { return [Encodings]string{"", "-gzip", "-zstd"}[e] }

// accepted are the encodings that a reader takes, by weight in thousandths; 0
// is refused.
type accepted [Encodings]int

// parseAccept reads Accept-Encoding (RFC 9110, 12.5.3). A coding that is not
// named has the weight of "*"; without one it is refused, save identity, which
// is then the last resort.
func parseAccept(header string) accepted {
	const unset = -1
	a := accepted{unset, unset, unset}
	star := unset
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		weight := 1000
		for param := range strings.SplitSeq(params, ";") {
			key, value, ok := strings.Cut(param, "=")
			if !ok || !strings.EqualFold(strings.TrimSpace(key), "q") {
				continue
			}
			weight = parseWeight(strings.TrimSpace(value))
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "identity":
			a[Identity] = weight
		case "gzip", "x-gzip":
			a[Gzip] = weight
		case "zstd":
			a[Zstd] = weight
		case "*":
			star = weight
		}
	}
	for e := range a {
		switch {
		case a[e] != unset:
		case star != unset:
			a[e] = star
		case Encoding(e) == Identity:
			a[e] = 1
		default:
			a[e] = 0
		}
	}
	return a
}

// parseWeight reads "0.5" as 500; any other text counts as 0.
func parseWeight(s string) int {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return 0
	}
	return int(f * 1000)
}

// choose returns the available encoding that is accepted best. A
// reader that accepts none gets the plain file: that is of more use than a
// refusal.
func (a accepted) choose(lengths *[Encodings]int64) Encoding {
	best := Identity
	for e := Gzip; int(e) < Encodings; e++ {
		if a[e] > 0 && a[e] >= a[best] && lengths[e] != 0 {
			best = e
		}
	}
	return best
}
