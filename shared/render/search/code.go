package search

// alphabet writes 64 values, each as one character that no script must escape.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"

// appendNumber writes a number from 0 in groups of five bits, the lowest first;
// the sixth bit means that more follow.
func appendNumber(b []byte, n int) []byte {
	for n >= 32 {
		b = append(b, alphabet[n&31|32])
		n >>= 5
	}
	return append(b, alphabet[n])
}
