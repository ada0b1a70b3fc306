package s3store

import "testing"

// The rules of S3 for uploads in parts (Amazon S3 multipart upload limits):
// at most 10,000 parts, each of 5 MiB to 5 GiB, the last of any size.
func TestPartsKeepTheRulesOfS3(t *testing.T) {
	const (
		least   = 5 << 20
		most    = 5 << 30
		largest = 5 << 40 // bytes of an object
	)
	var total int64
	for n := 1; n <= maxParts; n++ {
		size := int64(partSize(n))
		if size < least || size > most {
			t.Fatalf("part %d has %d bytes", n, size)
		}
		if n > 1 && size < int64(partSize(n-1)) {
			t.Fatalf("part %d is smaller than the one before", n)
		}
		total += size
	}
	if total < largest {
		t.Errorf("parts hold %d bytes, S3's largest object has %d", total, int64(largest))
	}
	if maxParts > 10_000 {
		t.Errorf("%d parts", maxParts)
	}
	// Below 8 GiB an upload holds no more than this.
	if held := (partsInFlight + 1) * partSize(1024); held > 64<<20 {
		t.Errorf("%d bytes held", held)
	}
}
