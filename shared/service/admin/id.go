package admin

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// Prefixes of identifiers: an id names its kind.
const (
	idOrganisation = "org"
	idProject      = "prj"
	idKey          = "key"
	idSnapshot     = "snp"
	idExport       = "exp"
	idAgentJob     = "agj"
	idWebhook      = "whk"
	idEvent        = "evt"
	idPerson       = "psn"
)

// idEncoding keeps the order of what it encodes and has no letters that read
// like digits.
var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// randomID returns prefix, an underscore and 128 random bits: nobody guesses
// another's.
func randomID(prefix string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program first
	return prefix + "_" + idEncoding.EncodeToString(b[:])
}

// timePart encodes a time in milliseconds so that later times sort later.
func timePart(t time.Time) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(t.UnixMilli())<<14)
	return idEncoding.EncodeToString(b[:])[:10]
}
